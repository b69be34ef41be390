"""Complex elements of a page: those whose links need a look at more than one attribute, or at text.

    <p style="background: url(x.png)">   ("p", {"style": "background: url(x.png)"})
    <style>@import "x.css"</style>       ("style", {"text": '@import "x.css"'})
    <form action=x>                      ("form", {"action": "x"}), its controls, ("/form", {})

Read from tags alone, without a tree, so that a frameset behind content and the inside of a
`<template>` count too. Values are raw: character references stay as they are written.

Invariant: this module and `complex_attributes.py` define the behaviour of
`shared/native/complex_elements.zig`, their fast version; tests compare the two on any markup.
Source: the tokenizer of the HTML standard, 13.2.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from agent.modules.page.html.complex_attributes import CONTROL, LOADS, kept_attributes

__all__ = ["ComplexElement", "read_complex_elements", "shown_templates"]

ComplexElement = tuple[str, Mapping[str, str]]

LONGEST_NAME: Final = 40  # of a tag or an attribute

_OPEN: Final = re.compile(r"<(?:!(--)?|([a-zA-Z][^ \t\n\f\r/>]*)|/([a-zA-Z][^ \t\n\f\r/>]*)|/|\?)")
_COMMENT_END: Final = re.compile(r"--!?>")
_ATTRIBUTE: Final = re.compile(
    r"""([ \t\n\f\r/]*+)(?:(>)|([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)[ \t\n\f\r]*+(?:"""
    r"""(=)[ \t\n\f\r]*+(?:"([^"]*+)"|'([^']*+)'|(["'])|([^ \t\n\f\r>]*+)))?)"""
)
_SPACE: Final = " \t\n\f\r"
_MODES: Final = ("open", "closed")

_RAW: Final = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE | re.ASCII)
    for name in (*("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"),)
}
META_WORDS: Final = (
    *("image", "url", "video", "audio", "player", "msapplication", "thumb", "logo", "see_also"),
)


def read_complex_elements(text: str) -> Iterator[ComplexElement]:
    """Yield the complex elements of a page, in the order of their tags."""
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

    def read(self) -> Iterator[ComplexElement]:
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

    def _comment(self) -> Iterator[ComplexElement]:
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

    def _start_tag(self, tag: str) -> Iterator[ComplexElement]:
        attributes = self._attributes()
        if attributes is None:
            return
        closed = "/" in attributes
        if tag == "template" and (attributes.get("shadowrootmode") or "").lower() in _MODES:
            self.shown.append(self._begin)
        kept, counts = kept_attributes(tag, attributes)
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
    ) -> Iterator[ComplexElement]:
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
                        if not CONTROL.search(text):
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
    ) -> Iterator[ComplexElement]:
        match = raw.search(self._text, self._at)
        end = match.start() if match else len(self._text)
        text = self._text[self._at : end]
        self._at = end
        match tag:
            case "style":
                if LOADS.search(text):
                    yield from _with_text(tag, {}, text)
            case "script":
                if "'" in text or '"' in text or "`" in text:
                    kind = attributes.get("type")
                    plain = kind is None or CONTROL.search(kind)
                    yield from _with_text(
                        tag, {} if plain or kind is None else {"type": kind}, text
                    )
            case "textarea":
                if self._form == "counts" or "form" in attributes:
                    yield from _with_text(tag, kept, text)
            case "noframes" | "noembed":
                if "<" in text:
                    yield from _with_text(tag, {}, text)

    def _end_tag(self, tag: str) -> Iterator[ComplexElement]:
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


def _with_text(tag: str, attributes: dict[str, str], text: str) -> Iterator[ComplexElement]:
    if not CONTROL.search(text):
        yield tag, attributes | {"text": text}


def _lower(name: str) -> str:
    """Return a name in lower case; "" for one that is none that counts."""
    if len(name) > LONGEST_NAME or not name.isascii() or CONTROL.search(name):
        return ""
    return name.lower()
