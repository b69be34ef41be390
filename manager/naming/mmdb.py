"""Reader of MMDB files: records of IP addresses, by the package maxminddb.

The whole file is in memory: one that is replaced or cut while it is mapped would end the process.
Invariant: a file is read or refused with FormatError, whatever is in it.
Source: MaxMind DB File Format Specification, version 2.0.
"""

from __future__ import annotations

import io
import ipaddress
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from maxminddb import InvalidDatabaseError
from maxminddb.const import MODE_FD
from maxminddb.reader import Reader

from shared.errors import FormatError

__all__ = ["AddressDatabase"]

_FORMAT: Final = 2
_DAMAGE: Final = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError),
    *(TypeError, ValueError, struct.error, InvalidDatabaseError),
)
"""What the pure Python reader raises where pointers and sizes lead astray."""


class AddressDatabase:
    """An MMDB file in memory. Raises FormatError where it is none."""

    def __init__(self, data: bytes) -> None:
        with _refused():
            self._reader = Reader(io.BytesIO(data), MODE_FD)
            about = self._reader.metadata()
            if about.binary_format_major_version != _FORMAT or about.ip_version not in (4, 6):
                raise InvalidDatabaseError(f"format {about.binary_format_major_version}")
            self.kind = str(about.database_type)[:100]
            self.built_s = int(about.build_epoch)

    def record_of(self, address: str) -> Any:
        """Return the record of an address; None: the file has none. Raises FormatError."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return None
        if parsed.version > self._reader.metadata().ip_version:
            return None
        with _refused():
            return self._reader.get(parsed)


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise FormatError("naming.mmdb_damaged") from error
