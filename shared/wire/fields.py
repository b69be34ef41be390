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
from shared.wire.sync_bounds import COUNT_END

__all__ = [
    "Bound",
    "Fields",
    "Items",
    "Number",
    "Place",
    "Read",
    "Text",
    "Whole",
    "json_fields",
    "one_of",
]

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


class Bound:
    """Bounds of a value: reads it, and tells pydantic of them where they annotate a type.

    `Annotated[int, Whole(0)]` is checked alike by a program that loads pydantic and by one that
    must not. schema: the bounds by their names in pydantic's core schema.
    """

    def __init__(self, **schema: object) -> None:
        self._schema = {name: value for name, value in schema.items() if value is not None}

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's schema of the annotated type, with these bounds."""
        return {**handler(source), **self._schema}


class Whole(Bound):
    """A whole number from `least` to `most`, or up to and without `end`.

    Without an end a reader takes what SQLite holds, and pydantic any number.
    """

    def __init__(self, least: int, end: int | None = None, *, most: int | None = None) -> None:
        super().__init__(ge=least, lt=end, le=most)
        self._least = least
        self._end = (COUNT_END if end is None else end) if most is None else most + 1

    def __call__(self, value: object, place: Place) -> int:
        """Return the value. Raises FormatError."""
        if type(value) is not int:
            raise FormatError("json_fields.whole", place=place)
        least, end = self._least, self._end
        if not least <= value < end:
            raise FormatError(
                "json_fields.whole_range", place=place, value=value, least=least, most=end - 1
            )
        return value


class Number(Bound):
    """A number that is at least, above, and at most something; none is endless."""

    def __init__(
        self, *, least: float | None = None, above: float | None = None, most: float | None = None
    ) -> None:
        super().__init__(ge=least, gt=above, le=most)
        self._least = -math.inf if least is None else least
        self._above = -math.inf if above is None else above
        self._most = math.inf if most is None else most

    def __call__(self, value: object, place: Place) -> float:
        """Return the value. Raises FormatError."""
        if type(value) is not int and type(value) is not float:
            raise FormatError("json_fields.number", place=place)
        # An endless one is refused by all three; a whole one may be longer than any other number.
        in_bounds = self._least <= value <= self._most and value > self._above
        if not in_bounds or value == math.inf:
            raise FormatError("json_fields.number_range", place=place, value=f"{value!r:.40}")
        try:
            return float(value)
        except OverflowError as error:
            raise FormatError("json_fields.long_number", place=place) from error


class Text(Bound):
    """Text of so many characters at most, all of it as the pattern has it."""

    def __init__(self, most_chars: int | None = None, pattern: str | None = None) -> None:
        super().__init__(max_length=most_chars, pattern=pattern)
        self._most_chars = most_chars
        self._pattern = pattern

    def __call__(self, value: object, place: Place) -> str:
        """Return the value. Raises FormatError."""
        if not isinstance(value, str):
            raise FormatError("json_fields.text", place=place)
        if self._most_chars is not None and len(value) > self._most_chars:
            raise FormatError(
                "json_fields.long_text", place=place, length=len(value), most=self._most_chars
            )
        try:
            value.encode()
        except UnicodeEncodeError as error:  # half a character: it cannot be written
            raise FormatError("json_fields.surrogate", place=place) from error
        if self._pattern is not None and not re.fullmatch(self._pattern, value):
            raise FormatError("json_fields.form", place=place, value=value[:60])
        return value


class Items(Bound):
    """An array of so many items at most."""

    def __init__(self, most: int) -> None:
        super().__init__(max_length=most)
        self._most = most

    def read(self, read_one: Read[T], value: object, place: Place) -> tuple[T, ...]:
        """Return the items. Raises FormatError."""
        if not isinstance(value, list):
            raise FormatError("json_fields.list", place=place)
        if len(value) > self._most:
            raise FormatError(
                "json_fields.long_list", place=place, length=len(value), most=self._most
            )
        items: list[Any] = value
        return tuple(read_one(item, f"{place}.{at}") for at, item in enumerate(items))


def one_of(words: Sequence[N]) -> Read[N]:
    """Return what reads one of some words."""

    def read(value: object, place: Place) -> N:
        """Return the value. Raises FormatError."""
        if value not in words:
            raise FormatError("json_fields.word", place=place, words=tuple(words))
        return cast("N", value)

    return read
