"""Lines of a log by the thousand: as columns where they are plain, one by one where they are not.

A line is plain when it has the four quotes where they belong, nothing in it but printable ASCII,
and no escape but those of a quote, a backslash and the end of a header line; so are nearly all that
agents write. Its numbers and URL are looked at by numpy and Arrow, together with thousands.
Whatever is not plain, comments and mistakes too, is given back as the line that it is, and
`shared.wire.crawl_log` says what it means. Invariant: the columns of a plain line are what
`decode_line` and `canonical` make of it; `tests/manager/intake/test_columns.py` compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import UrlError
from shared.urls import canonical, host_of

__all__ = ["PlainLines", "split_block"]

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ODD_SHARE: Final = 0.05
"""A block with more lines that are not plain is read line by line: cutting it up costs more."""

LONGEST_PLAIN: Final = 128 * 1024
MOST_DIGITS: Final = 12
"""Longer numbers are over the limit, or written oddly."""

HOSTS_REMEMBERED: Final = 100_000
HIDDEN: Final = ((b"\\\\", b"\x02"), (b'\\"', b"\x03"), (b"\\r\\n", b"\x04\x05"))
"""Escapes by what stands for them while quotes are counted; raw control bytes are not plain."""

_SHOWN: Final = bytes.maketrans(b"\x02\x03\x04\x05", b'\\"\r\n')
_PADDING: Final = b"\0" * 16
_URL_BYTES: Final = np.zeros(256, np.bool_)
_URL_BYTES[
    list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?=&+,:;@!$()*")
] = True


@dataclass(frozen=True, slots=True)
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
    block: bytes, known: dict[str, str | None]
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


def _read(block: bytes, known: dict[str, str | None]) -> tuple[PlainLines, Indices] | None:
    """Return the plain lines of a block, and the places of the others; None: read line by line."""
    raw = np.frombuffer(block, np.uint8)
    if raw.max() > 126:
        return None
    controls = np.count_nonzero(raw < 32)
    hidden = block
    for escape, mark in HIDDEN:
        hidden = hidden.replace(escape, mark)
    data = np.frombuffer(hidden + _PADDING, np.uint8)
    ends = np.flatnonzero(data[: len(hidden)] == 10)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if controls != len(ends) or (ends - starts).max() > LONGEST_PLAIN:
        return None
    quotes = np.flatnonzero(data == 34)
    good, corners = _corners(data, starts, ends, quotes)
    if len(good) < len(starts) * (1 - ODD_SHARE):
        return None
    made = _columns(hidden, data, corners, known)
    if made is None:
        return None
    is_odd = np.ones(len(starts), np.bool_)
    is_odd[good] = False
    return made, np.flatnonzero(is_odd)


def _corners(
    data: npt.NDArray[np.uint8], starts: Indices, ends: Indices, quotes: Indices
) -> tuple[Indices, Indices]:
    """Return which lines are plain, and for these (lines, 4) where their quotes and path begin.

    Columns: the first quote, the second, the third, the fourth.
    """
    first = np.searchsorted(quotes, starts)
    count = np.diff(np.append(first, len(quotes)))
    good = np.flatnonzero(count == 4)
    at = quotes[first[good][:, None] + np.arange(4)] if len(good) else np.empty((0, 4), np.int64)
    fits = (at[:, 0] == starts[good]) & (at[:, 3] == ends[good] - 1)
    fits &= (data[at[:, 1] + 1] == 44) & (data[at[:, 2] - 1] == 44) & (at[:, 2] - at[:, 1] > 6)
    escapes = np.flatnonzero(data == 92)
    if len(escapes):
        of_line = np.searchsorted(ends, escapes)
        fits &= ~np.isin(good, of_line)
    return good[fits], at[fits]


def _columns(
    hidden: bytes, data: npt.NDArray[np.uint8], at: Indices, known: dict[str, str | None]
) -> PlainLines | None:
    """Return the columns of plain lines; None where a number or URL needs a closer look."""
    if not len(at):
        return None
    bounds = np.column_stack(
        (at[:, 0] + 1, at[:, 1], at[:, 1] + 2, at[:, 2] - 1, at[:, 2] + 1, at[:, 3])
    )
    pieces = _cut(bounds.ravel(), hidden)
    size = 6 * len(at)
    numbers = _numbers(pieces.take(pa.array(np.arange(2, size, 6))))
    if numbers is None:
        return None
    named = _urls(pieces.take(pa.array(np.arange(0, size, 6))), known)
    if named is None:
        return None
    urls, paths, hosts, codes = named
    headers = pieces.take(pa.array(np.arange(4, size, 6)))
    _, offsets, buffer = headers.buffers()
    shown = pa.py_buffer(bytes(buffer).translate(_SHOWN)) if buffer is not None else buffer
    headers = pa.Array.from_buffers(pa.binary(), len(headers), [None, offsets, shown])
    return PlainLines(0, urls, paths, hosts, codes, _status(data, at[:, 2] + 1), *numbers, headers)


def _cut(bounds: Indices, data: bytes | pa.Buffer) -> pa.Array:
    """Return the pieces of some bytes between bounds, which rise."""
    buffer = pa.py_buffer(data) if isinstance(data, bytes) else data
    offsets = pa.py_buffer(bounds.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, offsets, buffer])


def _numbers(texts: pa.Array) -> tuple[Indices, Indices, Indices] | None:
    """Return the three numbers of each text `1,2,3`, or None where one is written otherwise."""
    parts = pc.split_pattern(texts.cast(pa.string()), ",")
    if not pc.all(pc.equal(pc.list_value_length(parts), 3)).as_py():
        return None
    values = parts.flatten()
    lengths = pc.binary_length(values).to_numpy()
    _, offsets, buffer = values.buffers()
    begin, end = np.frombuffer(offsets, np.int32)[[values.offset, values.offset + len(values)]]
    digits = np.frombuffer(buffer, np.uint8)[begin:end]
    if lengths.min() < 1 or lengths.max() > MOST_DIGITS:
        return None
    if digits.min() < 48 or digits.max() > 57:
        return None
    found = values.cast(pa.int64()).to_numpy()
    return found[0::3], found[1::3], found[2::3]


def _urls(
    raw: pa.Array, known: dict[str, str | None]
) -> tuple[pa.Array, pa.Array, list[str], Indices] | None:
    """Return URLs in canonical form, their paths, the host keys among them, and each one's.

    None where one has no canonical form.
    """
    data, bounds = _bytes_of(raw)
    begins = _path_begins(data, bounds)
    odd = (begins < 0) | _strange(data, bounds)
    cut = _cut_at(raw, bounds, np.where(odd, bounds[:-1], begins), known)
    odd |= np.array([host is None for host in cut.hosts])[cut.codes]
    if odd.any():
        fixed = _made_canonical(raw, odd)
        if fixed is None:
            return None
        raw = fixed
        data, bounds = _bytes_of(raw)
        cut = _cut_at(raw, bounds, _path_begins(data, bounds), known)
    hosts = [host for host in cut.hosts if host is not None]
    if len(hosts) != len(cut.hosts):
        return None
    return raw.cast(pa.string()), cut.paths.cast(pa.string()), hosts, cut.codes


@dataclass(frozen=True, slots=True)
class _Cut:
    """URLs cut before their paths. hosts: of each authority, None where it is not canonical."""

    paths: pa.Array
    hosts: list[str | None]
    codes: Indices


def _cut_at(raw: pa.Array, bounds: Indices, begins: Indices, known: dict[str, str | None]) -> _Cut:
    both = np.column_stack((bounds[:-1], begins)).ravel()
    pieces = _cut(np.append(both, bounds[-1]), raw.buffers()[2])
    size = len(pieces)
    named = pieces.take(pa.array(np.arange(0, size, 2))).dictionary_encode()
    hosts = []
    for one in named.dictionary.to_pylist():
        authority = one.decode("ascii")
        if authority not in known:
            if len(known) >= HOSTS_REMEMBERED:
                known.clear()
            known[authority] = _host_of(authority)
        hosts.append(known[authority])
    paths = pieces.take(pa.array(np.arange(1, size, 2)))
    return _Cut(paths, hosts, named.indices.to_numpy().astype(np.int64))


def _host_of(authority: str) -> str | None:
    """Return the host key of what stands before a path, or None where it is not canonical."""
    try:
        made = canonical(authority + "/")
    except UrlError:
        return None
    return host_of(made) if made == authority + "/" else None


def _bytes_of(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], Indices]:
    """Return the bytes of some texts, with padding behind them, and where each begins and ends."""
    _, offsets, buffer = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[: len(texts) + 1].astype(np.int64)
    return np.frombuffer(bytes(buffer) + _PADDING, np.uint8), bounds


def _path_begins(data: npt.NDArray[np.uint8], bounds: Indices) -> Indices:
    """Return where the path of each URL begins; -1: it is no `http://` or `https://` with one."""
    begin, end = bounds[:-1], bounds[1:]
    behind = begin + np.where(data[begin + 4] == 115, 8, 7)
    good = np.ones(len(begin), np.bool_)
    for place, byte in enumerate(b"http"):
        good &= data[begin + place] == byte
    for place, byte in ((3, 58), (2, 47), (1, 47)):
        good &= data[behind - place] == byte
    slashes = np.append(np.flatnonzero(data[: bounds[-1]] == 47), bounds[-1])
    begins = slashes[np.minimum(np.searchsorted(slashes, behind), len(slashes) - 1)]
    good &= (begins < end) & (begins > behind)
    return np.where(good, begins, -1)


def _strange(data: npt.NDArray[np.uint8], bounds: Indices) -> Mask:
    """Tell which URLs have bytes, or segments that begin with a dot, which may be written anew."""
    texts = data[: bounds[-1]]
    strange = ~_URL_BYTES[texts]
    strange[:-1] |= (texts[:-1] == 47) & (texts[1:] == 46)
    odd = np.zeros(len(bounds) - 1, np.bool_)
    odd[np.searchsorted(bounds, np.flatnonzero(strange), "right") - 1] = True
    return odd


def _made_canonical(raw: pa.Array, odd: Mask) -> pa.Array | None:
    """Return the URLs, those that are marked in canonical form; None where one has none."""
    texts = raw.to_pylist()
    try:
        for at in np.flatnonzero(odd).tolist():
            texts[at] = canonical(texts[at].translate(_SHOWN).decode("ascii")).encode("ascii")
    except UrlError:
        return None
    return pa.array(texts, pa.binary())


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
