"""Search for hosts in files of the trash: segments, partial uploads, indexes, results.

Invariant: what anybody could still unpack of a file is looked through, also behind damage, and in
bounded memory.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Collection, Iterator
from typing import BinaryIO, Final

from shared.archive.limits import MAX_URL_CHARACTERS
from shared.errors import PrsmError
from shared.urls import host_of

__all__ = ["holds_any"]

READ_BYTES: Final = 1024**2
MAGIC: Final = b"\x1f\x8b\x08"
GZIP: Final = 31
"""The window's size of gzip, as zlib has it."""
_TARGET: Final = re.compile(rb"^WARC-Target-URI: ?<?([^\r\n>]+)[\r\n>]", re.MULTILINE)
_INDEXED: Final = re.compile(rb'"url": "([^"\r\n]+)"')
LINE_BYTES: Final = MAX_URL_CHARACTERS + 100
"""How long the line is that names a URL; it may begin in one piece and end in the next."""


def holds_any(file: BinaryIO, hosts: Collection[str]) -> bool:
    """Return whether a file of captures, their CDXJ, or a zip of pages, holds any of some hosts.

    hosts: host keys.
    """
    if zipfile.is_zipfile(file):
        return _zip_holds(file, hosts)
    wanted = frozenset(hosts)
    return _names_any(_unpacked(file), _TARGET, wanted) or _names_any(
        _pieces(file), _INDEXED, wanted
    )


def _names_any(pieces: Iterator[bytes], url: re.Pattern[bytes], hosts: frozenset[str]) -> bool:
    before = b""
    for piece in pieces:
        text = before + piece
        if any(_host(match[1]) in hosts for match in url.finditer(text)):
            return True
        before = text[-LINE_BYTES:]
    return False


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file unchanged: an index is not compressed."""
    file.seek(0)
    while data := file.read(READ_BYTES):
        yield data


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Yield what the gzip members of a file hold, as far as each can be unpacked."""
    file.seek(0)
    unpacking = zlib.decompressobj(wbits=GZIP)
    data = file.read(READ_BYTES)
    while data:
        try:
            yield unpacking.decompress(data, READ_BYTES)
        except zlib.error:
            unpacking, data = zlib.decompressobj(wbits=GZIP), _next_member(data[1:], file)
            continue
        data = unpacking.unconsumed_tail
        if unpacking.eof:
            data, unpacking = unpacking.unused_data, zlib.decompressobj(wbits=GZIP)
        data = data or file.read(READ_BYTES)
    yield unpacking.flush()


def _next_member(data: bytes, file: BinaryIO) -> bytes:
    """Return the data from the next member after damage on; nothing at the end."""
    while MAGIC not in data:
        more = file.read(READ_BYTES)
        if not more:
            return b""
        data = data[-len(MAGIC) :] + more
    return data[data.find(MAGIC) :]


def _host(url: bytes) -> str:
    try:
        return host_of(url.decode("utf-8", "replace"))
    except PrsmError:
        return ""


def _zip_holds(file: BinaryIO, hosts: Collection[str]) -> bool:
    names = {f"{host.partition('//')[2].strip('/')}.zip" for host in hosts}
    try:
        with zipfile.ZipFile(file) as pages:
            return any(name.rpartition("/")[2] in names for name in pages.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
