"""A reference on a page to a canonical URL, in the document's encoding.

Browsers write the query of a link in the encoding of the page, so `?q=` with Japanese text leads
elsewhere on a Shift_JIS page than on one in UTF-8; the rest of a URL is always UTF-8.

What references name is remembered from page to page, for the pages of one folder share most of
them: only what depends on nothing but the folder, so not `?page=2`, nor what the page's encoding
changes. Invariant: bounded whatever comes: at most `MAX_REMEMBERED` references and folders, each of
them and its URL of at most `MAX_CHARACTERS`. When they are full all are forgotten, which costs less
than to know which of them was of use.
Source: WHATWG URL, 4.4 (query state) and WHATWG Encoding, 7 (encode or fail).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress
from typing import Final
from urllib.parse import urljoin

from agent.modules.page.encodings import encoded
from shared.errors import UrlError
from shared.urls import crawlable

__all__ = [
    "MAX_REFERENCE_CHARACTERS",
    "Addresses",
    "encoded_query",
    "folder_memory",
    "forget_references",
    "joined",
]

MAX_REFERENCE_CHARACTERS: Final = 8192
"""Longer ones are `data:` URLs and traps; no segment could name their page."""

_ESCAPED: Final = re.compile(rb"[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]")
# A canonical URL with a host of letters, or `../` a few times, or `./`, or none; then segments that
# do not begin with a dot, and a query: all of characters that stay as they are.
_SEGMENT: Final = "[A-Za-z0-9_~-][A-Za-z0-9_.~!$&*+(),;=@-]*+"
_PLAIN: Final = re.compile(
    r"(?:(https?://(?:[a-z0-9-]++\.)+[a-z]{2,}+(?=/))|((?:\.\./)+)(?!/)|\./(?!/))?"
    rf"(?:/?{_SEGMENT}(?:/{_SEGMENT})*)?/?"
    r"(?:\?[A-Za-z0-9_.~!$&*+(),;=@:/?-]*+)?"
)
_HOST, _UP = 1, 2  # its groups
_OF_THE_PAGE: Final = frozenset(("", "?", *map(chr, range(0x21))))
"""What may begin a reference that names a part of the page itself, and not of its folder."""

_LONGEST_HOST: Final = 200
_UNICODE: Final = ("utf-8", "utf-16-le", "utf-16-be", "replacement")
"""Encodings of pages whose queries are written in UTF-8."""

_REMOVED: Final = {ord(one): None for one in "\t\n\r"}
_AT_THE_END: Final = "".join(map(chr, range(0x21)))

MAX_REMEMBERED: Final = 16_384
"""About 5 MB, at the very most 20."""

MAX_CHARACTERS: Final = 400

_UNKNOWN: Final = "?"
"""Placeholder of a URL that is not remembered; no URL is equal to it."""

Memory = dict[str, str | None]

_folders: dict[str, Memory] = {}
_count = 0


class Addresses:
    """Resolves the references of one page."""

    def __init__(self, base: str, codec: str) -> None:
        """base: a canonical URL. codec: of the page, as `charset_of` returns it."""
        self._base = base
        self._codec = codec
        path_end = base.find("?")
        self._page = base if path_end < 0 else base[:path_end]
        self._origin = base[: base.index("/", 8)]
        self._folder = self._page[: self._page.rindex("/") + 1]

    def resolve(self, reference: str) -> str | None:
        """Return the canonical URL that a reference names; None where no crawler can go there."""
        if len(reference) > MAX_REFERENCE_CHARACTERS:
            return None
        return self._named(reference)

    def resolve_all(
        self, references: list[str], kinds: bytes, most: int
    ) -> tuple[tuple[str, ...], bytes, bool]:
        """Return what references name, each URL once, in order; how it was found first; and
        whether there were more.

        kinds: a byte for each reference. most: URLs are returned. White space alone is no
        reference.
        """
        text = "".join(references)
        if len(text) > MAX_REFERENCE_CHARACTERS:
            short = [len(one) <= MAX_REFERENCE_CHARACTERS for one in references]
            references = [*compress(references, short)]
            kinds = bytes(compress(kinds, short))
        given = dict(zip(references, kinds, strict=True))
        if len(given) < len(references):
            given.update(zip(reversed(references), reversed(kinds), strict=True))
        if "#" in text:  # white space ends a reference, but is a part of the text before a fragment
            whole, given = given, {}
            for one, kind in whole.items():
                if (cut := one.find("#")) >= 0 and not (cut and not " " < one[cut - 1] < "\x7f"):
                    given.setdefault(one[:cut], kind)
                else:
                    given.setdefault(one, kind)
        known = folder_memory(self._folder)
        urls: dict[str, int] = {}
        for reference, kind in given.items():
            url = known.get(reference, _UNKNOWN)
            if url is _UNKNOWN:
                url = self._named(reference)
                if reference[:1] not in _OF_THE_PAGE and reference.isascii():
                    _remember(known, reference, url)
            if url is None or url in urls or reference.isspace():
                continue
            if len(urls) >= most:
                return tuple(urls), bytes(urls.values()), True
            urls[url] = kind
        return tuple(urls), bytes(urls.values()), False

    def _named(self, reference: str) -> str | None:
        """Return what a reference names.

        Most are of plain characters: nothing in them is escaped, folded or removed, and they need
        no parser.
        """
        match = _PLAIN.fullmatch(reference)
        if match is None:
            url = self._resolved(reference)
        elif match.lastindex is None:
            first = reference[:1]
            if first == "/":
                url = self._origin + reference
            elif first == "?":
                url = self._page + reference
            elif first == ".":
                url = self._folder + reference[2:]
            else:
                url = self._folder + reference if reference else self._base
        elif match.lastindex == _UP:
            up = match.end(_UP)
            url = _above(self._folder, len(self._origin), up // 3) + reference[up:]
        elif match.end(_HOST) <= _LONGEST_HOST and "xn--" not in reference:
            url = reference
        else:
            url = self._resolved(reference)
        return None if url is not None and len(url) > MAX_REFERENCE_CHARACTERS else url

    def _resolved(self, reference: str) -> str | None:
        if not reference.isascii() and self._codec not in _UNICODE:
            reference = _with_query_in(self._codec, reference)
        try:
            return crawlable(reference, self._base)
        except UrlError:
            return None


@lru_cache(maxsize=256)
def _above(folder: str, least: int, levels: int) -> str:
    """Return the folder so many levels up; the top, of `least` characters, has none above it."""
    end = len(folder) - 1
    for _ in range(levels):
        if end <= least:
            break
        end = folder.rindex("/", 0, end)
    return folder[: max(end, least) + 1]


def _with_query_in(codec: str, reference: str) -> str:
    url, _, _ = reference.partition("#")
    start, mark, query = url.partition("?")
    return start + mark + encoded_query(query, codec) if mark else url


@lru_cache(maxsize=1024)
def encoded_query(query: str, codec: str) -> str:
    """Return a query percent-encoded in an encoding; what that lacks becomes `&#N;`, escaped."""
    octets = encoded(query.translate(_REMOVED).rstrip(_AT_THE_END), codec)
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], octets).decode("ascii")


def joined(base: str, reference: str) -> str:
    """Return a reference resolved against a base, which may be relative itself; "": no base."""
    if not base:
        return reference
    try:
        return urljoin(base.strip(), reference.strip())
    except ValueError:
        return reference


def folder_memory(folder: str) -> Memory:
    """Return what references in a folder are known to name; changed by `_remember` alone."""
    known = _folders.get(folder)
    if known is None:
        known = {}
        if len(folder) <= MAX_CHARACTERS:
            _count_one()
            _folders[folder] = known
    return known


def _remember(known: Memory, reference: str, url: str | None) -> None:
    """Enter what a reference names into the memory of its folder."""
    if len(reference) <= MAX_CHARACTERS and (url is None or len(url) <= MAX_CHARACTERS):
        _count_one()
        known[reference] = url


def forget_references() -> None:
    """Forget all."""
    global _count
    _folders.clear()
    _count = 0


def _count_one() -> None:
    global _count
    if _count >= MAX_REMEMBERED:
        forget_references()
    _count += 1
