"""Rows of a query become frozen dataclasses, quickly: lists and syncs make thousands.

A frozen dataclass sets each of its fields by a call, which for an agent's sixty takes longer than
to ask for the row. So an object of a class with the same slots that is not frozen is filled, and
then it is said to be of the frozen one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, make_dataclass
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar, cast

__all__ = ["maker"]

T = TypeVar("T")


def maker(kind: type[T], names: Sequence[str]) -> Callable[[Sequence[Any]], T]:
    """Return what makes a dataclass of a row whose columns have these names, among others.

    Raises ValueError where the row lacks a field.
    """
    made: Any = _maker(cast(Hashable, kind), tuple(names))
    return cast(Callable[[Sequence[Any]], T], made)


@cache
def _maker(kind: Any, names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    wanted = tuple(field.name for field in fields(kind))
    make = _filler(kind, wanted)
    if names == wanted:
        return make
    columns = list(names)
    places = [columns.index(name) for name in wanted]
    if len(places) == 1:
        place = places[0]
        return lambda row: make((row[place],))
    chosen = itemgetter(*places)
    return lambda row: make(chosen(row))


def _filler(kind: type[Any], wanted: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    """Return what makes an object of the values of all its fields, as the class itself would."""
    is_plain = kind.__bases__ == (object,) and not hasattr(kind, "__post_init__")
    if not is_plain or getattr(kind, "__slots__", None) != wanted:
        return lambda row: kind(*row)
    thawed = make_dataclass(kind.__name__, wanted, slots=True)

    def fill(row: Sequence[Any]) -> Any:
        made: Any = thawed(*row)
        made.__class__ = kind
        return made

    return fill
