"""Reader of MMDB files: a binary trie from addresses to records.

    search tree | 16 zero bytes | records | marker | metadata

The whole file is in memory: one that is replaced or cut while it is mapped would end the process.
Invariant: any bytes are read or refused with FormatError, in bounded time and depth.
Source: MaxMind DB File Format Specification, version 2.0.
"""

from __future__ import annotations

import ipaddress
import struct
from typing import Any, Final

from shared.errors import FormatError

__all__ = ["AddressDatabase"]

_MARKER: Final = b"\xab\xcd\xefMaxMind.com"
_METADATA_MOST: Final = 128 * 1024
_SEPARATOR: Final = 16
_DEPTH_MOST: Final = 16
_ITEMS_MOST: Final = 10_000
"""Values of one record, also where pointers lead to the same ones again."""

_EXTENDED, _POINTER, _STRING, _DOUBLE, _BYTES = 0, 1, 2, 3, 4
_UINT16, _UINT32, _MAP, _INT32, _UINT64, _UINT128, _ARRAY = 5, 6, 7, 8, 9, 10, 11
_BOOLEAN, _FLOAT = 14, 15
_UNSIGNED: Final = {_UINT16: 2, _UINT32: 4, _INT32: 4, _UINT64: 8, _UINT128: 16}


class AddressDatabase:
    """An MMDB file in memory. Raises FormatError where it is none."""

    def __init__(self, data: bytes) -> None:
        begin = data.rfind(_MARKER, max(0, len(data) - _METADATA_MOST))
        if begin < 0:
            raise FormatError("naming.mmdb_no_marker")
        metadata = _Reader(data, begin + len(_MARKER)).read(begin + len(_MARKER))
        if not isinstance(metadata, dict):
            raise FormatError("naming.mmdb_metadata", name="metadata")
        self.kind = str(metadata.get("database_type", ""))[:100]
        self.built_s = _number(metadata, "build_epoch", 0, 1 << 40)
        if _number(metadata, "binary_format_major_version", 0, 1 << 16) != 2:
            raise FormatError("naming.mmdb_metadata", name="binary_format_major_version")
        self._is_v6 = _number(metadata, "ip_version", 4, 6) == 6
        self._nodes = _number(metadata, "node_count", 1, 1 << 32)
        self._bits = _number(metadata, "record_size", 24, 32)
        if self._bits not in (24, 28, 32):
            raise FormatError("naming.mmdb_metadata", name="record_size")
        self._data = data
        records = self._nodes * self._bits // 4 + _SEPARATOR
        if records > begin:
            raise FormatError("naming.mmdb_metadata", name="node_count")
        self._reader = _Reader(memoryview(data)[:begin], records)
        self._records: dict[int, Any] = {}
        self._v4 = self._walk(0, 0, 96) if self._is_v6 else 0

    def record_of(self, address: str) -> Any:
        """Return the record of an address; None: the file has none. Raises FormatError."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return None
        if parsed.version == 6:
            if not self._is_v6:
                return None
            found = self._walk(0, int(parsed), 128)
        else:
            found = self._walk(self._v4, int(parsed), 32)
        if found <= self._nodes:  # a node deeper than an address is long, or nothing
            return None
        at = self._reader.base + found - self._nodes - _SEPARATOR
        if at not in self._records:
            self._records[at] = self._reader.read(at)
        return self._records[at]

    def _walk(self, node: int, number: int, bits: int) -> int:
        """Return what the bits of a number lead to from a node."""
        for shift in range(bits - 1, -1, -1):
            if node >= self._nodes:
                break
            node = self._child(node, number >> shift & 1)
        return node

    def _child(self, node: int, bit: int) -> int:
        data = self._data
        if self._bits == 28:
            at = node * 7
            middle = data[at + 3]
            high = middle >> 4 if bit == 0 else middle & 0x0F
            low = data[at : at + 3] if bit == 0 else data[at + 4 : at + 7]
            return high << 24 | int.from_bytes(low)
        size = self._bits // 8
        at = (node * 2 + bit) * size
        return int.from_bytes(data[at : at + size])


class _Reader:
    """Reads values of a data section, to which pointers are relative."""

    def __init__(self, data: bytes | memoryview, base: int) -> None:
        self._data = data
        self.base = base
        self._left = 0

    def read(self, at: int) -> Any:
        """Return the value at a place of the file. Raises FormatError."""
        self._left = _ITEMS_MOST
        return self._value(at, 0)[0]

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        """Return a value and where the next one begins."""
        self._left -= 1
        if depth > _DEPTH_MOST or self._left < 0:
            raise FormatError("naming.mmdb_value", at=at)
        control = self._bytes(at, 1)[0]
        kind, at = control >> 5, at + 1
        if kind == _POINTER:
            target, at = self._pointer(control, at)
            if self._bytes(target, 1)[0] >> 5 == _POINTER:
                raise FormatError("naming.mmdb_value", at=target)
            return self._value(target, depth + 1)[0], at
        if kind == _EXTENDED:
            kind, at = self._bytes(at, 1)[0] + 7, at + 1
        size, at = self._size(control & 0x1F, at)
        if kind == _MAP:
            return self._map(size, at, depth)
        if kind == _ARRAY:
            return self._array(size, at, depth)
        if kind == _BOOLEAN:
            return bool(size), at
        return self._scalar(kind, size, at), at + size

    def _map(self, size: int, at: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        for _ in range(size):
            key, at = self._value(at, depth + 1)
            value, at = self._value(at, depth + 1)
            if not isinstance(key, str):
                raise FormatError("naming.mmdb_value", at=at)
            found[key] = value
        return found, at

    def _array(self, size: int, at: int, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        for _ in range(size):
            value, at = self._value(at, depth + 1)
            found.append(value)
        return found, at

    def _scalar(self, kind: int, size: int, at: int) -> Any:
        data = self._bytes(at, size)
        if kind == _STRING:
            return data.decode("utf-8", "replace")
        if kind == _BYTES:
            return data
        if size <= _UNSIGNED.get(kind, -1):
            return int.from_bytes(data, signed=kind == _INT32 and size == 4)
        if (kind, size) == (_DOUBLE, 8):
            return struct.unpack(">d", data)[0]
        if (kind, size) == (_FLOAT, 4):
            return struct.unpack(">f", data)[0]
        raise FormatError("naming.mmdb_value", at=at)

    def _pointer(self, control: int, at: int) -> tuple[int, int]:
        length = (control >> 3 & 3) + 1
        value = int.from_bytes(self._bytes(at, length))
        if length < 4:
            value |= (control & 7) << 8 * length
            value += (0, 2048, 526336)[length - 1]
        return self.base + value, at + length

    def _size(self, size: int, at: int) -> tuple[int, int]:
        if size < 29:
            return size, at
        length = size - 28
        return (29, 285, 65821)[length - 1] + int.from_bytes(self._bytes(at, length)), at + length

    def _bytes(self, at: int, length: int) -> bytes:
        data = bytes(self._data[at : at + length]) if at >= 0 else b""
        if len(data) != length:
            raise FormatError("naming.mmdb_value", at=at)
        return data


def _number(metadata: dict[str, Any], name: str, least: int, most: int) -> int:
    value = metadata.get(name)
    if not isinstance(value, int) or not least <= value <= most:
        raise FormatError("naming.mmdb_metadata", name=name)
    return value
