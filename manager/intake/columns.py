"""Lines of a log by the thousand: as columns where they are plain, one by one where they are not.

A line is plain when it has the four quotes where they belong, nothing in it but printable ASCII,
and no escape of a byte by its number; so are nearly all that agents write. Its numbers and URL are
looked at by numpy and Arrow, together with thousands.
Whatever is not plain, comments and mistakes too, is given back as the line that it is, and
`shared.wire.crawl_log` says what it means. Invariant: the columns of a plain line are what
`decode_line` and `canonical` make of it; `tests/manager/intake/test_columns.py` compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from manager.intake.byte_arrays import PADDING, SHOWN, Indices, Mask, bytes_of, cut
from manager.intake.url_columns import canonical_urls
from shared.frozen import frozen

__all__ = ["PlainLines", "split_block"]

ODD_SHARE: Final = 0.05
"""A block with more lines that are not plain is read line by line: cutting it up costs more."""

LONGEST_PLAIN: Final = 128 * 1024
MOST_DIGITS: Final = 12
"""Longer numbers are over the limit, or written oddly."""

BACKSLASH: Final = 92
_ESCAPED: Final = b"\\\"'rnt"
_HIDDEN: Final = b"\x02\x03'\r\n\t"
"""What stands for an escaped byte while quotes are counted; raw control bytes are not plain."""

_MEANT: Final = bytes(
    _HIDDEN[_ESCAPED.index(byte)] if byte in _ESCAPED else 0 for byte in range(256)
)


@frozen
class PlainLines:
    """Lines that follow one another. first: the place of the first in the block.

    hosts: host keys; codes: which of them each line has. status: 0: none was answered.
    """

    first: int
    urls: pa.Array
    paths: pa.Array
    hosts: list[str]
    codes: Indices
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


def split_block(
    block: bytes, known: dict[bytes, str | None]
) -> Iterator[PlainLines | tuple[int, bytes]]:
    """Yield the lines of a block that ends with LF, in order: plain ones together, others alone.

    Others come with their place in the block, from 0. known: host keys by what stands before a
    path, which the caller keeps for the next block.
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


def _read(block: bytes, known: dict[bytes, str | None]) -> tuple[PlainLines, Indices] | None:
    """Return the plain lines of a block, and the places of the others; None: read line by line."""
    data = np.frombuffer(bytearray(block + PADDING), np.uint8)
    text = data[: len(block)]
    ends = np.flatnonzero((text - 32) > 94)  # a byte wraps around: all but printable ASCII
    starts = np.concatenate(([0], ends[:-1] + 1))
    if (text[ends] != 10).any() or (ends - starts).max() > LONGEST_PLAIN:
        return None
    escapes = _escapes(text)
    unknown = _hide(data, escapes)
    good, corners = _corners(data, starts, ends, np.flatnonzero(text == 34), unknown)
    if len(good) < len(starts) * (1 - ODD_SHARE):
        return None
    made = _columns(data, corners, escapes, known)
    if made is None:
        return None
    is_odd = np.ones(len(starts), np.bool_)
    is_odd[good] = False
    return made, np.flatnonzero(is_odd)


def _escapes(text: npt.NDArray[np.uint8]) -> Indices:
    """Return where escapes begin: of backslashes behind one another each second one does."""
    found: Indices = np.flatnonzero(text == BACKSLASH)
    follows = np.diff(found) == 1
    if not follows.any():
        return found
    place = np.arange(len(found))
    first = np.maximum.accumulate(np.where(np.append(False, follows), 0, place))
    begins: Indices = found[(place - first) % 2 == 0]
    return begins


def _hide(data: npt.NDArray[np.uint8], escapes: Indices) -> Indices:
    """Put what stands for it in the place of each escaped byte; return where escapes are others."""
    behind = escapes + 1
    meant = np.frombuffer(data[behind].tobytes().translate(_MEANT), np.uint8)
    data[behind] = meant
    unknown: Indices = escapes[meant == 0]
    return unknown


