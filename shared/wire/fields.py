"""Values out of JSON that a stranger wrote: what each must be, or FormatError with its place.

Nothing is converted: a number in quotes is no number. Text is what can be written as UTF-8, and
no number is endless. A field that is not there, or is null where that may be said, has a default.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

from shared.errors import FormatError

__all__ = ["Fields", "Place", "json_fields", "listed", "number", "one_of", "text", "whole"]

T = TypeVar("T")
N = TypeVar("N", bound=str)
Place = str
"""Where in a message a value stands, as `permit.epoch`."""

Read = Callable[[object, Place], T]
"""Returns the value, checked; raises FormatError."""

_MISSING: Final = object()


class Fields:
    """The fields of one object of a message. Fields that are not asked for are ignored."""

    def __init__(self, value: object, place: Place = "") -> None:
        """Raises FormatError where it is no object."""
        if not isinstance(value, dict):
            raise FormatError("json_fields.object", place=place or "body")
        self._values: dict[str, object] = value
        self._place = place

    def need(self, name: str, read: Read[T]) -> T:
        """Return a field that must be there."""
        value = self._values.get(name, _MISSING)
        if value is _MISSING:
            raise FormatError("json_fields.missing", place=self._at(name))
        return read(value, self._at(name))

    def get(self, name: str, read: Read[T], default: T) -> T:
        """Return a field, or its default where it is not there."""
        value = self._values.get(name, _MISSING)
        return default if value is _MISSING else read(value, self._at(name))

    def maybe(self, name: str, read: Read[T]) -> T | None:
        """Return a field that may be null, which it also is where it is not there."""
        value = self._values.get(name)
        return None if value is None else read(value, self._at(name))

    def _at(self, name: str) -> Place:
        return f"{self._place}.{name}" if self._place else name


def json_fields(body: bytes) -> Fields:
    """Return the object that a JSON text is. Raises FormatError."""
    try:
        value = json.loads(body.decode())
    except (ValueError, RecursionError) as error:  # not UTF-8, no JSON, or too deep
        raise FormatError("json_fields.json", reason=str(error)) from error
    return Fields(value)


def whole(least: int, end: int) -> Read[int]:
    """Return what reads a whole number from `least` up to, and without, `end`."""

    def read(value: object, place: Place) -> int:
        """Return the value. Raises FormatError."""
        if type(value) is not int:
            raise FormatError("json_fields.whole", place=place)
        if not least <= value < end:
            raise FormatError(
                "json_fields.whole_range", place=place, value=value, least=least, most=end - 1
            )
        return value

    return read


def number(*, least: float = -math.inf, above: float = -math.inf, most: float) -> Read[float]:
    """Return what reads a number that is at least, above, and at most something."""

    def read(value: object, place: Place) -> float:
        """Return the value. Raises FormatError."""
        if type(value) is not int and type(value) is not float:
            raise FormatError("json_fields.number", place=place)
        # An endless one is refused by all three; a whole one may be longer than any other number.
        if not (least <= value <= most and value > above) or value == math.inf:
            raise FormatError("json_fields.number_range", place=place, value=f"{value!r:.40}")
        try:
            return float(value)
        except OverflowError as error:
            raise FormatError("json_fields.long_number", place=place) from error

    return read


def text(most_chars: int, pattern: str = "") -> Read[str]:
    """Return what reads text of so many characters at most, all of it as the pattern has it."""

    def read(value: object, place: Place) -> str:
        """Return the value. Raises FormatError."""
        if not isinstance(value, str):
            raise FormatError("json_fields.text", place=place)
        if len(value) > most_chars:
            raise FormatError(
                "json_fields.long_text", place=place, length=len(value), most=most_chars
            )
        try:
            value.encode()
        except UnicodeEncodeError as error:  # half a character: it cannot be written
            raise FormatError("json_fields.surrogate", place=place) from error
        if pattern and not re.fullmatch(pattern, value):
            raise FormatError("json_fields.form", place=place, value=value[:60])
        return value

    return read


def one_of(words: Sequence[N]) -> Read[N]:
    """Return what reads one of some words."""

    def read(value: object, place: Place) -> N:
        """Return the value. Raises FormatError."""
        if value not in words:
            raise FormatError("json_fields.word", place=place, words=tuple(words))
        return cast("N", value)

    return read


def listed(read_one: Read[T], most: int) -> Read[list[T]]:
    """Return what reads a list of so many things at most."""

    def read(value: object, place: Place) -> list[T]:
        """Return the value. Raises FormatError."""
        if not isinstance(value, list):
            raise FormatError("json_fields.list", place=place)
        if len(value) > most:
            raise FormatError("json_fields.long_list", place=place, length=len(value), most=most)
        items: list[Any] = value
        return [read_one(item, f"{place}.{at}") for at, item in enumerate(items)]

    return read
