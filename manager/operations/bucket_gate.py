"""The gate to a bucket: shut from the start on until the bucket answered and its id was checked.

A manager starts while its bucket is down, because agents need their permits; what they sent waits
in the folder of uploads. Invariant: while the gate is shut nothing in the bucket is read, written,
moved or removed but to check the mark and the lease; files here are not tidied either. Where the
bucket turns out to be another installation's, the gate stays shut, and a person is told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from manager.db.engine import Database
from manager.errors import BusyError, PrsmError
from manager.operations.conditions import Condition
from manager.operations.file_lease import FileLease
from manager.operations.installation import InstallationError, MarkedFiles, mark_files
from manager.store import StoreError
from manager.store.marks import MARK, BucketPlace
from manager.store.object_store import ObjectStore

__all__ = ["ANSWER_S", "BucketGate", "BucketState"]

ANSWER_S: Final = 10.0
"""How long a start waits for a bucket; one whose address swallows packets answers after minutes."""
RETRY_S: Final = 60

_log: Final = logging.getLogger(__name__)


class BucketState(StrEnum):
    """The state of the bucket, as far as it is known."""

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
        self._answer_s = answer_s
        self._lease: FileLease | None = None
        self._looking = threading.Lock()
        self.state = BucketState.CHECKED
        self._why = ""

    def shut_if_unreachable(self) -> None:
        """Shut the gate where the bucket does not answer in time; for the start of a manager."""
        if self._store is None:
            return
        place, failed = BucketPlace(self._store), list[Exception]()

        def ask() -> None:
            try:
                place.read(MARK)
            except PrsmError as error:
                failed.append(error)

        asking = threading.Thread(target=ask, name="bucket", daemon=True)
        asking.start()
        asking.join(self._answer_s)
        if asking.is_alive():
            self._shut(BucketState.UNREACHABLE, f"it has not answered for {self._answer_s:g} s")
        elif failed:
            self._shut(BucketState.UNREACHABLE, str(failed[0]))

    def guard(self, lease: FileLease) -> None:
        """Take the lease with which the bucket is claimed as soon as it answers."""
        self._lease = lease

    def look(self) -> bool:
        """Check the bucket where the gate is shut, and open it; return whether it is open.

        The clock calls it. Raises nothing that only waiting helps against.
        """
        store, lease = self._store, self._lease
        if store is None or not store.is_barred or lease is None:
            return True
        with self._looking, store.checking():
            place = BucketPlace(store)
            try:
                mark_files(self._db, self._files, self._now_ms(), [place])
                lease.claim([place])
            except InstallationError as error:
                self._shut(BucketState.FOREIGN, str(error))
                return False
            except (BusyError, StoreError) as error:
                self._shut(BucketState.UNREACHABLE, str(error))
                return False
        store.unbar()
        self.state, self._why = BucketState.CHECKED, ""
        _log.info("%s answers, and is of this installation: it is used from now on", store.shown)
        return True

    def conditions(self) -> list[Condition]:
        """Return the state of the gate as a condition of this manager, while it is shut."""
        if self.state is BucketState.CHECKED or self._store is None:
            return []
        return [Condition(self.state.value, self._store.shown, self._text(), stops=False)]

    def _shut(self, state: BucketState, why: str) -> None:
        assert self._store is not None
        is_news = state is not self.state
        self.state, self._why = state, why
        self._store.bar(self._refusal)
        if is_news:
            _log.warning("%s", self._text())

    def _text(self) -> str:
        assert self._store is not None
        shown = self._store.shown
        if self.state is BucketState.FOREIGN:
            return (
                f"bucket {shown} is not of this installation, and is not used: {self._why}; agents "
                "go on, and what they sent waits here"
            )
        return (
            f"bucket {shown} has not answered since the start, and is not used before its "
            f"installation id was checked: {self._why}; agents go on, and what they sent waits "
            "here. See archive.store, archive.store_endpoint, the network and the credentials"
        )

    def _refusal(self) -> Exception:
        return BusyError(self._text(), retry_after_s=RETRY_S)
