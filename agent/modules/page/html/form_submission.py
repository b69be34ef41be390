"""A form with its controls, and the references that a browser goes to when it is sent unchanged.

    <form action=x><input name=a value=1><select name=s><option>p<option>q</select></form>
        x?a=1&s=p   x?a=1&s=q

Where one `<select>` stands alone beside values that are given, each of its options is a page; else
the chosen option counts, or the first. Each button that sends the form by GET is a way to send it,
with its own name and `formaction`. A form in which everything is left for a reader to write has no
default: only its action is a link.
Names and values are written as `application/x-www-form-urlencoded`: `q=x+y&%E6%97%A5=1%0D%0A2`. In
another encoding than UTF-8 what that lacks becomes `&#N;`, escaped like any other text.
Source: HTML standard, 4.10.21.3 (form submission), 4.10.21.4 (entry list), 4.10.21.8 (line breaks),
4.10.7 (select); WHATWG URL, 5.2 (serializer).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from agent.modules.page.encodings import encoded, is_unicode
from agent.modules.page.encodings.encoding_labels import encoding_name
from agent.modules.page.html.attribute_values import resolved
from agent.pipeline.link_kinds import LinkKind

__all__ = [
    "Button",
    "Control",
    "Entry",
    "Fieldset",
    "Form",
    "Pair",
    "Select",
    "is_get",
    "references_of",
]

LONGEST_QUERY: Final = 8192
_SPACE: Final = " \t\n\f\r"

Pair = tuple[str, str | None]
"""A name and its value; None: the name of the encoding that the form is sent in."""

_LINE_BREAK: Final = re.compile(r"\r\n?|\n")
_PLAIN: Final = re.compile(r"[A-Za-z0-9*._-]*")
_RUN: Final = re.compile(r"[\0-\x7f]+|[^\0-\x7f]+")
_TO_ESCAPE: Final = re.compile(rb"[^A-Za-z0-9*._ -]")
_LACKING: Final = b"%26%23"
"""How `encoded` begins what an encoding lacks."""


@dataclass(slots=True)
class Entry:
    """A control. pairs: names and values that it sends by itself.

    group: the name of a checked radio button: the last of its group counts. is_given: it has a
    value. is_written: a reader is to write one.
    """

    pairs: list[Pair] = field(default_factory=list)
    group: str = ""
    is_given: bool = False
    is_written: bool = False


@dataclass(slots=True)
class Button:
    """A button that sends its form. action, is_get: None where it does as its form."""

    pairs: list[Pair]
    action: str | None
    is_get: bool | None


@dataclass(slots=True)
class Select:
    """A `<select>`. shows_one: its first option is chosen where none is."""

    name: str
    is_multiple: bool
    shows_one: bool
    options: list[tuple[str, bool, bool]] = field(default_factory=list)  # value, disabled, selected

    def usable(self) -> list[str]:
        """Return the values of its options that can be chosen."""
        return [value for value, is_disabled, _ in self.options if not is_disabled]

    def chosen(self) -> list[str]:
        """Return the values that it sends."""
        selected = [one for one in self.options if one[2]]
        if not self.is_multiple:
            if not selected and self.shows_one:
                return self.usable()[:1]
            selected = selected[-1:]
        return [value for value, is_disabled, _ in selected if not is_disabled]


@dataclass(slots=True)
class Fieldset:
    """A fieldset that is open, and whether its first legend is, in which nothing is disabled."""

    is_disabled: bool
    in_legend: bool = False
    had_legend: bool = False

    def pass_legend(self, *, is_end: bool) -> None:
        """Take the begin or end of a legend."""
        self.in_legend = not is_end and not self.had_legend
        self.had_legend = True


Control = Entry | Select | Button


@dataclass(slots=True)
class Form:
    """A form with its controls and their places on the page."""

    action: str | None  # None: it is not to be followed
    is_get: bool
    codec: str
    direction: str
    controls: list[tuple[int, Control]] = field(default_factory=list)


def references_of(form: Form, document: str) -> Iterator[tuple[str, int]]:
    """Yield where the buttons of a form send it, and where it goes without one; with kinds.

    document: the URL of the page, to which a form without an action goes.
    """
    controls = [control for _, control in form.controls]
    buttons = [one for one in controls if isinstance(one, Button)]
    selects = [one for one in controls if isinstance(one, Select) and one.options]
    entries = [one for one in controls if isinstance(one, Entry)]
    is_given = bool(selects) or any(one.is_given for one in entries)
    has_default = is_given or not any(one.is_written for one in entries)
    is_first = True
    ways: list[Button | None] = [*buttons] if buttons else [None]
    for button in ways:
        by_get = button.is_get if button and button.is_get is not None else form.is_get
        if not by_get:
            continue
        of_its_own = button is not None and (button.action is not None or not form.is_get)
        action = form.action if button is None or button.action is None else button.action
        address = _address(action or "", document)
        if of_its_own and address:
            yield address, LinkKind.FORM
        if has_default:
            alone = selects[0] if len(selects) == 1 and is_first else None
            for query in _queries(form, controls, button, alone):
                yield f"{address}?{query}", LinkKind.FORM_VALUES
        is_first = False


def _address(action: str, document: str) -> str:
    """Return what the query of a form is put behind; without an action, its own page."""
    if not action.strip(_SPACE):
        return document
    return action.partition("#")[0].partition("?")[0]


def is_get(method: str) -> bool:
    """Return whether a method is GET, as each is that no browser knows."""
    return resolved(method).strip(_SPACE).lower() not in ("post", "dialog")


def _queries(
    form: Form,
    controls: list[Control],
    button: Button | None,
    alone: Select | None,
) -> Iterator[str]:
    """Yield what a form sends by a button: once for each option of a select that stands alone."""
    last = {one.group: one for one in controls if isinstance(one, Entry) and one.group}
    charset = encoding_name(form.codec)
    parts: list[list[Pair]] = [[]]
    for one in controls:
        if one is alone:
            parts.append([])
        elif isinstance(one, Select):
            parts[-1] += [(one.name, value) for value in one.chosen()]
        elif isinstance(one, Button):
            parts[-1] += one.pairs if one is button else []
        elif not one.group or last[one.group] is one:
            parts[-1] += [(name, charset if value is None else value) for name, value in one.pairs]
    if sum(len(value or "") for part in parts for _, value in part) > LONGEST_QUERY:
        return
    written = [_query_of(part, form.codec) for part in parts]
    if sum(map(len, written)) > LONGEST_QUERY:
        return
    if alone is None or len(written) == 1:
        if written[0]:
            yield written[0]
        return
    for option in alone.usable():
        middle = _query_of([(alone.name, option)], form.codec)
        yield "&".join(filter(None, (written[0], middle, written[1])))


def _query_of(pairs: Iterable[Pair], codec: str) -> str:
    """Return a query in ASCII. codec: the encoding of the form, as `codec_of` names it."""
    return "&".join(f"{_part(name, codec)}={_part(value or '', codec)}" for name, value in pairs)


def _part(text: str, codec: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    text = _LINE_BREAK.sub("\r\n", text)
    if is_unicode(codec) or text.isascii():
        return _escaped(text.encode("utf-8", "replace"))
    return "".join(
        _escaped(run.encode()) if run.isascii() else _in_encoding(run, codec)
        for run in _RUN.findall(text)
    )


def _in_encoding(run: str, codec: str) -> str:
    """Return characters beyond ASCII; those that the encoding lacks are escaped already."""
    parts = []
    for lacks, ones in groupby(run, lambda one: encoded(one, codec).startswith(_LACKING)):
        octets = encoded("".join(ones), codec)
        parts.append(octets.decode("ascii") if lacks else _escaped(octets))
    return "".join(parts)


def _escaped(octets: bytes) -> str:
    return (
        _TO_ESCAPE.sub(lambda one: b"%%%02X" % one[0][0], octets).decode("ascii").replace(" ", "+")
    )
