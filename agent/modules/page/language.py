"""Language of a page: by the script of its text, else as it says itself.

Kana are Japanese and hangul Korean, whatever a template's `lang` says. Where a script has several
languages the page's own word decides: `<html lang>`, `<meta http-equiv=content-language>`, then
`Content-Language`. A language that is not written in the page's script is not believed. What then
is unknown is `und`.
Invariant: linear in the sample, whatever a site sends; nothing raises.
Source: HTML standard, 3.2.6.2 (lang), 4.2.5.3 (content-language); Unicode blocks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Final

from agent.modules.page.encodings import decoded
from agent.modules.page.header_fields import field_values
from agent.modules.page.html.tags import start_tags
from shared.crawl_scope.codes import UNDETERMINED, language_code

__all__ = ["language_of", "language_of_text"]

SAMPLE_BYTES: Final = 1 << 16
"""Of a page: long menus, styles and scripts stand before the text of many."""

TEXT_MOST: Final = 4_000
"""Characters that are counted."""

LETTERS_LEAST: Final = 20
"""Below it the text says nothing."""

KANA_LEAST: Final = 0.05
"""Share of a text's letters from which on it is Japanese: other pages quote a name or two."""

_HIDDEN: Final = re.compile(r"<(?=/?(?:script|style)(?![a-z0-9-]))", re.IGNORECASE)
_TEXT: Final = re.compile(r">([^<>]*[^<>\s][^<>]*)")

_SCRIPTS: Final[Mapping[str, tuple[str, str]]] = {
    "latin": ("A-Za-z\u00c0-\u024f\u1e00-\u1eff", ""),
    "cyrillic": ("\u0400-\u052f", "ru uk be bg sr mk kk ky tg mn ba tt cv ce os av ab cu kv"),
    "greek": ("\u0370-\u03ff\u1f00-\u1fff", "el"),
    "armenian": ("\u0530-\u058f", "hy"),
    "hebrew": ("\u0590-\u05ff", "he yi"),
    "arabic": ("\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc", "ar fa ur ps sd ug ku ks"),
    "devanagari": ("\u0900-\u097f", "hi mr ne sa ks sd"),
    "bengali": ("\u0980-\u09ff", "bn as"),
    "gurmukhi": ("\u0a00-\u0a7f", "pa"),
    "gujarati": ("\u0a80-\u0aff", "gu"),
    "oriya": ("\u0b00-\u0b7f", "or"),
    "tamil": ("\u0b80-\u0bff", "ta"),
    "telugu": ("\u0c00-\u0c7f", "te"),
    "kannada": ("\u0c80-\u0cff", "kn"),
    "malayalam": ("\u0d00-\u0d7f", "ml"),
    "sinhala": ("\u0d80-\u0dff", "si"),
    "thai": ("\u0e00-\u0e7f", "th"),
    "lao": ("\u0e80-\u0eff", "lo"),
    "tibetan": ("\u0f00-\u0fff", "bo dz"),
    "burmese": ("\u1000-\u109f", "my"),
    "georgian": ("\u10a0-\u10ff", "ka"),
    "ethiopic": ("\u1200-\u137f", "am ti"),
    "khmer": ("\u1780-\u17ff", "km"),
    "kana": ("\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d", "ja"),
    "hangul": ("\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3", "ko"),
    "han": ("\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "zh ja"),
}
"""Characters of each script, and its languages, the usual one first where one is."""

_LANGUAGES: Final = {name: codes.split() for name, (_, codes) in _SCRIPTS.items()}
_LETTERS: Final = {name: re.compile(f"[{letters}]+") for name, (letters, _) in _SCRIPTS.items()}
_BEYOND_LATIN: Final = re.compile("[\u0370-\u1dff\u2e80-\uffff]+")
_HTML: Final = re.compile(r"<html(\s[^<>]*)>", re.IGNORECASE)
_CONTENT_LANGUAGE: Final = re.compile("content-language", re.IGNORECASE)
_NO_LETTERS: Final = bytes(code for code in range(256) if not chr(code).isalpha() or code > 127)
HTML_WITHIN: Final = 2_048
"""Characters in which the `<html>` of nearly all pages stands."""

_ALSO_LATIN: Final = frozenset(("sr", "kk", "ku", "tt", "ug", "mn"))
_NEVER_LATIN: Final = frozenset(code for codes in _LANGUAGES.values() for code in codes) - (
    _ALSO_LATIN
)
_USUAL: Final = frozenset(("greek", "hebrew", "armenian", "bengali", "tibetan", "ethiopic", "han"))
"""Scripts of several languages of which the first is meant where a page says nothing."""


def language_of(body: bytes, codec: str, header: bytes) -> str:
    """Return the language of a page, or `und`.

    body: decoded of its content coding. codec: as `charset_of` returns it.
    """
    text = decoded(body[:SAMPLE_BYTES], codec)
    return language_of_text(_visible(text), _declared(text, header))


def language_of_text(text: str, declared: str) -> str:
    """Return the language of a text that says itself to be in one, or `und`. declared: or ""."""
    beyond = "".join(_BEYOND_LATIN.findall(text))
    latin = len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS))
    if not beyond:
        if declared and (latin < LETTERS_LEAST or declared not in _NEVER_LATIN):
            return declared
        return UNDETERMINED
    total = latin + len(beyond)
    kana = sum(map(len, _LETTERS["kana"].findall(beyond)))
    if total >= LETTERS_LEAST and kana >= KANA_LEAST * total:
        return "ja"
    counts = {name: sum(map(len, of.findall(beyond))) for name, of in _LETTERS.items()}
    counts["latin"] = latin
    if total < LETTERS_LEAST:
        return declared or _sole(counts) or UNDETERMINED
    script = max(counts, key=lambda name: counts[name])
    if script == "latin":
        return declared if declared and declared not in _NEVER_LATIN else UNDETERMINED
    languages = _LANGUAGES[script]
    if declared in languages:
        return declared
    return languages[0] if len(languages) == 1 or script in _USUAL else UNDETERMINED


