"""Makes of a GET form the references that a browser goes to if nobody fills anything in.

    <form action=x><input name=a value=1><select name=s><option>p<option>q</select></form>
        x?a=1&s=p   x?a=1&s=q

Where one `<select>` stands alone beside values that are given, each of its options is a page; else
the chosen option counts, or the first. A form in which everything is left for a reader to write
has no default: only its `action` is a link, which `links.py` takes.
Source: HTML standard, 4.10.21.4 (entry list), 4.10.10.3 (placeholder and chosen option).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agent.modules.page.encodings import encoded
from agent.modules.page.labels import codec_of
from agent.modules.page.references import resolved

__all__ = ["FormReader"]

MOST_CONTROLS: Final = 50
MOST_OPTIONS: Final = 500
_SPACE: Final = " \t\n\f\r"
_WRITTEN: Final = frozenset(("text", "search", "email", "url", "tel", "password", "number", "date"))
_NO_VALUE: Final = frozenset(("button", "reset", "file", "image"))


@dataclass(slots=True)
class _Select:
    name: str
    is_multiple: bool
    options: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)


class FormReader:
    """Takes the further elements of a page in order, gives the references of its GET forms."""

    def __init__(self) -> None:
        self._action: str | None = None
        self._codec = ""  # of its accept-charset; "": the page's
        self._controls: list[tuple[str, str] | _Select] = []
        self._select: _Select | None = None
        self._has_default = False
        self._has_submit = False

    def take(self, tag: str, attributes: Mapping[str, str]) -> Iterator[str]:
        """Take an element; yield the references of the form that it ends."""
        match tag:
            case "form":
                yield from self.end()
                follows = "nofollow" not in attributes.get("rel", "").lower().split()
                self._begin(resolved(attributes.get("action", "")) if follows else None)
                labels = resolved(attributes.get("accept-charset", "")).split()
                self._codec = next(filter(None, map(codec_of, labels)), "")
            case "/form":
                yield from self.end()
            case "input":
                self._input(attributes)
            case "button":
                if attributes.get("type", "submit").lower() == "submit":
                    self._submit(attributes)
            case "textarea":
                self._give(attributes, resolved(attributes["text"]).removeprefix("\n"), "text")
            case "select":
                self._select = None
                if attributes.get("name") and "disabled" not in attributes:
                    name = resolved(attributes["name"])
                    self._select = _Select(name, "multiple" in attributes)
                    self._controls.append(self._select)
            case "/select":
                self._select = None
            case "option":
                self._option(attributes)

    def sends_by_get(self, method: str | None) -> bool:
        """Return whether a button with a `formmethod` sends the open form by GET."""
        if method is not None:
            return method.strip(_SPACE).lower() == "get"
        return self._action is not None

    def end(self) -> Iterator[str]:
        """Yield the references of the open form; there is none open after it."""
        action, controls = self._action, self._controls[:MOST_CONTROLS]
        has_default, codec = self._has_default, self._codec
        self._begin(None)
        if action is None or not (has_default or any(isinstance(one, _Select) for one in controls)):
            return
        selects = [one for one in controls if isinstance(one, _Select) and one.options]
        alone = selects[0] if len(selects) == 1 else None
        for option in alone.options[:MOST_OPTIONS] if alone else [""]:
            pairs: list[tuple[str, str]] = []
            for one in controls:
                if one is alone and alone:
                    pairs.append((alone.name, option))
                elif isinstance(one, _Select):
                    chosen = one.chosen or ([] if one.is_multiple else one.options[:1])
                    pairs += ((one.name, value) for value in chosen)
                else:
                    pairs.append(one)
            if pairs:
                query = _query(pairs)
                if codec and not query.isascii():
                    query = _in_encoding(query, codec)
                yield f"{action.partition('#')[0].partition('?')[0]}?{query}"

    def _begin(self, action: str | None) -> None:
        self._action = action
        self._codec = ""
        self._controls = []
        self._select = None
        self._has_default = self._has_submit = False

    def _input(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "text").strip(_SPACE).lower()
        if kind in ("checkbox", "radio"):
            if "checked" in attributes:
                self._give(attributes, resolved(attributes.get("value", "on")), kind)
        elif kind == "submit":
            self._submit(attributes)
        elif kind not in _NO_VALUE:
            self._give(attributes, resolved(attributes.get("value", "")), kind)

    def _submit(self, attributes: Mapping[str, str]) -> None:
        """Take the first button: it is the one that the enter key presses."""
        if not self._has_submit:
            self._has_submit = True
            if attributes.get("name"):
                self._controls.append(
                    (resolved(attributes["name"]), resolved(attributes.get("value", "")))
                )

    def _give(self, attributes: Mapping[str, str], value: str, kind: str) -> None:
        if "disabled" in attributes or not attributes.get("name"):
            return
        self._controls.append((resolved(attributes["name"]), value))
        self._has_default = self._has_default or bool(value) or kind not in _WRITTEN

    def _option(self, attributes: Mapping[str, str]) -> None:
        if self._select is None or "disabled" in attributes:
            return
        value = attributes.get("value")
        text = " ".join(attributes.get("text", "").split()) if value is None else value
        self._select.options.append(resolved(text))
        if "selected" in attributes:
            self._select.chosen.append(resolved(text))


def _query(pairs: list[tuple[str, str]]) -> str:
    return "&".join(f"{_escaped(name)}={_escaped(value)}" for name, value in pairs)


def _in_encoding(query: str, codec: str) -> str:
    """Return an escaped query whose other characters are in the encoding that the form asks for."""
    return _TO_ESCAPE.sub(lambda one: b"%%%02X" % one[0][0], encoded(query, codec)).decode("ascii")


_TO_ESCAPE: Final = re.compile(rb"[^A-Za-z0-9*._+%&=-]")
_ESCAPES: Final = {ord(mark): f"%{ord(mark):02X}" for mark in "%&=+#?\"'<>;,/:@$!()[]{}|\\^`~"} | {
    ord(" "): "+",
    ord("\n"): "%0D%0A",
    ord("\r"): "",
    ord("\t"): "%09",
}


def _escaped(text: str) -> str:
    """Return a text as a form is sent; what is not ASCII is encoded with the URL."""
    return text.translate(_ESCAPES)
