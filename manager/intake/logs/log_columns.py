"""Lines of a log by the thousand: as columns where they are plain, one by one where they are not.

A line is plain when it is written as our agents write it: four quotes where they belong, a URL
whose path is in canonical form, and no escape of a byte by its number. Compiled code
(`shared/native/crawl_log.zig`) reads these together with thousands. Whatever is not plain, comments
and mistakes too, is given back as the line that it is, and `shared.wire.crawl_log` says what it
means; so are all lines where no code was made for this machine. Invariant: the columns of a plain
line are what `decode_line` and `canonical` make of it; `tests/manager/intake/test_log_columns.py`
compares them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import UrlError
from shared.frozen import frozen
from shared.native import library
from shared.urls import canonical, host_of

__all__ = ["Authorities", "PlainLines", "split_block"]

ODD_SHARE: Final = 0.05
"""A block with more lines that are not plain is read line by line: cutting it up costs more."""

SHORTEST_PLAIN: Final = 21  # bytes: `"http://a/",0,0,0,""` and LF
HOSTS_REMEMBERED: Final = 100_000

Indices = npt.NDArray[np.int64]

Authorities = dict[bytes, tuple[str, str, bool]]
"""Raw authority (the part of a URL before its path) -> its canonical form, the host key, and
whether it was canonical before. An authority without a canonical form is not entered."""


@frozen
class PlainLines:
    """Lines that follow one another. first: the place of the first in the block.

    hosts: host keys; codes: which of them each line has. status: 0: none was answered.
    """

    first: int
    urls: pa.Array
    paths: pa.Array
    hosts: list[str]
    codes: npt.NDArray[np.int32]
    status: npt.NDArray[np.int16]
    requested: Indices
    responded: Indices
    elapsed: Indices
    headers: pa.Array

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, begin: int, end: int, first: int) -> PlainLines:
        """Return some of the lines."""
        size = end - begin
        return PlainLines(
            first,
            self.urls.slice(begin, size),
            self.paths.slice(begin, size),
            self.hosts,
            self.codes[begin:end],
            self.status[begin:end],
            self.requested[begin:end],
            self.responded[begin:end],
            self.elapsed[begin:end],
            self.headers.slice(begin, size),
        )


def split_block(block: bytes, known: Authorities) -> Iterator[PlainLines | tuple[int, bytes]]:
    """Yield the lines of a block that ends with LF, in order: plain ones together, others alone.

    Others come with their place in the block, from 0. known: kept for the next block.
    """
    read = _read(block, known)
    if read is None:
        yield from enumerate(block[:-1].split(b"\n"))
        return
    lines, odd = read
    if not len(odd):
        yield lines
        return
    texts = block.split(b"\n")
    taken, place = 0, 0
    for at in odd.tolist():
        if at > place:
            yield lines.part(taken, taken + at - place, place)
            taken += at - place
        yield at, texts[at]
        place = at + 1
    if taken < len(lines):
        yield lines.part(taken, len(lines), place)


class _Columns(ctypes.Structure):
    """Columns in the layout of `crawl_log.zig`."""

    _fields_ = (
        ("lines", ctypes.c_size_t),
        ("url_offsets", ctypes.c_void_p),
        ("urls", ctypes.c_void_p),
        ("path_offsets", ctypes.c_void_p),
        ("paths", ctypes.c_void_p),
        ("header_offsets", ctypes.c_void_p),
        ("headers", ctypes.c_void_p),
        ("requested", ctypes.c_void_p),
        ("responded", ctypes.c_void_p),
        ("elapsed", ctypes.c_void_p),
        ("status", ctypes.c_void_p),
        ("hosts", ctypes.c_void_p),
        ("authorities", ctypes.c_void_p),
        ("odd", ctypes.c_void_p),
        ("plain_count", ctypes.c_size_t),
        ("odd_count", ctypes.c_size_t),
        ("host_count", ctypes.c_size_t),
    )


def _read(block: bytes, known: Authorities) -> tuple[PlainLines, npt.NDArray[np.int32]] | None:
    """Return the plain lines of a block, and the places of the others; None: read line by line."""
    function = _function()
    if function is None:
        return None
    # Of a block with more lines than this too many are not plain.
    lines = int(len(block) / SHORTEST_PLAIN / (1 - ODD_SHARE)) + 2
    room = _room(len(block), lines)
    columns = _Columns(lines, **{name: array.ctypes.data for name, array in room.items()})
    if function(block, len(block), ctypes.byref(columns)) < 0:
        return None
    count, odd = columns.plain_count, columns.odd_count
    if not count or odd > ODD_SHARE * (count + odd):
        return None
    urls = _texts(pa.string(), room["url_offsets"], room["urls"], count)
    paths = _texts(pa.string(), room["path_offsets"], room["paths"], count)
    codes = room["hosts"][:count]
    places = room["authorities"][: 2 * columns.host_count].tolist()
    starts = _named(room["urls"][: room["url_offsets"][count]].tobytes(), places, known)
    if starts is None:
        return None
    if not all(is_canonical for _, _, is_canonical in starts):
        begins = pa.array([text for text, _, _ in starts])
        urls = pc.binary_join_element_wise(begins.take(pa.array(codes)), paths, "")
    made = PlainLines(
        0,
        urls,
        paths,
        [host for _, host, _ in starts],
        codes,
        room["status"][:count],
        room["requested"][:count],
        room["responded"][:count],
        room["elapsed"][:count],
        _texts(pa.binary(), room["header_offsets"], room["headers"], count),
    )
    return made, room["odd"][:odd]


def _room(size: int, lines: int) -> dict[str, npt.NDArray[Any]]:
    """Return room for what a block of some bytes may say. What is not used is never touched."""
    offsets = ("url_offsets", "path_offsets", "header_offsets")
    numbers = ("requested", "responded", "elapsed")
    return {
        **{name: np.empty(lines + 1, np.int32) for name in offsets},
        **{name: np.empty(size, np.uint8) for name in ("urls", "paths", "headers")},
        **{name: np.empty(lines, np.int64) for name in numbers},
        "status": np.empty(lines, np.int16),
        "hosts": np.empty(lines, np.int32),
        "authorities": np.empty(2 * lines, np.uint32),
        "odd": np.empty(lines, np.int32),
    }


def _texts(
    kind: pa.DataType, offsets: npt.NDArray[np.int32], texts: npt.NDArray[np.uint8], count: int
) -> pa.Array:
    used = [pa.py_buffer(offsets[: count + 1]), pa.py_buffer(texts[: offsets[count]])]
    return pa.Array.from_buffers(kind, count, [None, *used])


def _named(
    urls: bytes, places: list[int], known: Authorities
) -> list[tuple[str, str, bool]] | None:
    """Return the entries of the authorities at the alternating (begin, length); None: one has no
    canonical form."""
    bounds = list(zip(places[0::2], places[1::2], strict=True))
    found = [known.get(urls[begin : begin + length]) for begin, length in bounds]
    named: list[tuple[str, str, bool]] = []
    for one, (begin, length) in zip(found, bounds, strict=True):
        if one is None:
            authority = urls[begin : begin + length]
            one = _canonical(authority.decode("ascii"))  # noqa: PLW2901  # the missing entry
            if one is None:
                return None
            if len(known) >= HOSTS_REMEMBERED:
                known.clear()
            known[authority] = one
        named.append(one)
    return named


def _canonical(authority: str) -> tuple[str, str, bool] | None:
    """Return the entry of an authority, or None if it begins no URL."""
    try:
        made = canonical(authority + "/")
    except UrlError:
        return None
    return made[:-1], host_of(made), made[:-1] == authority


@cache
def _function() -> Any:
    found = library()
    if found is None:
        return None
    function = found.prsm_log_lines
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Columns))
    function.restype = ctypes.c_ssize_t
    return function
