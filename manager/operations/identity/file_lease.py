"""The lease on the files of a manager: managers of one database use them at a time.

It belongs to the database, not to a process: replicas of one database share it, and its leader
renews it. A copy of the database is another, also one that nothing else tells apart (a snapshot of
the machine, of the disk, or of a PostgreSQL server): it does not know the stamps that were written
since it was made. Invariant: who finds the lease of another database that lives changes no file;
one that gave no sign of life while it was watched is taken over, so no two clocks are compared.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from manager.db.engine import Database
from manager.db.identity import lease_stamps
from manager.db.identity.installation import database_identity
from manager.errors import BusyError
from manager.operations.actor import CLOCK, note_alone
from manager.operations.identity.file_marks import check_marks
from manager.operations.identity.installation import (
    InstallationError,
    MarkedFiles,
    Mismatch,
    installation_id,
)
from manager.store import StoreFullError
from manager.store.owner_marks import LEASE, Lease, StorageLocation
from manager.store.segments.object_store import ObjectStore
from shared.messages import Message

__all__ = ["BEAT_S", "FileLease"]

BEAT_S: Final = 10.0
WATCH_S: Final = 4 * BEAT_S
"""How long a lease of another database must be silent to be taken."""
LOOK_S: Final = 0.5
KEPT_MS: Final = 3_600_000
"""How long a stamp is known that is on no lease: another manager may be about to write it."""

_log: Final = logging.getLogger(__name__)


class FileLease:
    """The lease of one manager's database on its files; any thread may ask."""

    def __init__(
        self,
        db: Database,
        files: MarkedFiles,
        manager: str,
        place: str,
        now_ms: Callable[[], int],
        wait: Callable[[float], None] | None = None,
    ) -> None:
        """manager, place: the name of this manager, and its machine and process for people."""
        self._db = db
        self._files = files
        self._mine = Lease(database_identity(db), manager, place, 0, 0)
        self._now_ms = now_ms
        self._wait = wait or time.sleep
        self._contested: dict[str, str] = {}  # place: the database that the alert was about

    def claim(self, locations: Sequence[StorageLocation] | None = None) -> None:
        """Take the lease of each place, or join it where this database has it.

        locations: None: all that are used now. Waits while another database's is watched. Raises
        InstallationError: that one lives; BusyError.
        """
        for location in self._files.locations() if locations is None else locations:
            found = self._read(location)
            if found is not None and not self._is_ours(found):
                _log.warning(
                    "%s: another database has the lease (%s): watched for %.0f s, then taken",
                    location.shown, found.place, WATCH_S,
                )  # fmt: skip
                self._watch(location, found)
                _log.warning(
                    "%s: took over the lease of %s, which is silent", location.shown, found.place
                )
                found = None
            if found is None:
                self._take(location)

    def renew(self) -> None:
        """Give a sign of life; where another database has taken the lease, say so once.

        Only the leader calls it. Raises BusyError.
        """
        locations = self._files.locations()
        leases = [self._read(location) for location in locations]
        stamp = self._new_stamp([found.stamp for found in leases if found is not None])
        for location, found in zip(locations, leases, strict=True):
            if found is None or self._is_ours(found):
                self._write(location, stamp)
            elif found.database != self._contested.get(location.shown):
                self._contested[location.shown] = found.database
                error = self._in_use(location, found)
                _log.error("%s", error)
                note_alone(
                    self._db,
                    self._now_ms(),
                    CLOCK,
                    "installation.detect-conflict",
                    location.shown,
                    alert=True,
                    reason=Message("identity.used_by", holder=found.place),
                )

    def check(self) -> None:
        """Refuse to move or delete files that another database uses, or that are another's.

        Raises InstallationError, BusyError: so, too, while the bucket was not checked.
        """
        if isinstance(self._files.store, ObjectStore):
            self._files.store.refuse_if_barred()
        check_marks(self._db, self._files)
        for location in self._files.locations():
            found = self._read(location)
            if found is not None and not self._is_ours(found):
                raise self._in_use(location, found)

    def release(self) -> None:
        """Give back what this manager took last; other managers of the database keep theirs."""
        for location in self._files.locations():
            found = self._read(location)
            if found is not None and found.manager == self._mine.manager:
                location.remove_mark(LEASE)

    def _read(self, location: StorageLocation) -> Lease | None:
        data = location.read_mark(LEASE)
        return None if data is None else Lease.decoded(data)

    def _is_ours(self, found: Lease) -> bool:
        if found.database != self._mine.database or not found.stamp:
            return found.database == self._mine.database
        with self._db.read() as tx:
            return lease_stamps.knows(tx, found.stamp)

    def _take(self, location: StorageLocation) -> None:
        try:
            self._write(location, self._new_stamp())
        except BusyError as error:  # agents must hear of a full disk, so it serves
            _log.warning("%s: the lease on the files was not written: %s", location.shown, error)

    def _new_stamp(self, seen: Sequence[str] = ()) -> str:
        """Return a stamp that the database knows. Raises BusyError."""
        stamp, now_ms = secrets.token_hex(8), self._now_ms()
        with self._db.write() as tx:
            lease_stamps.forget(tx, now_ms - KEPT_MS, seen)
            lease_stamps.add(tx, stamp, now_ms)
        return stamp

    def _write(self, location: StorageLocation, stamp: str) -> None:
        beat = self._mine.beat + 1
        self._mine = replace(self._mine, beat=beat, at_ms=self._now_ms(), stamp=stamp)
        try:
            location.write_mark(LEASE, self._mine.encoded())
        except StoreFullError as error:  # agents must hear of a full disk, so it serves
            _log.warning(
                "%s: the lease on the files could not be written: %s", location.shown, error
            )

    def _watch(self, location: StorageLocation, found: Lease) -> None:
        waited_s = 0.0
        while waited_s < WATCH_S:
            self._wait(LOOK_S)
            waited_s += LOOK_S
            now = self._read(location)
            if now is None or self._is_ours(now):
                return
            if now != found:
                raise self._in_use(location, now)

    def _in_use(self, location: StorageLocation, found: Lease) -> InstallationError:
        here = installation_id(self._db)
        return InstallationError(
            Mismatch.IN_USE,
            "identity.files_in_use",
            place=location.shown,
            here=here,
            there=here,
            holder=found.place,
        )
