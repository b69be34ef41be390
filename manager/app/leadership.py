"""Leader election: of several managers on one database, one does the work of the clock.

A thread gives a sign of life several times a term. Invariants: jobs of the leader begin only while
its last sign of life is younger than a term, counted from before it was written; others wait for a
term of silence, counted from after they saw it. A process that was stopped finds out before it
begins anything; what it was in the middle of is refused by the database (`fence`).
The time is that of CLOCK_BOOTTIME, which runs on while a machine sleeps. On SQLite no other manager
can lead: the lock of the data directory is held. For the same reason no manager waits for a leader
that served this very directory before (ADR 140).
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import field
from importlib.metadata import version
from typing import Final

from manager.db import Database, Transaction
from manager.errors import BusyError, NotLeadingError
from manager.operations.identity.managers import LeaderRow, check_leading, leave, live, take_lead
from shared.frozen import frozen

__all__ = ["Identity", "Leadership", "boot_s"]

BEATS_A_TERM: Final = 4
ALONE_S: Final = 10.0
"""Seconds between two signs of life when no other manager waits for them."""
ANSWER_S: Final = 5.0
"""Timeout of a sign of life. It waits for no other query, so a PostgreSQL that has not taken it by
then is stopped, or was disconnected silently."""

_log: Final = logging.getLogger(__name__)


def boot_s() -> float:
    """Return the seconds since the machine started, asleep or not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _new_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@frozen
class Identity:
    """name: unlike that of any other manager, ever. dead: one that certainly is; empty: none."""

    name: str = field(default_factory=_new_name)
    dead: str = ""


class Leadership:
    """Leadership of this manager; any thread may ask."""

    def __init__(
        self,
        db: Database,
        term_s: float,
        now_ms: Callable[[], int],
        clock_s: Callable[[], float] = boot_s,
        identity: Identity | None = None,
    ) -> None:
        """term_s: how long a leader may be silent. identity: None: a new one."""
        identity = identity or Identity()
        self.name: Final = identity.name
        self.host: Final = socket.gethostname()
        self.place: Final = f"{self.host}, process {os.getpid()}"
        self._dead: Final = identity.dead
        self._db = db
        self._term_s = term_s
        self._beat_s = ALONE_S if db.is_sqlite else term_s / BEATS_A_TERM
        self._now_ms = now_ms
        self._clock_s = clock_s
        self._epoch = 0
        self._until_s = 0.0
        self._watched: LeaderRow | None = None
        self._silent_s = 0.0
        self._looked_s = 0.0
        self._gone_since_s: float | None = None
        self._sent_s: float | None = None  # a sign of life that was not answered yet
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def epoch(self) -> int:
        """Return the epoch in which this manager leads now; 0: it does not."""
        return self._epoch if self._clock_s() < self._until_s else 0

    @property
    def gone_s(self) -> float:
        """Return for how long the database has not answered; 0: it does."""
        since_s = self._gone_since_s
        if since_s is None and not self._db.is_sqlite:
            sent_s = self._sent_s
            late = sent_s is not None and self._clock_s() - sent_s > ANSWER_S
            since_s = sent_s if late else None
        return 0.0 if since_s is None else max(0.001, self._clock_s() - since_s)

    def fence(self, tx: Transaction) -> None:
        """Refuse a write of who does not lead; for `Database.fenced`. Raises NotLeadingError."""
        check_leading(tx, self.name, self._epoch)

    def only(
        self, job: Callable[[], object], first: Callable[[], object] | None = None
    ) -> Callable[[], None]:
        """Return a job for the clock that does something only while this manager leads.

        first: what is done before the first time of each epoch.
        """
        begun = 0

        def run() -> None:
            nonlocal begun
            epoch = self.epoch
            if not epoch:
                return
            try:
                if first is not None and begun != epoch:
                    first()
                    begun = epoch
                job()
            except NotLeadingError as error:
                _log.warning("%s", error)

        return run

    def step(self) -> None:
        """Write one sign of life; take the lead if there is no leader."""
        sent_s = self._sent_s = self._clock_s()
        try:
            now_ms = self._now_ms()
            seen = live(self._db, self.name, self.place, version("prsm"), now_ms, self._dead)
            self._found(seen, sent_s)
        except BusyError as error:
            self._is_gone(error, sent_s)
        else:
            self._is_back()
        finally:
            self._sent_s = None

    def start(self) -> None:
        """Write signs of life until `stop`."""
        self._thread = threading.Thread(target=self._run, name="leadership", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Lead no more, and say so; when what the leader does has ended."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._until_s = 0.0
        try:
            leave(self._db, self.name)
        except BusyError as error:
            _log.warning("could not say that this manager ends: %s", error)

    def _run(self) -> None:
        while not self._ended.wait(self._beat_s):
            try:
                self.step()
            except Exception:  # noqa: BLE001 - see below
                # Without this thread no manager would lead.
                _log.exception("a sign of life failed")

    def _found(self, seen: LeaderRow, sent_s: float) -> None:
        if seen.holder == self.name:
            self._epoch, self._until_s = seen.epoch, self._lasts_until(sent_s)
            return
        if self._epoch and self._until_s:
            _log.warning("another manager leads: %s, epoch %d", seen.holder, seen.epoch)
            self._until_s = 0.0
        if not self._may_take(seen):
            return
        epoch = take_lead(self._db, self.name, seen, self._now_ms())
        if epoch is not None:
            self._epoch, self._until_s = epoch, self._lasts_until(sent_s)
            _log.info("this manager leads now, in epoch %d", epoch)

    def _lasts_until(self, sent_s: float) -> float:
        return float("inf") if self._db.is_sqlite else sent_s + self._term_s

    def _may_take(self, seen: LeaderRow) -> bool:
        """Return whether there is no leader, or it is dead, or was silent for a term."""
        if self._db.is_sqlite or not seen.holder or seen.holder == self._dead:
            return True
        now_s = self._clock_s()
        if seen != self._watched:
            self._watched, self._silent_s = seen, 0.0
        else:
            # If this process itself was stopped, it did not watch in the meantime.
            self._silent_s += min(now_s - self._looked_s, 2 * self._beat_s)
        self._looked_s = now_s
        return self._silent_s >= self._term_s

    def _is_gone(self, error: BusyError, sent_s: float) -> None:
        if self._gone_since_s is None:
            self._gone_since_s = sent_s
            _log.warning(
                "%s. Agents get 503 and continue with their permits; this manager waits",
                error,
            )

    def _is_back(self) -> None:
        if self._gone_since_s is not None:
            _log.info("the database answers again, after %.0f s", self.gone_s)
            self._gone_since_s = None
