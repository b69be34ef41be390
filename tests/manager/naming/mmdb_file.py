"""Writer of small MMDB files, for tests of their reader.

Source: MaxMind DB File Format Specification, version 2.0.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Mapping
from typing import Any

__all__ = ["mmdb_file"]

MARKER = b"\xab\xcd\xefMaxMind.com"
Node = list[Any]


def mmdb_file(
    records: Mapping[str, Any], *, version: int = 6, bits: int = 24, kind: str = "Test-Country"
) -> bytes:
    """Return a file in which networks lead to records. version: 4 or 6; IPv4 lies in ::/96."""
    root: Node = [None, None]
    for network, record in records.items():
        _enter(root, ipaddress.ip_network(network), record, version)
    nodes: list[Node] = []
    _number(root, nodes)
    place = {id(node): number for number, node in enumerate(nodes)}
    data = bytearray()
    known: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for node in nodes:
        values = []
        for child in node:
            if child is None:
                values.append(len(nodes))
            elif isinstance(child, list):
                values.append(place[id(child)])
            else:
                text = repr(child)
                if text not in known:
                    known[text] = len(data)
                    data += _value(child[0])
                values.append(len(nodes) + 16 + known[text])
        pairs.append((values[0], values[1]))
    metadata = {
        "binary_format_major_version": 2,
        "binary_format_minor_version": 0,
        "build_epoch": 1_700_000_000,
        "database_type": kind,
        "description": {"en": "a test"},
        "ip_version": version,
        "languages": ["en"],
        "node_count": len(nodes),
        "record_size": bits,
    }
    tree = b"".join(_pair(left, right, bits) for left, right in pairs)
    return tree + bytes(16) + bytes(data) + MARKER + _value(metadata)


def _enter(root: Node, network: Any, record: Any, version: int) -> None:
    number, length = int(network.network_address), network.prefixlen
    if network.version == 4 and version == 6:
        length += 96
    width = 128 if version == 6 else 32
    node = root
    for place in range(length - 1):
        bit = number >> (width - 1 - place) & 1
        if not isinstance(node[bit], list):
            node[bit] = [node[bit], node[bit]]
        node = node[bit]
    node[number >> (width - length) & 1] = (record,)


def _number(node: Node, nodes: list[Node]) -> None:
    nodes.append(node)
    for child in node:
        if isinstance(child, list):
            _number(child, nodes)


def _pair(left: int, right: int, bits: int) -> bytes:
    if bits == 28:
        middle = (left >> 24) << 4 | right >> 24
        return (left & 0xFFFFFF).to_bytes(3) + bytes((middle,)) + (right & 0xFFFFFF).to_bytes(3)
    return left.to_bytes(bits // 8) + right.to_bytes(bits // 8)


def _value(value: Any) -> bytes:
    match value:
        case bool():
            return _head(14, int(value))
        case str():
            data = value.encode()
            return _head(2, len(data)) + data
        case float():
            return _head(3, 8) + struct.pack(">d", value)
        case int():
            data = value.to_bytes((value.bit_length() + 7) // 8)
            return _head(9 if len(data) > 4 else 6, len(data)) + data
        case dict():
            return _head(7, len(value)) + b"".join(
                _value(key) + _value(one) for key, one in value.items()
            )
        case _:
            return _head(11, len(value)) + b"".join(map(_value, value))


def _head(kind: int, size: int) -> bytes:
    more = b""
    if size >= 285:
        size, more = 30, (size - 285).to_bytes(2)
    elif size >= 29:
        size, more = 29, (size - 29).to_bytes(1)
    if kind > 7:
        return bytes((size, kind - 7)) + more
    return bytes((kind << 5 | size,)) + more