def _sole(counts: Mapping[str, int]) -> str:
    """Return the language of a few letters of a script that one language has; "": none."""
    found = [name for name, count in counts.items() if count and name != "latin"]
    if "kana" in found:
        return "ja"
    languages = _LANGUAGES[found[0]] if len(found) == 1 else []
    return languages[0] if len(languages) == 1 else ""


def _visible(text: str) -> str:
    """Return the text between tags, without that of scripts and styles, as far as it counts."""
    first, *parts = _HIDDEN.split(text)
    pieces: list[str] = []
    size = 0
    for part in (first, *(f"<{part}" for part in parts if part.startswith("/"))):
        for found in _TEXT.finditer(part):
            piece = found[1]
            pieces.append(piece)
            size += len(piece)
            if size >= TEXT_MOST:
                return html.unescape(" ".join(pieces)[:TEXT_MOST])
    return html.unescape(" ".join(pieces))


def _declared(text: str, header: bytes) -> str:
    """Return the language that a page says itself, or ""."""
    usual = _HTML.search(text, 0, HTML_WITHIN)
    if usual is not None:
        for _, attributes in start_tags(usual[0]):
            code = language_code(attributes.get("lang") or attributes.get("xml:lang") or "")
            if code:
                return code
    if usual is None or _CONTENT_LANGUAGE.search(text):
        code = _declared_in_tags(text)
        if code:
            return code
    return _sole_tag(",".join(field_values(header, "Content-Language")))


def _declared_in_tags(text: str) -> str:
    """Return the language that the tags before the body say, or ""."""
    of_meta = ""
    for name, attributes in start_tags(text):
        if name == "html":
            code = language_code(attributes.get("lang") or attributes.get("xml:lang") or "")
            if code:
                return code
        elif name == "meta":
            if attributes.get("http-equiv", "").strip().lower() == "content-language":
                of_meta = of_meta or _sole_tag(attributes.get("content", ""))
        elif name == "body":
            break
    return of_meta


def _sole_tag(text: str) -> str:
    """Return the language of a list with one tag; a page for several readers says none."""
    return "" if "," in text.strip().strip(",") else language_code(text.strip().strip(","))
