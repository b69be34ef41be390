"""Reads the strings of a script that are clearly the address of a page or file.

    location = "/news/today.html"      /news/today.html
    import x from "./parts/x.js"       ./parts/x.js, as a module
    type: "text/html", re: "/^a+$/"    nothing
    t("./Parts"), {"./Parts": 12}      nothing: a part of a bundle
    write('<img src="/a.png">')        /a.png: markup that the script writes
    a.background = "url(/b.png)"       /b.png

Comments and regular expressions are passed, since a quote in them begins no string. A string
counts where it is whole (nothing is added to it with `+`), is made of characters that a path is
written with, and begins with `http://`, `https://`, `//`, `/`, `./` or `../`, or ends like a file's
name. What brings 404s is seen in the counts of its kind.
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
_LONGEST_MARKUP: Final = 20_000

# A string that nothing ends is passed as a whole, so that each character is looked at once; a
# regular expression, which begins where no number can stand before it, is passed up to a bound.
_STRING: Final = re.compile(
    r"""/(?:(?<!\\/)(?:\*.*?(?:\*/|\Z)|/[^\n]*)"""
    r"""|(?:(?<=[(,=:\[!&|?{;+>]/)|(?<=[(,=:\[!&|?{;+>][ \n]/)|(?<=\breturn[ ]/)|(?<=\breturn/))"""
    r"""(?:[^\\/\[\n]|\\.|\[[^\]\n]{0,60}\]){1,300}/)"""
    r"""|"((?:[^"\\\n]|\\.)*)("?)|'((?:[^'\\\n]|\\.)*)('?)|`((?:[^`\\]|\\.)*)(`?)""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|(.))", re.DOTALL
)
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
    r"""|\b(?:Worker|SharedWorker)\s*\(\s*["']([^"'\s]{1,500})["']"""
    r"""|\bURL\s*\(\s*["']([^"'\s]{1,500})["']\s*,\s*import\s*\.\s*meta\s*\.\s*url\b"""
    r"""|\bimportScripts\s*\(([^()]{1,2000})\)"""
)
_QUOTED: Final = re.compile(r"""["']([^"'\s]{1,500})["']""")
_IN_MARKUP: Final = re.compile(
    r"""\b(?:src|href)\s*=\s*(?:"([^"<>\s]{2,500})"|'([^'<>\s]{2,500})'|([^"'<>=`\s]{2,500})(?=[\s>]))""",
    re.IGNORECASE,
)
_IN_STYLE: Final = re.compile(r"""\burl\(\s*["']?([^"'()<>\s]{2,500})""", re.IGNORECASE)
_REQUIRES: Final = re.compile(r"(?:\brequire|(?<![\w$.])[A-Za-z_$]{1,2})\s*\(\s*\Z")
_SOURCE_MAP: Final = re.compile(r"(?://|/\*)[#@][ \t]+sourceMappingURL=([^\s'\"*]{1,8192})")
_LAST_CODE: Final = 0x10FFFF
_HAS_LETTERS: Final = re.compile(r"[A-Za-z0-9]{2}|[A-Za-z0-9][./?]")


def strings_of(script: str) -> Iterator[str]:
    """Yield the strings of a script that are clearly addresses, each once."""
    given: set[str] = set()
    for match in _STRING.finditer(script):
        raw = match[1] or match[3] or match[5] or ""
        if not (match[2] or match[4] or match[6]):
            continue
        for text in _addresses_in(raw, script, match):
            if text in given:
                continue
            given.add(text)
            yield text
            if len(given) >= MOST_STRINGS:
                return


def _addresses_in(raw: str, script: str, match: re.Match[str]) -> Iterator[str]:
    """Yield the address that a string is, or those of the markup or style in it."""
    if "url(" in raw and len(raw) <= _LONGEST_MARKUP:
        for one in _IN_STYLE.finditer(_meant(raw)):
            if is_clear_path(one[1]):
                yield one[1]
    if "<" in raw and len(raw) <= _LONGEST_MARKUP and "=" in raw:
        for one in _IN_MARKUP.finditer(_meant(raw)):
            text = one[1] or one[2] or one[3]
            if is_clear_path(text):
                yield text
        return
    if not 1 < len(raw) <= _LONGEST:
        return
    text = _meant(raw)
    if not is_clear_path(text) or _is_a_part(script, match):
        return
    if text[0] != "." or not _is_bundled(script, match):
        yield text


def _meant(raw: str) -> str:
    return _ESCAPE.sub(_character, raw) if "\\" in raw else raw


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
        if match[5]:
            for one in _QUOTED.finditer(match[5]):
                yield one[1]
        else:
            yield match[1] or match[2] or match[3] or match[4]


def source_map_of(text: str) -> str | None:
    """Return the source map that the end of a script or style sheet names."""
    found = None
    for match in _SOURCE_MAP.finditer(text[-10_000:]):
        found = match[1]
    return None if found is None or found.startswith("data:") else found


def _character(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    if number is None:
        return match[4]
    code = int(number, 16)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF or code > _LAST_CODE else chr(code)


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
