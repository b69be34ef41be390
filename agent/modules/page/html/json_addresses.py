"""Reads the addresses in data that pages carry as JSON: JSON-LD, manifests, import maps ...

    {"@type": "Article", "url": "/a", "image": {"contentUrl": "/a.jpg"}}     /a and /a.jpg
    {"start_url": "/", "icons": [{"src": "i.png"}]}                          / and i.png
    {"imports": {"m": "./m.js"}}, {"prefetch": [{"urls": ["/b"]}]}           ./m.js and /b

Source: JSON-LD 1.1, 3.3; schema.org (url, contentUrl ...); W3C Web Application Manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

__all__ = [
    "MAX_JSON_CHARACTERS",
    "data_addresses",
    "imported_addresses",
    "manifest_addresses",
    "parsed",
    "speculated_addresses",
]

MAX_JSON_CHARACTERS: Final = 2_000_000
MOST_VALUES: Final = 100_000

_DATA_NAMES: Final = frozenset(
    (
        *("url", "@id", "contentUrl", "embedUrl", "thumbnailUrl", "image", "logo", "thumbnail"),
        *("item", "mainEntityOfPage", "installUrl", "downloadUrl", "discussionUrl", "archivedAt"),
        *("sameAs", "target", "urlTemplate", "license", "isPartOf", "relatedLink", "isBasedOn"),
        *("significantLink", "photo", "screenshot", "audio", "video", "associatedMedia", "hasMap"),
        *("map", "menu", "hasMenu", "codeRepository", "subjectOf", "hasPart", "citation"),
        *("encoding", "trailer", "paymentUrl", "ticketUrl", "tourBookingPage", "@value", "@list"),
    )
)
_NO_PAGES: Final = ("http://schema.org/", "https://schema.org/", "http://www.w3.org/")
"""Names of concepts that are written as addresses: `"availability": "https://schema.org/InStock"`."""

# Marks of comments and CDATA around it, for programs that know no scripts.
_BEFORE: Final = re.compile(r"(?:\s|//|/\*|\*/|<!--|<!\[CDATA\[)*")
_BEHIND: Final = ("//", "/*", "*/", "-->", "]]>")
_TRAILING: Final = re.compile(r",\s{0,200}([\]}])")
_EMBEDDED: Final = frozenset(
    ("contentUrl", "thumbnailUrl", "image", "logo", "thumbnail", "photo", "screenshot")
)
_BARE: Final = frozenset(
    ("@id", "item", "@value", "@list", "license", "citation", "target", "menu")
)
"""Fields whose bare words are names or texts."""
_SCHEMES: Final = ("http://", "https://", "/", "./", "../")


def parsed(text: str) -> Any:
    """Return what a text of JSON says; None: it is none, or a longer one than is read.

    Read as search engines read it: in a comment or CDATA, with line breaks in strings and commas
    before brackets.
    """
    if len(text) > MAX_JSON_CHARACTERS:
        return None
    text = _unwrapped(text.strip().removeprefix("\ufeff"))
    for tried in (text, _TRAILING.sub(r"\1", text)):
        try:
            return json.loads(
                tried, strict=False
            )  # line breaks in strings are forbidden, and usual
        except RecursionError:
            return None
        except ValueError:
            continue
    return None


def _unwrapped(text: str) -> str:
    """Return a text without the marks around it, in time linear in its length."""
    match = _BEFORE.match(text)
    begin, end = match.end() if match else 0, len(text)
    while end > begin:
        if text[end - 1].isspace():
            end -= 1
        elif text.endswith(_BEHIND, begin, end):
            end -= 3 if text[end - 1] == ">" else 2
        else:
            break
    return text[begin:end]


def data_addresses(value: Any) -> Iterator[tuple[str, bool]]:
    """Yield (reference, whether it is loaded with the page) of JSON-LD."""
    left: list[tuple[str, Any]] = [("", value)]
    looked_at = 0
    while left and looked_at < MOST_VALUES:
        name, one = left.pop()
        looked_at += 1
        if isinstance(one, dict):
            left += reversed([(str(key), part) for key, part in one.items()])
        elif isinstance(one, list):
            left += reversed([(name, part) for part in one])
        elif isinstance(one, str):
            text = one.strip()
            if _is_address(name, text):
                yield text, name in _EMBEDDED


def _is_address(name: str, text: str) -> bool:
    """Return whether the text of a field is an address, by the field's name or by its form."""
    if text.startswith(_NO_PAGES) or "{" in text or len(text.split()) > 1:
        return False
    if name not in _DATA_NAMES:
        return not name.startswith("@") and text.startswith(("http://", "https://"))
    # A bare word is a name: `"@id": "person-1"`, `"image": "none"`.
    return text.startswith(_SCHEMES) or (name not in _BARE and "." in text)


def imported_addresses(value: Any) -> Iterator[str]:
    """Yield the modules that an import map names; folders are none.

    Source: HTML standard, 8.1.6.2 (import map parsing).
    """
    if not isinstance(value, dict):
        return
    scopes = value.get("scopes")
    for imports in [value.get("imports"), *(scopes.values() if isinstance(scopes, dict) else ())]:
        for module in imports.values() if isinstance(imports, dict) else ():
            if isinstance(module, str) and module[-1:] != "/":
                yield module


def speculated_addresses(value: Any) -> Iterator[str]:
    """Yield the pages that speculation rules list to be loaded ahead.

    Source: HTML standard, 7.6.1 (speculation rules).
    """
    for name in ("prefetch", "prerender", "prerender_until_script"):
        for rule in _parts(value, name) if isinstance(value, dict) else ():
            urls = rule.get("urls")
            for url in urls if isinstance(urls, list) else ():
                if isinstance(url, str):
                    yield url


def manifest_addresses(value: Any) -> Iterator[tuple[str, bool]]:
    """Yield (reference, whether it is an image) of the manifest of a web app."""
    if not isinstance(value, dict):
        return
    start = value.get("start_url")
    if isinstance(start, str):
        yield start, False
    for name in ("icons", "screenshots"):
        yield from _images(value, name)
    for shortcut in _parts(value, "shortcuts"):
        if isinstance(url := shortcut.get("url"), str):
            yield url, False
        yield from _images(shortcut, "icons")


def _images(value: dict[str, Any], name: str) -> Iterator[tuple[str, bool]]:
    for image in _parts(value, name):
        if isinstance(source := image.get("src"), str):
            yield source, True


def _parts(value: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    parts = value.get(name)
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield part
