"""Reads what a manager said, and what of it was kept: JSON to the messages of `shared.wire.sync`.

Each field is read by its annotation, without pydantic. A newer manager may say more: fields that
are not known here are skipped, never guessed. Everything else is refused that pydantic refuses by
the same annotations, and numbers in quotes too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from shared.errors import FormatError
from shared.wire import sync
from shared.wire.fields import Fields, Items, Place, Read, json_fields, one_of
from shared.wire.sync import CrawlScope, SegmentAddress, SendingLimits, SyncAnswer

__all__ = ["read_answer", "read_scope", "read_sending_limits", "read_serving"]

M = TypeVar("M")
Take = Callable[[Fields], Any]


def read_answer(body: bytes) -> SyncAnswer:
    """Return the manager's answer. Raises FormatError, which says the place first."""
    return _message(SyncAnswer, json_fields(body))


def read_sending_limits(body: bytes) -> SendingLimits:
    """Return limits of sending that were kept. Raises FormatError."""
    return _message(SendingLimits, json_fields(body))


def read_scope(body: bytes) -> CrawlScope:
    """Return the scope of the crawl that was kept. Raises FormatError."""
    return _message(CrawlScope, json_fields(body))


def read_serving(body: bytes) -> SegmentAddress:
    """Return where segments are served, from its stored form. Raises FormatError."""
    return _message(SegmentAddress, json_fields(body))


def _message(kind: type[M], at: Fields) -> M:
    return kind(**{name: take(at) for name, take in _takes(cast("Hashable", kind))})


@cache
def _takes(kind: Any) -> Sequence[tuple[str, Take]]:
    """Return what takes each field of a message, by name."""
    return [(one.name, _take(one.name, _hint(str(one.type)), one.default)) for one in fields(kind)]


@cache
def _hint(annotation: str) -> Any:
    """Return the type that an annotation of `sync` means; `get_type_hints` takes thrice as long."""
    return eval(annotation, vars(sync))  # noqa: S307  # our own text


def _take(name: str, hint: Any, default: Any) -> Take:
    if NoneType in get_args(hint):
        inner, _ = get_args(hint)
        read_inner = _reader(inner)
        return lambda at: at.maybe(name, read_inner)
    read = _reader(hint)
    if default is MISSING:
        return lambda at: at.need(name, read)
    return lambda at: at.get(name, read, default)


def _reader(hint: Any) -> Read[Any]:
    """Return what reads a value of a type."""
    kind = get_origin(hint)
    if kind is Annotated:
        (inner, *_, bound) = get_args(hint)
        if isinstance(bound, Items):
            return partial(bound.read, _reader(get_args(inner)[0]))
        read: Read[Any] = bound
        return read
    if kind is Literal:
        return one_of(get_args(hint))
    if kind is tuple:
        return partial(_pair, _reader(get_args(hint)[0]))
    message: type[Any] = hint
    return lambda value, place: _message(message, Fields(value, place))


def _pair(read_one: Read[int], value: object, place: Place) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError("json_fields.minutes", place=place)
    return read_one(value[0], f"{place}.0"), read_one(value[1], f"{place}.1")
