"""Further elements of a page: those whose links need a look at more than one attribute, or at text.

    <p style="background: url(x.png)">   ("p", {"style": "background: url(x.png)"})
    <style>@import "x.css"</style>       ("style", {"text": '@import "x.css"'})
    <form action=x>                      ("form", {"action": "x"}), its controls, ("/form", {})

Read from tags alone, without a tree, so that a frameset behind content and the inside of a
`<template>` count too. Values are raw: character references stay as they are written.

Invariant: this module defines the behaviour of `shared/native/further.zig`, its fast version;
tests compare the two on any markup.
Source: the tokenizer of the HTML standard, 13.2.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["DATA_WORDS", "PAINTED", "Further", "further_elements", "shown_templates"]

Further = tuple[str, Mapping[str, str]]

LONGEST_NAME: Final = 40  # of a tag or an attribute
MOST_ATTRIBUTES: Final = 24  # of one tag, that count

_OPEN: Final = re.compile(r"<(?:!(--)?|([a-zA-Z][^ \t\n\f\r/>]*)|/([a-zA-Z][^ \t\n\f\r/>]*)|/|\?)")
_COMMENT_END: Final = re.compile(r"--!?>")
_ATTRIBUTE: Final = re.compile(
    r"""([ \t\n\f\r/]*+)(?:(>)|([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)[ \t\n\f\r]*+(?:"""
    r"""(=)[ \t\n\f\r]*+(?:"([^"]*+)"|'([^']*+)'|(["'])|([^ \t\n\f\r>]*+)))?)"""
)
_LOADS: Final = re.compile(
    r"(?:url|src|image|image-set|loader)\(|@import|\\[A-Za-z0-9 \\-]{0,23}\(|@[A-Za-z]{0,8}\\",
    re.IGNORECASE | re.ASCII,
)
"""Functions and rules that load; the last two parts: a name that is written with escapes."""

_CONTROL: Final = re.compile("[\0-\4]")
_SPACE: Final = " \t\n\f\r"
_MODES: Final = ("open", "closed")

_RAW: Final = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE | re.ASCII)
    for name in (*("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"),)
}
_ANYWHERE: Final = frozenset(
    (
        *("archive", "background", "cite", "codebase", "dynsrc", "longdesc"),
        *("lowsrc", "manifest", "ping", "srcdoc", "style", "xlink:href", "implementation"),
        # What scripts load later, without the prefix `data-`.
        *("_src", "file", "lazy-src", "lazysrc", "original", "real-src", "real_src", "zoomfile"),
        *("hx-get", "lazy", "ng-href", "ng-include", "ng-src", "nitro-lazy-src", "up-href"),
        "w3-include-html",
        # What microdata and RDFa speak of.
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

META_WORDS: Final = (
    *("image", "url", "video", "audio", "player", "msapplication", "thumb", "logo", "see_also"),
)


def further_elements(text: str) -> Iterator[Further]:
    """Yield the further elements of a page, in the order of their tags."""
    return _Reader(text).read()


def shown_templates(text: str) -> list[int]:
    """Return where the tags begin of templates that are parts of the page.

    Those are shadow trees that are written out: `<template shadowrootmode=open>`.
    """
    reader = _Reader(text)
    for _ in reader.read():
        pass
    return reader.shown


class _Reader:
    def __init__(self, text: str) -> None:
        self.shown: list[int] = []
        self._text = text
        self._begin = 0
        self._at = 0
        self._in_svg = False
        self._form = ""  # "counts", "other", or "": none is open
        self._in_select = False
        self._in_disabled_group = False
        self._fieldsets = 0  # that are open, from the outermost that is disabled
        self._has_methods: bool | None = None

    def read(self) -> Iterator[Further]:
        text = self._text
        while (match := _OPEN.search(text, self._at)) is not None:
            self._begin, self._at = match.start(), match.end()
            if match[2]:
                yield from self._start_tag(_lower(match[2]))
            elif match[3]:
                yield from self._end_tag(_lower(match[3]))
            elif match[1]:
                yield from self._comment()
            else:
                end = text.find(">", self._at)
                self._at = end + 1 if end >= 0 else len(text)

    def _comment(self) -> Iterator[Further]:
        text, begin = self._text, self._at
        for short in (">", "->"):
            if text.startswith(short, begin):
                self._at += len(short)
                return
        match = _COMMENT_END.search(text, begin)
        if match is None:
            self._at = len(text)
            return
        self._at = match.end()
        comment = text[begin : match.start()]
        if comment.lstrip(_SPACE)[:3].lower() == "[if" and "<" in comment:
            yield from _with_text("!--", {}, comment)

    def _attributes(self) -> dict[str, str | None] | None:
        """Pass a tag's attributes; return the first of each name, None where the page ends.

        The key "/" is there where the tag closes itself.
        """
        found: dict[str, str | None] = {}
        while (match := _ATTRIBUTE.match(self._text, self._at)) is not None:
            self._at = match.end()
            if match[2]:
                if match[1].endswith("/"):
                    found["/"] = None
                return found
            if match[7] or self._at == len(self._text):  # a quote that nothing ends, or the page
                break
            value = None
            if match[4]:
                value = match[5] or match[6] or match[8] or ""
            found.setdefault(_lower(match[3]), value)
        self._at = len(self._text)
        return None

    def _start_tag(self, tag: str) -> Iterator[Further]:
        attributes = self._attributes()
        if attributes is None:
            return
        closed = "/" in attributes
        if tag == "template" and (attributes.get("shadowrootmode") or "").lower() in _MODES:
            self.shown.append(self._begin)
        kept, counts = _kept(tag, attributes)
        yield from self._element(tag, attributes, kept, counts)
        raw = _RAW.get(tag)
        if tag == "svg":
            self._in_svg = self._in_svg or not closed
        elif tag == "plaintext":
            self._at = len(self._text)
        elif raw is not None and not (self._in_svg and closed):
            yield from self._raw(tag, raw, attributes, kept)

    def _element(
        self, tag: str, attributes: Mapping[str, str | None], kept: dict[str, str], counts: bool
    ) -> Iterator[Further]:
        match tag:
            case "form":
                if not self._form:
                    method = (attributes.get("method") or "").strip(_SPACE).lower()
                    is_posted = method in ("post", "dialog")
                    self._form = "other" if is_posted and not self._may_have_methods() else "counts"
                    counts = counts or self._form == "counts"
            case "input" | "button":
                counts = counts or self._form == "counts" or "form" in attributes
            case "select":
                self._in_select = (
                    self._form == "counts" or "onchange" in attributes or "form" in attributes
                )
                self._in_disabled_group = False
                counts = counts or self._in_select
            case "optgroup":
                is_disabled = "disabled" in attributes
                if self._in_select and (is_disabled or self._in_disabled_group):
                    self._in_disabled_group = is_disabled
                    counts = True
            case "fieldset":
                if self._fieldsets or "disabled" in attributes:
                    self._fieldsets += 1
                    counts = True
            case "legend":
                counts = counts or self._fieldsets > 0
            case "option":
                if self._in_select:
                    counts = True
                    if "value" not in kept and "value" not in attributes:
                        end = self._text.find("<", self._at)
                        text = self._text[self._at : end if end >= 0 else None]
                        if not _CONTROL.search(text):
                            kept["text"] = text
            case "meta":
                named = (attributes.get(name) for name in ("property", "itemprop", "name"))
                names = [name.lower() for name in named if name]
                counts = counts or (
                    "content" in kept
                    and (
                        "<" in kept["content"]
                        or kept["content"].startswith(("http://", "https://"))
                        or any(word in one for word in META_WORDS for one in names)
                    )
                )
            case "textarea":
                return  # with its text
        if counts:
            yield tag, kept

    def _raw(
        self,
        tag: str,
        raw: re.Pattern[str],
        attributes: Mapping[str, str | None],
        kept: dict[str, str],
    ) -> Iterator[Further]:
        match = raw.search(self._text, self._at)
        end = match.start() if match else len(self._text)
        text = self._text[self._at : end]
        self._at = end
        match tag:
            case "style":
                if _LOADS.search(text):
                    yield from _with_text(tag, {}, text)
            case "script":
                if "'" in text or '"' in text or "`" in text:
                    kind = attributes.get("type")
                    plain = kind is None or _CONTROL.search(kind)
                    yield from _with_text(
                        tag, {} if plain or kind is None else {"type": kind}, text
                    )
            case "textarea":
                if self._form == "counts" or "form" in attributes:
                    yield from _with_text(tag, kept, text)
            case "noframes" | "noembed":
                if "<" in text:
                    yield from _with_text(tag, {}, text)

    def _end_tag(self, tag: str) -> Iterator[Further]:
        if self._attributes() is None:
            return
        match tag:
            case "svg":
                self._in_svg = False
            case "form":
                if self._form == "counts":
                    yield "/form", {}
                self._form = ""
            case "select":
                if self._in_select:
                    yield "/select", {}
                self._in_select = False
            case "optgroup":
                if self._in_select and self._in_disabled_group:
                    self._in_disabled_group = False
                    yield "/optgroup", {}
            case "fieldset":
                if self._fieldsets:
                    self._fieldsets -= 1
                    yield "/fieldset", {}
            case "legend":
                if self._fieldsets:
                    yield "/legend", {}

    def _may_have_methods(self) -> bool:
        """Return whether a button may send a form in another way than the form says."""
        if self._has_methods is None:
            self._has_methods = "formmethod" in self._text.lower()
        return self._has_methods


def _with_text(tag: str, attributes: dict[str, str], text: str) -> Iterator[Further]:
    if not _CONTROL.search(text):
        yield tag, attributes | {"text": text}


def _lower(name: str) -> str:
    """Return a name in lower case; "" for one that is none that counts."""
    if len(name) > LONGEST_NAME or not name.isascii() or _CONTROL.search(name):
        return ""
    return name.lower()


def _kept(tag: str, attributes: Mapping[str, str | None]) -> tuple[dict[str, str], bool]:
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
    if _CONTROL.search(value):
        return False
    if not general:
        return True
    if name == "style":
        return _LOADS.search(value) is not None
    if name in PAINTED:
        return _LOADS.search(value) is not None and "url(#" not in value.lower()
    if name[:2] == "on":
        return any(quote in value for quote in "'\"`&")
    return bool(value)
