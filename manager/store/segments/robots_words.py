"""Robots directives of a page against public archiving: `noindex`, `noarchive`.

Read from `X-Robots-Tag`, from `<meta name=robots>`, and from the note that our robots write. A word
behind a robot's name (`googlebot: noindex`) is for that robot.
"""

from __future__ import annotations

import re
from typing import Final

from shared.archive.capture import Capture

__all__ = ["HTML_TYPES", "reason_to_withhold"]

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
NOTE_FIELD: Final = "x-crawl-note"
HEAD_BYTES: Final = 256 * 1024
"""A page declares it in its head; a later declaration does not count."""

_FIELD: Final = re.compile(rb"^X-Robots-Tag[ \t]*:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_META: Final = re.compile(rb"<meta\s[^<>]*", re.IGNORECASE)
_IS_ROBOTS: Final = re.compile(rb"""\bname\s*=\s*["']?(?:robots|prsm)["'\s/]""", re.IGNORECASE)
_CONTENT: Final = re.compile(
    rb"""\bcontent\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_NOINDEX: Final = frozenset({b"noindex", b"none"})


def reason_to_withhold(capture: Capture, plain_body: bytes) -> str | None:
    """Return `noindex` or `noarchive` where a page asks for it, else None."""
    words: set[bytes] = set()
    for field in _FIELD.findall(capture.response_header):
        words |= _words(field)
    note = next((v for k, v in capture.extra.items() if k.lower() == NOTE_FIELD), "")
    if "noindex" in note.split("; "):
        words.add(b"noindex")
    if capture.media_type in HTML_TYPES:
        for tag in _META.findall(plain_body[:HEAD_BYTES]):
            content = _CONTENT.search(tag) if _IS_ROBOTS.search(tag + b" ") else None
            if content is not None:
                words |= _words(content[1] or content[2] or content[3] or b"")
    if words & _NOINDEX:
        return "noindex"
    return "noarchive" if b"noarchive" in words else None


def _words(text: bytes) -> set[bytes]:
    return {word.strip().lower() for word in text.split(b",") if b":" not in word}
