"""Takes the controls of a page's forms, in the order of its complex elements.

    <form id=f><input type=hidden name=a value=1></form><button form=f formaction=y>
        y   y?a=1

A control belongs to the form that its `form` names by id, wherever it stands, else to the form
around it; one whose `form` names none belongs to none.
Invariant: what a disabled control or `<fieldset>` holds is not sent, and no button there sends it.
Controls within `<datalist>` count: the standard leaves them out, Chromium sends them.
Source: HTML standard, 4.10.21.4 (entry list), 4.10.18.3 (form owner), 4.10.15 (fieldset).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.page.html.attribute_values import resolved
from agent.modules.page.html.form_controls import IS_WRITTEN, direction_of, input_type, input_value
from agent.modules.page.html.form_submission import (
    Button,
    Control,
    Entry,
    Fieldset,
    Form,
    Pair,
    Select,
    is_get,
    references_of,
)

__all__ = ["FormReader"]

MOST_CONTROLS: Final = 50
MOST_OPTIONS: Final = 500
MOST_CHARACTERS: Final = 4_000_000
"""Of the references of all forms of a page: small forms can name the product of their parts."""
_SPACE: Final = " \t\n\f\r"
_NO_VALUE: Final = frozenset(("reset", "file", "button"))

Attributes = Mapping[str, str]


class FormReader:
    """Takes the complex elements of a page in order, gives the references of its forms.

    codec: of the page. document: the URL of the page without its query; "": it has none.
    """

    def __init__(self, codec: str = "utf-8", document: str = "") -> None:
        self._codec = codec
        self._document = document
        self._forms: list[Form] = []
        self._by_id: dict[str, Form] = {}
        self._open: Form | None = None
        self._select: Select | None = None
        self._in_disabled_group = False
        self._fieldsets: list[Fieldset] = []
        self._elsewhere: list[tuple[str, int, Control]] = []  # by the id of their form
        self._count = 0

    def take(self, tag: str, attributes: Attributes) -> None:
        """Take an element; those that are no part of a form are passed."""
        match tag:
            case "form":
                self._begin(attributes)
            case "/form":
                self._open = None
            case "input":
                self._input(attributes)
            case "button":
                kind = resolved(attributes.get("type", "submit")).lower()
                if kind not in ("button", "reset"):
                    self._submit(attributes, resolved(attributes.get("value", "")))
            case "textarea":
                text = resolved(attributes["text"])
                self._give(attributes, text.replace("\r\n", "\n").removeprefix("\n"), "text")
            case "select":
                self._begin_select(attributes)
            case "/select":
                self._select = None
            case "optgroup" | "/optgroup":
                self._in_disabled_group = "disabled" in attributes
            case "option":
                self._option(attributes)
            case "fieldset":
                self._fieldsets.append(Fieldset("disabled" in attributes))
            case "/fieldset":
                self._fieldsets = self._fieldsets[:-1]
            case "legend" | "/legend":
                if self._fieldsets:
                    self._fieldsets[-1].pass_legend(is_end=tag == "/legend")

    def end(self) -> Iterator[tuple[str, int]]:
        """Yield the references of all forms, with their kinds, up to `MOST_CHARACTERS`."""
        for name, place, control in self._elsewhere:
            form = self._by_id.get(name)
            if form is not None:
                self._add(form, place, control)
        left = MOST_CHARACTERS
        for form in self._forms:
            if form.action is None or not form.controls:
                continue
            form.controls.sort(key=lambda one: one[0])
            for reference, kind in references_of(form, self._document):
                left -= len(reference)
                if left < 0:
                    return
                yield reference, kind

    def _begin(self, attributes: Attributes) -> None:
        follows = "nofollow" not in resolved(attributes.get("rel", "")).lower().split()
        action = resolved(attributes.get("action", "")) if follows else None
        labels = resolved(attributes.get("accept-charset", "")).split()
        codec = next(filter(None, map(codec_of, labels)), "") or self._codec
        by_get = is_get(attributes.get("method", ""))
        self._open = Form(action, by_get, codec, resolved(attributes.get("dir", "")))
        self._forms.append(self._open)
        name = resolved(attributes.get("id", ""))
        if name:
            self._by_id.setdefault(name, self._open)

    def _is_disabled(self, attributes: Attributes) -> bool:
        """Return whether a control is: by itself, or by a fieldset around it but for its legend."""
        return "disabled" in attributes or any(
            one.is_disabled and not one.in_legend for one in self._fieldsets
        )

    def _input(self, attributes: Attributes) -> None:
        kind = input_type(attributes)
        if kind in ("submit", "image"):
            self._submit(attributes, resolved(attributes.get("value", "")), kind)
        elif kind in ("checkbox", "radio"):
            if "checked" in attributes:
                self._give(attributes, resolved(attributes.get("value", "on")), kind)
        elif kind not in _NO_VALUE:
            self._give(attributes, input_value(kind, attributes), kind)

    def _submit(self, attributes: Attributes, value: str, kind: str = "submit") -> None:
        if self._is_disabled(attributes):
            return
        # An image sends where it was pressed, which leads nowhere else.
        name = resolved(attributes.get("name", "")) if kind == "submit" else ""
        method, action = attributes.get("formmethod"), attributes.get("formaction")
        button = Button(
            self._with_direction(attributes, name, value) if name else [],
            None if action is None else resolved(action),
            None if method is None else is_get(method),
        )
        self._put(attributes, button)

    def _give(self, attributes: Attributes, value: str, kind: str) -> None:
        """Take a control that sends a value."""
        name = resolved(attributes.get("name", ""))
        group = name if kind == "radio" else ""
        if self._is_disabled(attributes):
            if group:  # no other of its group is checked
                self._put(attributes, Entry(group=group))
            return
        if name.lower() == "_charset_" and kind == "hidden":
            self._put(attributes, Entry([(name, None)]))  # its value is known when the form is
            return
        pairs = self._with_direction(attributes, name, value) if name else []
        is_written = kind in IS_WRITTEN
        is_given = bool(name) and (bool(value) or not is_written)
        self._put(attributes, Entry(pairs, group, is_given, is_written))

    def _with_direction(self, attributes: Attributes, name: str, value: str) -> list[Pair]:
        pairs: list[Pair] = [(name, value)]
        direction_name = resolved(attributes.get("dirname", ""))
        if direction_name and input_type(attributes) in _WITH_DIRECTION:
            around = self._open.direction if self._open else ""
            written = resolved(attributes.get("dir", ""))
            pairs.append((direction_name, direction_of(written, value, around)))
        return pairs

    def _begin_select(self, attributes: Attributes) -> None:
        self._select, self._in_disabled_group = None, False
        name = resolved(attributes.get("name", ""))
        if name and not self._is_disabled(attributes):
            is_multiple, size = "multiple" in attributes, attributes.get("size", "").strip(_SPACE)
            shows_one = not is_multiple and size.lstrip("0") in ("", "1")
            self._select = Select(name, is_multiple, shows_one or not size.isdecimal())
            self._put(attributes, self._select)

    def _option(self, attributes: Attributes) -> None:
        if self._select is None or len(self._select.options) >= MOST_OPTIONS:
            return
        value = attributes.get("value")
        text = " ".join(attributes.get("text", "").split()) if value is None else value
        is_disabled = self._in_disabled_group or "disabled" in attributes
        self._select.options.append((resolved(text), is_disabled, "selected" in attributes))

    def _put(self, attributes: Attributes, control: Control) -> None:
        """Give a control to its form; one that is named by id may stand behind."""
        self._count += 1
        name = attributes.get("form")
        if name is not None:
            self._elsewhere.append((resolved(name), self._count, control))
        elif self._open is not None:
            self._add(self._open, self._count, control)

    def _add(self, form: Form, place: int, control: Control) -> None:
        if len(form.controls) < MOST_CONTROLS:
            form.controls.append((place, control))


_WITH_DIRECTION: Final = frozenset(
    ("hidden", "text", "search", "tel", "url", "email", "password", "submit", "button", "reset")
)
