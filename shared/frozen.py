"""Dataclasses that no code may change, made as cheaply as mutable ones.

The type checker refuses an assignment to a field, as with `dataclass(frozen=True)`. Python itself
does not: its guard makes each object six times as expensive (12 fields: 2.3 us instead of 0.34),
and a page passes through some twenty of them.

The standard library compiles four to six functions for each class where it is defined, which was a
twentieth of an agent's start and a tenth of a manager's. Here only `__init__` is compiled, by the
standard library too, when the first object is made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import Field, dataclass, field, fields, make_dataclass
from functools import cache
from operator import attrgetter, itemgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform

__all__ = ["frozen", "record_maker", "values_of"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(made: type[T]) -> type[T]:
    """Make a class a dataclass with slots that compares and hashes by its fields."""
    written = dict(made.__dict__)  # as it stands there: defaults become slots in a moment
    kind = dataclass(init=False, repr=False, eq=False, slots=True)(made)
    own = fields(cast("Any", kind))
    compared = [one for one in own if one.compare]
    hashed = [one for one in compared if one.hash is not False]
    for name, method in (
        ("__init__", _first_init(kind, made.__bases__, written)),
        ("__repr__", _repr([one.name for one in own if one.repr])),
        ("__eq__", _eq(_values(compared))),
        ("__hash__", _hash(_values(hashed))),
    ):
        if name not in written:
            method.__qualname__ = f"{made.__qualname__}.{name}"
            setattr(kind, name, method)
    if "__reduce__" not in written:
        kind.__reduce__ = _reduce(kind, own, written)  # type: ignore[method-assign, assignment]
    return kind


def _first_init(
    kind: type[Any], bases: tuple[type[Any], ...], written: dict[str, Any]
) -> Callable[..., None]:
    """Return what makes the first object: it puts the real `__init__` in its own place."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        namespace = {key: value for key, value in written.items() if key not in _NOT_COPIED}
        # A class with the same fields, only for its `__init__`.
        model: Any = dataclass(repr=False, eq=False)(type(kind.__name__, bases, namespace))
        init = model.__init__
        init.__qualname__ = f"{kind.__qualname__}.__init__"
        kind.__init__ = init
        init(self, *values, **named)

    return __init__


_NOT_COPIED = frozenset(("__dict__", "__weakref__", "__slots__"))


def _values(chosen: list[Field[Any]]) -> Callable[[Any], object]:
    """Return what gives the values of some fields, as one that compares and hashes."""
    return attrgetter(*(one.name for one in chosen)) if chosen else lambda _: ()


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr("...")
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _eq(values: Callable[[Any], object]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(values(self) == values(other))

    return __eq__


def _reduce(
    kind: type[Any], own: Sequence[Field[Any]], written: dict[str, Any]
) -> Callable[[Any], object]:
    """Return what lets pickle keep the values of an object, and no names of its fields.

    A class that does more with its values than to keep them is left as pickle has it, also where
    the class that it is a kind of is not.
    """
    does_more = "__init__" in written or hasattr(kind, "__post_init__")
    if does_more or len(own) < 2 or any(not one.init for one in own):
        return object.__reduce__
    values = attrgetter(*(one.name for one in own))

    if any(one.kw_only for one in own):

        def __reduce__(self: Any) -> object:  # noqa: N807
            return _remade, (self.__class__, values(self))
    else:

        def __reduce__(self: Any) -> object:  # noqa: N807
            return self.__class__, values(self)

    return __reduce__


def _remade(kind: type[T], values: tuple[Any, ...]) -> T:
    """Return the object of a class whose fields are given by name."""
    return _maker_by_place(cast("Hashable", kind))(values)  # type: ignore[no-any-return]


def record_maker(kind: type[T], names: tuple[str, ...]) -> Callable[[Sequence[Any]], T]:
    """Return a function that makes a record of a row whose columns have these names, among others.

    Raises ValueError where the row lacks a field.
    """
    made: Any = _record_maker(cast("Hashable", kind), names)
    return cast("Callable[[Sequence[Any]], T]", made)


@cache
def _record_maker(kind: Any, names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    wanted = tuple(one.name for one in fields(kind))
    columns = list(names)
    places = [columns.index(name) for name in wanted]
    make = _maker_by_place(kind)
    if names == wanted:
        return make
    if len(places) == 1:
        place = places[0]
        return lambda row: make((row[place],))
    chosen = itemgetter(*places)
    return lambda row: make(chosen(row))


@cache
def _maker_by_place(kind: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes a record from all its values, in the order of its fields.

    Fields that `__init__` takes only by name are filled by place, too: a quarter of the price.
    """
    own = fields(kind)
    names = [one.name for one in own]
    if not any(one.kw_only for one in own):
        return lambda values: kind(*values)
    if hasattr(kind, "__post_init__"):
        return lambda values: kind(**dict(zip(names, values, strict=True)))
    filled: Any = make_dataclass(kind.__name__, names, repr=False, eq=False)
    fill = filled.__init__
    new = kind.__new__

    def make(values: Sequence[Any]) -> Any:
        made = new(kind)
        fill(made, *values)
        return made

    return make


def values_of(record: Any, kind: type | None = None) -> dict[str, Any]:
    """Return the fields of a record by name. kind: a class that it extends; only its fields.

    `asdict` copies each value, at ten times the price.
    """
    named: Any = kind or record
    return {name: getattr(record, name) for name in named.__dataclass_fields__}


def _hash(values: Callable[[Any], object]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__
