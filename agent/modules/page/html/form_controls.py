"""Default values of a form's controls, as a browser sends them.

    <input name=a value=" x ">                      " x "
    <input type=url value=" http://x ">             "http://x"
    <input type=number value=abc>                   "": it is no number
    <input type=range max=10>                       "5"
    <input type=color>                              "#000000"
    <input dirname=d dir=rtl>                       "rtl", under the name `d`

Source: HTML standard, 4.10.5.1 (value sanitization by type), 4.10.19.2 (dirname), 3.2.6.4 (dir).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from agent.modules.page.html.attribute_values import resolved

__all__ = ["IS_WRITTEN", "direction_of", "input_type", "input_value"]

_SPACE: Final = " \t\n\f\r"

IS_WRITTEN: Final = frozenset(
    (
        *("text", "search", "email", "url", "tel", "password", "number"),
        *("date", "month", "week", "time", "datetime-local"),
    )
)
"""Types of `<input>` that a reader writes in."""

_TYPES: Final = IS_WRITTEN | frozenset(
    (
        *("hidden", "range", "color", "checkbox", "radio", "file"),
        *("submit", "image", "reset", "button"),
    )
)
_LINE_BREAKS: Final = {ord("\n"): None, ord("\r"): None}
_NUMBER: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,3})?)?"
_DAY: Final = r"[0-9]{4,6}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_MUST_BE: Final = {
    "number": _NUMBER,
    "date": re.compile(_DAY),
    "month": re.compile(r"[0-9]{4,6}-(?:0[1-9]|1[0-2])"),
    "week": re.compile(r"[0-9]{4,6}-W(?:0[1-9]|[1-4][0-9]|5[0-3])"),
    "time": re.compile(_TIME),
    "datetime-local": re.compile(rf"{_DAY}[T ]{_TIME}"),
}
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")


def input_type(attributes: Mapping[str, str]) -> str:
    """Return the type of an `<input>`; one that no browser knows is a text."""
    kind = resolved(attributes.get("type", "")).lower()
    return kind if kind in _TYPES else "text"


def input_value(kind: str, attributes: Mapping[str, str]) -> str:
    """Return the value of an `<input>` of a type."""
    value = resolved(attributes.get("value", ""))
    if kind in _MUST_BE:
        value = value if _MUST_BE[kind].fullmatch(value) else ""
        return value.replace(" ", "T") if kind == "datetime-local" else value
    if kind == "color":
        return value.lower() if _COLOUR.fullmatch(value) else "#000000"
    if kind == "range":
        return _range(value, attributes)
    if kind not in IS_WRITTEN:
        return value
    value = value.translate(_LINE_BREAKS)
    if kind == "url":
        return value.strip(_SPACE)
    if kind == "email":
        parts = value.split(",") if "multiple" in attributes else [value]
        return ",".join(part.strip(_SPACE) for part in parts)
    return value


def _range(value: str, attributes: Mapping[str, str]) -> str:
    least, most = (_number(attributes.get(name), default) for name, default in _LIMITS)
    middle = least if most < least else least + (most - least) / 2
    chosen = max(least, min(max(most, least), _number(value, middle)))
    step = _number(attributes.get("step"), 1.0)
    if step > 0 and resolved(attributes.get("step", "")).strip().lower() != "any":
        first = _number(attributes.get("min"), _number(attributes.get("value"), 0.0))
        chosen = first + math.floor((chosen - first) / step + 0.5) * step
        if chosen > most >= least:
            chosen -= step
    return f"{chosen:.10g}"


_LIMITS: Final = (("min", 0.0), ("max", 100.0))


def _number(text: str | None, default: float) -> float:
    if text is None or not _NUMBER.fullmatch(text):
        return default
    number = float(text)
    return number if abs(number) < _TOO_LARGE else default


_TOO_LARGE: Final = 1e15


def direction_of(written: str, value: str, around: str) -> str:
    """Return the direction of a control's text. written: its `dir`. around: that of its form."""
    written = written.strip().lower()
    if written == "auto":
        for character in value:
            kind = unicodedata.bidirectional(character)
            if kind in ("L", "R", "AL"):
                return "ltr" if kind == "L" else "rtl"
        return "ltr"
    if written in ("ltr", "rtl"):
        return written
    return "rtl" if around.strip().lower() == "rtl" else "ltr"
