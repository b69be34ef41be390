"""The three lists of the source, byte for byte.

    extserver.list           links that leave the host: `target TAB source`
    transferredurl.list      fetched pages: a path per line, without the host; `/` is the top
    transferredurldate.list  24 bytes for each line of transferredurl.list: fetched, last modified
                             (0: not told), size; milliseconds since 1970 and bytes

The source names no byte order; big-endian signed 64 bits is what Java's DataOutputStream writes.
Source: seed 004, section 5.4.1.

Invariant: a URL or path holds visible ASCII only, as the canonical form does, so neither a tab
nor a line end nor a NUL can forge an entry. Readers stream, and refuse what writers would.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import BinaryIO, Final

from shared.errors import FormatError, LineError
from shared.frozen import frozen

__all__ = [
    "DATE_LIST",
    "ENTRY_BYTES",
    "LINK_LIST",
    "URL_LIST",
    "ExternalLink",
    "TransferDate",
    "date_entry",
    "link_line",
    "link_lines",
    "path_line",
    "read_date",
    "read_dates",
    "read_links",
    "read_paths",
    "read_transfers",
    "write_dates",
    "write_links",
    "write_paths",
]

LINK_LIST: Final = "extserver.list"
URL_LIST: Final = "transferredurl.list"
DATE_LIST: Final = "transferredurldate.list"

ENTRY_BYTES: Final = 24
MAX_URL_BYTES: Final = 8192

_ENTRY: Final = struct.Struct(">qqq")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,8192}")
_GREATEST: Final = 2**63 - 1


@frozen
class ExternalLink:
    """A link from a page of the host to another host; both canonical URLs."""

    target: str
    source: str


@frozen
class TransferDate:
    """Times at which a page was fetched and changed, milliseconds since 1970, and its size.

    modified_ms is 0 where the server did not say.
    """

    fetched_ms: int
    modified_ms: int
    size_bytes: int


def link_line(link: ExternalLink) -> bytes:
    """Return a line of extserver.list; raises FormatError for a text that is no URL."""
    return f"{_visible('target', link.target)}\t{_visible('source', link.source)}\n".encode("ascii")


def link_lines(targets: Iterable[str], source: str) -> bytes:
    """Return the lines of all links of a page; raises FormatError for a text that is no URL."""
    end = f"\t{_visible('source', source)}\n"
    return "".join([_visible("target", target) + end for target in targets]).encode("ascii")


def path_line(path: str) -> bytes:
    """Return a line of transferredurl.list; raises FormatError for a text that is no path."""
    if not path.startswith("/"):
        raise FormatError("archive_files.path_start", path=path[:80])
    return f"{_visible('path', path)}\n".encode("ascii")


def date_entry(date: TransferDate) -> bytes:
    """Return the 24 bytes of an entry; raises FormatError for what 64 bits cannot hold."""
    _check_size(date.size_bytes)
    for name, value in (("fetched", date.fetched_ms), ("modified", date.modified_ms)):
        if not -_GREATEST <= value <= _GREATEST:
            raise FormatError("archive_files.time_too_large", name=name, value_ms=value)
    return _ENTRY.pack(date.fetched_ms, date.modified_ms, date.size_bytes)


def write_links(links: Iterable[ExternalLink], file: BinaryIO) -> int:
    """Write extserver.list; return the number of lines."""
    return _write((link_line(link) for link in links), file)


def write_paths(paths: Iterable[str], file: BinaryIO) -> int:
    """Write transferredurl.list; return the number of lines."""
    return _write((path_line(path) for path in paths), file)


def write_dates(dates: Iterable[TransferDate], file: BinaryIO) -> int:
    """Write transferredurldate.list; return the number of entries."""
    return _write((date_entry(date) for date in dates), file)


def read_links(file: BinaryIO) -> Iterator[ExternalLink]:
    """Give the lines of extserver.list; raises LineError at the first that is none."""
    for number, line in _lines(file):
        target, tab, source = line.partition("\t")
        if not tab:
            raise LineError(number, "archive_files.link_line", text=line[:80])
        yield ExternalLink(
            _visible_at(number, "target", target), _visible_at(number, "source", source)
        )


def read_paths(file: BinaryIO) -> Iterator[str]:
    """Give the lines of transferredurl.list; raises LineError at the first that is none."""
    for number, line in _lines(file):
        path = _visible_at(number, "path", line)
        if not path.startswith("/"):
            raise LineError(number, "archive_files.path_start", path=path[:80])
        yield path


def read_dates(file: BinaryIO) -> Iterator[TransferDate]:
    """Give the entries of transferredurldate.list; raises FormatError for a torn last one."""
    index = 0
    while data := file.read(ENTRY_BYTES):
        yield _date(data, index)
        index += 1


def read_date(file: BinaryIO, index: int) -> TransferDate:
    """Return the entry of line `index` (from 0) of transferredurl.list, without the others."""
    file.seek(index * ENTRY_BYTES)
    return _date(file.read(ENTRY_BYTES), index)


def read_transfers(urls: BinaryIO, dates: BinaryIO) -> Iterator[tuple[str, TransferDate]]:
    """Give each path with its date; raises FormatError where the lists differ in length."""
    for number, (path, date) in enumerate(zip_longest(read_paths(urls), read_dates(dates)), 1):
        if path is None or date is None:
            shorter, longer = (URL_LIST, DATE_LIST) if path is None else (DATE_LIST, URL_LIST)
            raise FormatError(
                "archive_files.lists_differ", shorter=shorter, longer=longer, line=number
            )
        yield path, date


def _date(data: bytes, index: int) -> TransferDate:
    if len(data) != ENTRY_BYTES:
        raise FormatError(
            "archive_files.entry_cut",
            list=DATE_LIST,
            entry=index,
            found=len(data),
            wanted=ENTRY_BYTES,
        )
    date = TransferDate(*_ENTRY.unpack(data))
    _check_size(date.size_bytes)
    return date


def _check_size(size_bytes: int) -> None:
    if not 0 <= size_bytes <= _GREATEST:
        raise FormatError("archive_files.size_range", size=size_bytes)


def _write(entries: Iterable[bytes], file: BinaryIO) -> int:
    count = 0
    for entry in entries:
        file.write(entry)
        count += 1
    return count


def _lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    number = 0
    limit = 2 * MAX_URL_BYTES + 2
    while line := file.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise LineError(number, "lists.long_line", limit=limit)
        if not line.endswith(b"\n"):
            raise LineError(number, "archive_files.line_end_missing")
        yield number, line[:-1].decode("latin-1")


def _visible(name: str, text: str) -> str:
    if not _VISIBLE.fullmatch(text):
        raise FormatError(
            "archive_files.not_visible", name=name, text=text[:80], most=MAX_URL_BYTES
        )
    return text


def _visible_at(number: int, name: str, text: str) -> str:
    try:
        return _visible(name, text)
    except FormatError as error:
        raise LineError(number, error.message) from error
