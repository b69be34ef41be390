"""The attributes of complex elements: which of a tag count, and whether they make the tag count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["CONTROL", "DATA_WORDS", "LAZY_WITHOUT_DATA", "LOADS", "PAINTED", "kept_attributes"]

MOST_ATTRIBUTES: Final = 24  # of one tag, that count

LOADS: Final = re.compile(
    r"(?:url|src|image|image-set|loader)\(|@import|\\[A-Za-z0-9 \\-]{0,23}\(|@[A-Za-z]{0,8}\\",
    re.IGNORECASE | re.ASCII,
)
"""Functions and rules that load; the last two parts: a name that is written with escapes."""

CONTROL: Final = re.compile("[\0-\4]")

LAZY_WITHOUT_DATA: Final = frozenset(
    (
        *("_src", "file", "lazy-src", "lazysrc", "original", "real-src", "real_src", "zoomfile"),
        *("hx-get", "lazy", "ng-href", "ng-include", "ng-src", "nitro-lazy-src", "up-href"),
        "w3-include-html",
    )
)
"""Attributes that scripts load later, without the prefix `data-`."""

_ANYWHERE: Final = LAZY_WITHOUT_DATA | frozenset(
    (
        *("archive", "background", "cite", "codebase", "dynsrc", "longdesc"),
        *("lowsrc", "manifest", "ping", "srcdoc", "style", "xlink:href", "implementation"),
        # Subjects of microdata and RDFa.
        *("about", "itemid", "resource"),
    )
)
PAINTED: Final = frozenset(
    (
        *("clip-path", "cursor", "fill", "filter", "marker-end", "marker-mid", "marker-start"),
        *("mask", "stroke"),
    )
)
"""Attributes of drawings that may load another file."""

_CONTROLS: Final = frozenset(
    (
        *("checked", "dir", "dirname", "disabled", "form", "formaction", "formmethod", "max"),
        *("min", "multiple", "name", "step", "type", "value"),
    )
)
_GROUP: Final = frozenset(("disabled",))
_SOURCE: Final = frozenset(("src",))
_HREF: Final = frozenset(("href",))
_OF_TAG: Final = {
    "image": _HREF,
    "use": _HREF,
    "feimage": _HREF,
    "script": _HREF,
    **dict.fromkeys(("lineargradient", "mpath", "pattern", "radialgradient", "textpath"), _HREF),
    "param": frozenset(("name", "value", "valuetype")),
    "meta": frozenset(("content", "itemprop", "name", "property")),
    "isindex": frozenset(("action", "href")),
    "frame": _SOURCE,
    "bgsound": _SOURCE,
    "layer": _SOURCE,
    "ilayer": _SOURCE,
    "portal": _SOURCE,
    "fencedframe": _SOURCE,
    "applet": frozenset(("code", "object")),
    "object": frozenset(("data",)),
    "form": frozenset(("accept-charset", "action", "dir", "id", "method", "rel")),
    "input": _CONTROLS,
    "button": _CONTROLS,
    "select": frozenset(("disabled", "form", "multiple", "name", "size")),
    "option": frozenset(("disabled", "selected", "value")),
    "textarea": frozenset(("dir", "dirname", "disabled", "form", "name")),
    "fieldset": _GROUP,
    "optgroup": _GROUP,
}
_CUSTOM: Final = frozenset(("href", "poster", "src", "srcset"))
_WEAK: Final = frozenset(
    (
        *("button", "fieldset", "form", "input", "meta", "object", "optgroup", "option"),
        *("select", "textarea"),
    )
)
"""Tags whose own attributes alone do not make them count."""

DATA_WORDS: Final = (
    *("src", "bg", "back", "image", "img", "lazy", "original", "thumb", "poster", "photo"),
    *("full", "large", "zoom", "hires", "retina", "video", "audio", "href", "url", "link"),
    *("echo", "media", "file", "source", "mp4", "webm", "2x", "mobile", "desktop"),
)
PATHS: Final = ("/", "./", "../", "http://", "https://")
"""How a value begins with which any `data-` attribute counts; else its name must have a word."""


def kept_attributes(tag: str, attributes: Mapping[str, str | None]) -> tuple[dict[str, str], bool]:
    """Return the attributes of a tag that count, and whether they make the tag count."""
    own = _OF_TAG.get(tag) or (_CUSTOM if "-" in tag or ":" in tag else ())
    kept: dict[str, str] = {}
    counts = False
    left = MOST_ATTRIBUTES
    for name, value in attributes.items():
        general = _is_general(name, value or "")
        if not (general or name in own):
            continue
        if not left:
            break
        left -= 1
        if _is_kept(name, value or "", general and name not in own):
            kept[name] = value or ""
            counts = counts or (tag not in _WEAK or name not in own)
    return kept, counts


def _is_general(name: str, value: str) -> bool:
    if name[:5] == "data-":
        is_json = value[:1] in ("{", "[") and "/" in value
        return is_json or value.startswith(PATHS) or any(word in name[5:] for word in DATA_WORDS)
    return name in _ANYWHERE or name in PAINTED or (name[:2] == "on" and len(name) > 2)


def _is_kept(name: str, value: str, general: bool) -> bool:
    if CONTROL.search(value):
        return False
    if not general:
        return True
    if name == "style":
        return LOADS.search(value) is not None
    if name in PAINTED:
        return LOADS.search(value) is not None and "url(#" not in value.lower()
    if name[:2] == "on":
        return any(quote in value for quote in "'\"`&")
    return bool(value)
