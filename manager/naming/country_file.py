"""Countries of addresses, by a database file that the administrator gives (`dns.country_file`).

Files in MMDB format that name a country by two letters: GeoLite2 and GeoIP2 Country or City, DB-IP
Lite, IPinfo Lite. The file is read again when it was replaced; where the new one cannot be read
the former one stays in use. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from manager.db.engine import Database
from manager.naming.mmdb import AddressDatabase
from manager.operations.hosts.host_countries import (
    CountryFileFacts,
    record_file,
    settle_all,
    settle_hosts,
)
from shared.crawl_scope.codes import COUNTRIES
from shared.errors import FormatError
from shared.messages import Message

__all__ = ["CountryFile", "country_of_record"]

FILE_MOST: Final = 512 * 1024 * 1024
"""Bytes: files by city have a tenth, those by country a hundredth of it."""


class CountryFile:
    """The file of the setting; `path` "": none."""

    def __init__(self, path: str) -> None:
        self._path = Path(path) if path else None
        self._identity = ""  # of the file at the last attempt
        self._read = ""  # of the database in use
        self._database: AddressDatabase | None = None
        self._problem: Message | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether addresses can be looked up."""
        return self._database is not None

    def country_of(self, address: str) -> str:
        """Return the code of an address's country; "": the file names none."""
        if self._database is None:
            return ""
        try:
            return country_of_record(self._database.record_of(address))
        except FormatError:
            return ""  # a record that is damaged; all others are good

    def refresh(self) -> None:
        """Read the file if it is another one than before."""
        if self._path is None:
            return
        try:
            found = self._path.stat()
            identity = f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"
            if identity == self._identity:
                return
            self._identity = identity
            self._database = _database_of(self._path, found.st_size)
            self._problem, self._read = None, identity
        except OSError as error:
            self._identity = ""
            self._problem = Message("naming.mmdb_unreadable", why=error.strerror or str(error))
        except FormatError as error:
            self._problem = error.message

    @property
    def facts(self) -> CountryFileFacts | None:
        """Return what is to be recorded of the file; None: none is set."""
        if self._path is None:
            return None
        database = self._database
        return CountryFileFacts(
            path=str(self._path),
            identity=self._read,
            kind="" if database is None else database.kind,
            built_ms=None if database is None else database.built_s * 1000,
            problem=self._problem,
        )

    def settle_due(self, db: Database, host_ids: list[int], now_ms: Callable[[], int]) -> int:
        """Look up the countries of hosts that were resolved, and of others that are behind.

        Units open and close by them; returns how many hosts changed.
        """
        self.refresh()
        record_file(db, self.facts, now_ms())
        if not self.is_ready:
            return 0
        changed = settle_hosts(db, self.country_of, host_ids, now_ms())
        return changed + settle_all(db, self.country_of, now_ms())


def _database_of(path: Path, size: int) -> AddressDatabase:
    if size > FILE_MOST:
        raise FormatError("naming.mmdb_too_large", size=size, most=FILE_MOST)
    return AddressDatabase(path.read_bytes())


def country_of_record(record: Any) -> str:
    """Return the country that a record names, in the layouts of the usual databases; "": none."""
    if not isinstance(record, dict):
        return ""
    for name in ("country", "registered_country", "country_code"):
        value = record.get(name)
        code = value.get("iso_code") if isinstance(value, dict) else value
        if isinstance(code, str) and code.upper() in COUNTRIES:
            return code.upper()
    return ""
