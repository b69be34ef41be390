"""Reads the header fields that a page's links and text depend on.

    Content-Type: text/html; charset=x        -> charset
    Link: <next.html>; rel=next               -> targets with their relations
    any field, all its values                 -> values

Each is one pass over at most 64 KB; what does not fit a grammar is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from agent.modules.page.html.attribute_values import srcset_urls

__all__ = ["field_values", "header_charset", "link_targets", "lowered"]

_PARAMETER: Final = re.compile(
    r"""[ \t\r\n]*+([^;=]*+)(?:=(?:"([^"\\]*(?:\\.[^"\\]*)*)(\\?\Z|"[^;]*+)|([^;]*+)))?(?:;|\Z)""",
    re.DOTALL,
)
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_TARGET: Final = re.compile(
    r"<([^<>]*)>((?:\s*;\s*[^\s;,=]+(?:\s*=\s*(?:\"[^\"]*\"|[^\s;,\"]*))?)*)"
)
_RELATION: Final = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]*))", re.IGNORECASE)
_CANDIDATES: Final = re.compile(r";\s*imagesrcset\s*=\s*\"([^\"]*)\"", re.IGNORECASE)


def field_values(header: bytes, name: str) -> list[str]:
    """Return the values of all fields with a name, in order, decoded as Latin-1.

    For a field that most headers lack, the caller first checks that `lowered(header)` has its name.
    """
    wanted = _wanted(name)
    small = lowered(header)
    at = small.find(wanted)
    if at < 0:  # most fields that are asked for are not there
        return []
    end = at + len(wanted)
    is_a_line = small[at - 1 : at] == b"\n" and small[end : end + 1] == b":"
    if is_a_line and small.find(wanted, end) < 0:  # nor is it there again
        return [header[end + 1 :].partition(b"\n")[0].strip().decode("latin-1")]
    values = []
    for line in header.split(b"\n"):
        key, colon, value = line.partition(b":")
        if colon and key.strip().lower() == wanted:
            values.append(value.strip().decode("latin-1"))
    return values


@lru_cache(maxsize=64)
def _wanted(name: str) -> bytes:
    return name.lower().encode("ascii")


@lru_cache(maxsize=4)
def lowered(header: bytes) -> bytes:
    """Return a header in lower case; it is asked for several fields, one after the other."""
    return header.lower()


def header_charset(content_type: str) -> str | None:
    """Return the charset label of a Content-Type, None without a readable one.

    Source: WHATWG MIME Sniffing, 4.4 (parse a MIME type): the first parameter with a name counts.
    """
    start = content_type.find(";") + 1
    while 0 < start < len(content_type):
        match = _PARAMETER.match(content_type, start)
        if match is None:
            return None
        start = match.end()
        name, quoted, end, plain = match.groups()
        if name.lower() != "charset":
            continue
        if quoted is not None:
            value = _ESCAPED.sub(r"\1", quoted) + ("\\" if end == "\\" else "")
        else:
            value = (plain or "").partition(",")[0].rstrip(" \t\r\n")  # two fields may be joined
        if (quoted is None and not value) or not _VALUE.fullmatch(value):
            continue
        return value or None
    return None


def link_targets(value: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield (target, relations in lower case) of a Link field (RFC 8288).

    The images of `imagesrcset` are targets too. Source: HTML standard, 4.6.7.8 (preload).
    """
    for match in _TARGET.finditer(value):
        relation = _RELATION.search(match[2])
        words = (relation[1] or relation[2] or "") if relation else ""
        relations = frozenset(words.lower().split())
        yield match[1].strip(), relations
        candidates = _CANDIDATES.search(match[2])
        if candidates is not None:
            for image in srcset_urls(candidates[1]):
                yield image, relations
