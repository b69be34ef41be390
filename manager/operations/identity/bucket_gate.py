"""The gate to a bucket: shut while the bucket does not answer, and until its id was checked.

A manager starts, and continues, while its bucket is down, because agents need their permits; their
segments wait in the folder of uploads. Invariant: while the gate is shut nothing in the bucket is
read, written, moved or removed but to check the mark and the lease; files here are not tidied
either. If the bucket turns out to be another installation's, the gate stays shut, and a person is
notified.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from manager.db.engine import Database
from manager.errors import BusyError
from manager.operations.identity.bucket_check import ANSWER_S, BucketQuestion
from manager.operations.identity.file_lease import FileLease
from manager.operations.identity.file_marks import mark_files
from manager.operations.identity.installation import InstallationError, MarkedFiles, installation_id
from manager.operations.machine_conditions import Condition
from manager.store import StoreError
from manager.store.segments.object_store import ObjectStore
from shared.messages import Message

__all__ = ["BucketGate", "BucketState"]

RETRY_S: Final = 60
_MARK_CHANGED: Final = Message("identity.bucket_mark_changed")

_log: Final = logging.getLogger(__name__)


class BucketState(StrEnum):
    """The last known state of the bucket."""

    CHECKED = "bucket_checked"
    UNREACHABLE = "bucket_unreachable"
    FOREIGN = "bucket_foreign"


class BucketGate:
    """The gate to the bucket of one manager; without a bucket it is open."""

    def __init__(
        self,
        db: Database,
        files: MarkedFiles,
        now_ms: Callable[[], int],
        answer_s: float = ANSWER_S,
    ) -> None:
        """answer_s: how long the start waits for the bucket."""
        self._db = db
        self._files = files
        self._store = files.store if isinstance(files.store, ObjectStore) else None
        self._now_ms = now_ms
        self._question = None if self._store is None else BucketQuestion(self._store, answer_s)
        self._lease: FileLease | None = None
        self._looking = threading.Lock()
        self.state = BucketState.CHECKED
        self._why: Message | None = None
        self._since_ms: int | None = None  # when it was found not to answer; None: at the start
        self._id = ""

    def shut_if_unreachable(self) -> None:
        """Shut the gate where the bucket does not answer in time; for the start of a manager."""
        if self._question is None:
            return
        if why := self._question.ask().why:
            self._shut(BucketState.UNREACHABLE, why)

    def guard(self, lease: FileLease) -> None:
        """Take the lease with which the bucket is claimed as soon as it answers."""
        self._lease = lease

    def look(self) -> bool:
        """Shut the gate where the bucket fails, and open it where it is back; return if it is open.

        The clock calls it. Raises nothing that only waiting helps against.
        """
        store, lease, question = self._store, self._lease, self._question
        if store is None or lease is None or question is None:
            return True
        with self._looking:
            if not store.is_barred:
                answer = question.ask()
                if answer.mark is not None and answer.mark.installation == self._here():
                    return True
                self._since_ms = self._now_ms()
                self._shut(BucketState.UNREACHABLE, answer.why or _MARK_CHANGED)
                if answer.why:
                    return False
            return self._check(store, lease)

    def _check(self, store: ObjectStore, lease: FileLease) -> bool:
        """Open the gate where the bucket is of this installation; return whether it is."""
        with store.opened_for_check():
            try:
                mark_files(self._db, self._files, self._now_ms(), [store])
                lease.claim([store])
            except InstallationError as error:
                self._shut(BucketState.FOREIGN, error.message)
                return False
            except (BusyError, StoreError) as error:
                self._shut(BucketState.UNREACHABLE, error.message)
                return False
        store.unbar()
        self.state, self._why = BucketState.CHECKED, None
        _log.info("%s answers, and is of this installation: it is used from now on", store.shown)
        return True

    def _here(self) -> str:
        self._id = self._id or installation_id(self._db)
        return self._id

    def conditions(self) -> list[Condition]:
        """Return the state of the gate as a condition of this manager, while it is shut."""
        if self.state is BucketState.CHECKED or self._store is None:
            return []
        message = self._message()
        return [Condition(self.state.value, self._store.shown, message, stops=False)]

    def _shut(self, state: BucketState, why: Message) -> None:
        assert self._store is not None
        is_news = state is not self.state
        self.state, self._why = state, why
        self._store.bar(self._refusal)
        if is_news:
            _log.warning("%s", self._message())

    def _message(self) -> Message:
        assert self._store is not None
        shown, why, since_ms = self._store.shown, self._why, self._since_ms
        if self.state is BucketState.FOREIGN:
            return Message("identity.bucket_foreign", bucket=shown, why=why)
        if since_ms is None:
            return Message("identity.bucket_unreachable_at_start", bucket=shown, why=why)
        return Message("identity.bucket_unreachable", bucket=shown, since_ms=since_ms, why=why)

    def _refusal(self) -> Exception:
        return BusyError(self._message(), retry_after_s=RETRY_S)
