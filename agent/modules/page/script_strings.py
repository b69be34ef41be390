"""Reads the strings of a script that are clearly the address of a page or file.

    location = "/news/today.html"      /news/today.html
    import x from "./parts/x.js"       ./parts/x.js, as a module
    type: "text/html", re: "/^a+$/"    nothing
    t("./Parts"), {"./Parts": 12}      nothing: a part of a bundle

A string counts where it is whole (nothing is added to it with `+`), is made of characters that a
path is written with, and begins with `http://`, `https://`, `//`, `/`, `./` or `../`, or ends like
a file's name. What brings 404s is seen in the counts of its kind.
Source: none; what Heritrix and others guess is wider, and mostly wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["MOST_STRINGS", "is_clear_path", "modules_of", "source_map_of", "strings_of"]

MOST_STRINGS: Final = 1000
"""Of one script; and so many characters of one of them count."""

_LONGEST: Final = 500

# A string that nothing ends is passed as a whole, so that each character is looked at once.
_STRING: Final = re.compile(
    r""""((?:[^"\\\n]|\\.)*)("?)|'((?:[^'\\\n]|\\.)*)('?)|`((?:[^`\\]|\\.)*)(`?)""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PATH: Final = re.compile(
    r"(?:https?:)?//(?:[a-z0-9_-]+\.)+[a-z]{2,}(?::[0-9]{1,5})?(?:[/?#][!#-;=?-Z_a-z~%]*)?"
    r"|(?:/|\.{1,2}/)[A-Za-z0-9_~%-][A-Za-z0-9_.~%!@,;:+=&-]*(?:/[A-Za-z0-9_.~%!@,;:+=&-]+)*/?"
    r"(?:[?#][!#-;=?-Z_a-z~%]*)?",
    re.IGNORECASE,
)
_FILE: Final = re.compile(
    r"[A-Za-z0-9_~%-][A-Za-z0-9_.~%-]*(?:/[A-Za-z0-9_.~%-]+)*\."
    r"(?:[sx]?html?|php[3-7]?|aspx?|jspx?|cgi|cfm|pdf|jpe?g|png|gif|webp|avif|svg|mp[34]|webm|swf"
    r"|docx?|xlsx?|pptx?|od[tsp])(?:[?#][!#-;=?-Z_a-z~%]*)?",
    re.IGNORECASE,
)
_FILE_BELOW: Final = re.compile(
    r"[A-Za-z0-9_~%-][A-Za-z0-9_.~%-]*(?:/[A-Za-z0-9_.~%-]+)+\.(?:m?js|css|json|xml)"
)
_MODULE: Final = re.compile(
    r"""\b(?:import|export)\b[^"'`;()]{0,300}["'](\.{0,2}/[^"'\s]{1,500})["']"""
    r"""|\bimport\s*\(\s*["'](\.{0,2}/[^"'\s]{1,500})["']"""
    r"""|\b(?:importScripts|Worker|SharedWorker)\s*\(\s*["']([^"'\s]{1,500})["']"""
)
_REQUIRES: Final = re.compile(r"(?:\brequire|(?<![\w$.])[A-Za-z_$]{1,2})\s*\(\s*\Z")
_SOURCE_MAP: Final = re.compile(r"(?://|/\*)[#@][ \t]+sourceMappingURL=([^\s'\"*]{1,8192})")
_HAS_LETTERS: Final = re.compile(r"[A-Za-z0-9]{2}|[A-Za-z0-9][./?]")


def strings_of(script: str) -> Iterator[str]:
    """Yield the strings of a script that are clearly addresses, each once."""
    given: set[str] = set()
    for match in _STRING.finditer(script):
        raw = match[1] or match[3] or match[5] or ""
        if not (1 < len(raw) <= _LONGEST and (match[2] or match[4] or match[6])):
            continue
        text = _ESCAPE.sub(_character, raw) if "\\" in raw else raw
        if text in given or not is_clear_path(text) or _is_a_part(script, match):
            continue
        if text[0] == "." and _is_bundled(script, match):
            continue
        given.add(text)
        yield text
        if len(given) >= MOST_STRINGS:
            return


def is_clear_path(text: str) -> bool:
    """Return whether a text is clearly the address of a page or file."""
    if _PATH.fullmatch(text):
        return _HAS_LETTERS.search(text) is not None
    return (_FILE.fullmatch(text) or _FILE_BELOW.fullmatch(text)) is not None


def modules_of(script: str) -> Iterator[str]:
    """Yield what a script imports; against its own address."""
    if not any(word in script for word in ("import", "export", "Worker")):
        return
    for match in _MODULE.finditer(script):
        yield match[1] or match[2] or match[3]


def source_map_of(text: str) -> str | None:
    """Return the source map that the end of a script or style sheet names."""
    found = None
    for match in _SOURCE_MAP.finditer(text[-10_000:]):
        found = match[1]
    return None if found is None or found.startswith("data:") else found


def _character(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    if number is None:
        return match[3]
    code = int(number, 16)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)


def _is_bundled(script: str, match: re.Match[str]) -> bool:
    """Return whether a string names a part of the bundle that the script is.

    It is what `require` is asked for, which bundlers shorten to a letter or two, or a key of the
    list of parts.
    """
    if _REQUIRES.search(script, max(0, match.start() - 20), match.start()):
        return True
    return script[match.end() : match.end() + 3].lstrip()[:1] == ":"


def _is_a_part(script: str, match: re.Match[str]) -> bool:
    """Return whether something is added to a string, before or behind it."""
    behind = script[match.end() : match.end() + 3].lstrip()
    before = script[max(0, match.start() - 3) : match.start()].rstrip()
    return behind[:1] == "+" or before[-1:] == "+"
