"""Rows of a query become dataclasses, quickly: lists and syncs make thousands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar, cast

__all__ = ["row_factory"]

T = TypeVar("T")


def row_factory(kind: type[T], names: Sequence[str]) -> Callable[[Sequence[Any]], T]:
    """Return what makes a dataclass of a row whose columns have these names, among others.

    Raises ValueError where the row lacks a field.
    """
    made: Any = _factory(cast(Hashable, kind), tuple(names))
    return cast(Callable[[Sequence[Any]], T], made)


@cache
def _factory(kind: Any, names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    wanted = tuple(field.name for field in fields(kind))
    columns = list(names)
    places = [columns.index(name) for name in wanted]
    if any(field.kw_only for field in fields(kind)):
        return lambda row: kind(**{name: row[at] for name, at in zip(wanted, places, strict=True)})
    if names == wanted:
        return lambda row: kind(*row)
    if len(places) == 1:
        place = places[0]
        return lambda row: kind(row[place])
    chosen = itemgetter(*places)
    return lambda row: kind(*chosen(row))