def _corners(
    data: npt.NDArray[np.uint8],
    starts: Indices,
    ends: Indices,
    quotes: Indices,
    unknown: Indices,
) -> tuple[Indices, Indices]:
    """Return which lines are plain, and for these (lines, 4) where their quotes and path begin.

    Columns: the first quote, the second, the third, the fourth. unknown: escapes that mean nothing
    here.
    """
    first = np.searchsorted(quotes, starts)
    count = np.diff(np.append(first, len(quotes)))
    good = np.flatnonzero(count == 4)
    at = quotes[first[good][:, None] + np.arange(4)] if len(good) else np.empty((0, 4), np.int64)
    fits = (at[:, 0] == starts[good]) & (at[:, 3] == ends[good] - 1)
    fits &= (data[at[:, 1] + 1] == 44) & (data[at[:, 2] - 1] == 44) & (at[:, 2] - at[:, 1] > 6)
    if len(unknown):
        fits &= ~np.isin(good, np.searchsorted(ends, unknown))
    return good[fits], at[fits]


def _columns(
    data: npt.NDArray[np.uint8], at: Indices, escapes: Indices, known: dict[bytes, str | None]
) -> PlainLines | None:
    """Return the columns of plain lines; None where a number or URL needs a closer look."""
    if not len(at):
        return None
    bounds = np.column_stack(
        (at[:, 0] + 1, at[:, 1], at[:, 1] + 2, at[:, 2] - 1, at[:, 2] + 1, at[:, 3])
    )
    pieces = cut(bounds.ravel(), pa.py_buffer(data))
    size = 6 * len(at)
    numbers = _numbers(pieces.take(pa.array(np.arange(2, size, 6))))
    if numbers is None:
        return None
    named = canonical_urls(pieces.take(pa.array(np.arange(0, size, 6))), known)
    if named is None:
        return None
    urls, paths, hosts, codes = named
    headers = _shown(pieces.take(pa.array(np.arange(4, size, 6))), at, escapes)
    return PlainLines(0, urls, paths, hosts, codes, _status(data, at[:, 2] + 1), *numbers, headers)


def _shown(headers: pa.Array, at: Indices, escapes: Indices) -> pa.Array:
    """Return headers, each between its quotes `at`, as they were received."""
    dropped = np.searchsorted(escapes, at[:, 3]) - np.searchsorted(escapes, at[:, 2])
    bounds = np.append(0, np.cumsum(at[:, 3] - at[:, 2] - 1 - dropped))
    buffer = headers.buffers()[2]
    shown = b"" if buffer is None else bytes(buffer).translate(SHOWN, b"\\")
    return cut(bounds, pa.py_buffer(shown))


def _numbers(texts: pa.Array) -> tuple[Indices, Indices, Indices] | None:
    """Return the three numbers of each text `1,2,3`, or None where one is written otherwise."""
    data, bounds = bytes_of(texts)
    written = data[: bounds[-1]]
    commas = np.flatnonzero(written == 44)
    if len(commas) != 2 * len(texts):
        return None
    first, second = commas[0::2], commas[1::2]
    lengths = np.column_stack((first - bounds[:-1], second - first - 1, bounds[1:] - second - 1))
    if lengths.min() < 1 or lengths.max() > MOST_DIGITS:
        return None
    digits = written.tobytes().translate(None, b",")
    if not digits.isdigit():
        return None
    values = cut(np.append(0, np.cumsum(lengths)), pa.py_buffer(digits))
    found = values.cast(pa.string()).cast(pa.int64()).to_numpy()
    return found[0::3], found[1::3], found[2::3]


def _status(data: npt.NDArray[np.uint8], at: Indices) -> npt.NDArray[np.int16]:
    """Return the status that headers begin with, as `HTTP/1.1 200` or `HTTP/2 200`; 0: none."""
    good = np.ones(len(at), np.bool_)
    for place, byte in enumerate(b"HTTP/"):
        good &= data[at + place] == byte
    good &= _is_digit(data[at + 5])
    minor = (data[at + 6] == 46) & _is_digit(data[at + 7])
    at = at + np.where(minor, 8, 6)
    good &= data[at] == 32
    hundreds, tens, ones = (data[at + place].astype(np.int16) - 48 for place in (1, 2, 3))
    good &= (hundreds >= 1) & (hundreds <= 5)
    good &= (tens >= 0) & (tens <= 9) & (ones >= 0) & (ones <= 9)
    return np.where(good, hundreds * 100 + tens * 10 + ones, 0).astype(np.int16)


def _is_digit(byte: npt.NDArray[np.uint8]) -> Mask:
    return (byte >= 48) & (byte <= 57)
