"""Writes one host's captures in the source's layout: three lists, and a folder with the bodies.

    extserver.list           links that leave the host: `target TAB source`
    transferredurl.list      fetched pages: a path per line, without the host; `/` is the top
    transferredurldate.list  24 bytes for each line of transferredurl.list: fetched, last modified
                             (0: not told), size; milliseconds since 1970 and bytes
    data/N, data/N.hdr       decoded body and HTTP header of line N, from 1; the source leaves open
                             where pages lie, `data/` is ours

The source names no byte order; big-endian signed 64 bits is what Java's DataOutputStream writes.
Source: seed 004, section 5.4.1.

Invariant: a URL or path holds visible ASCII only, as the canonical form does, so neither a tab
nor a line end nor a NUL can forge an entry.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Final

from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "DATA_FOLDER",
    "DATE_LIST",
    "ENTRY_BYTES",
    "LINK_LIST",
    "URL_LIST",
    "TransferDate",
    "date_entry",
    "link_lines",
    "path_line",
    "url_path",
]

LINK_LIST: Final = "extserver.list"
URL_LIST: Final = "transferredurl.list"
DATE_LIST: Final = "transferredurldate.list"
DATA_FOLDER: Final = "data"

ENTRY_BYTES: Final = 24
MAX_URL_BYTES: Final = 8192

_ENTRY: Final = struct.Struct(">qqq")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,8192}")
_GREATEST: Final = 2**63 - 1


@frozen
class TransferDate:
    """Times at which a page was fetched and changed, milliseconds since 1970, and its size.

    modified_ms is 0 where the server did not say.
    """

    fetched_ms: int
    modified_ms: int
    size_bytes: int


def link_lines(targets: Iterable[str], source: str) -> bytes:
    """Return the lines of extserver.list for a page: canonical URLs that it leads to, and its own.

    Raises FormatError for a text that is no URL.
    """
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


def url_path(url: str) -> str:
    """Return path and query of a URL: `/` of `http://www.foo.jp/`."""
    _, _, rest = url.partition("://")
    start = re.search(r"[/?]|$", rest)
    path = rest[start.start() :] if start else ""
    return path if path.startswith("/") else f"/{path}"


def _check_size(size_bytes: int) -> None:
    if not 0 <= size_bytes <= _GREATEST:
        raise FormatError("archive_files.size_range", size=size_bytes)


def _visible(name: str, text: str) -> str:
    if not _VISIBLE.fullmatch(text):
        raise FormatError(
            "archive_files.not_visible", name=name, text=text[:80], most=MAX_URL_BYTES
        )
    return text
