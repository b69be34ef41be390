"""Reads what a manager said, and what of it was kept: JSON to the messages of `sync_light`.

A newer manager may say more: fields that are not known here are skipped, never guessed.
Everything else is refused that `shared.wire.sync` refuses, and numbers in quotes too.
"""

from __future__ import annotations

from typing import Final, get_args

from shared.errors import FormatError
from shared.wire import PROTOCOL
from shared.wire.fields import Fields, Place, json_fields, listed, number, one_of, text, whole
from shared.wire.sync_bounds import (
    COUNT_END,
    EPOCH_END_MS,
    FINGERPRINT,
    MAX_HOURS,
    MAX_ITEMS,
    MAX_ORDERS,
    NAME_CHARS,
    SERVED_AT,
    SHORT_CHARS,
    UNIT_CHARS,
    YEAR_S,
    CollectionCondition,
    CollectionWay,
    CommandName,
)
from shared.wire.sync_light import (
    CollectionOrder,
    Command,
    Permit,
    SendingLimits,
    Serving,
    Settings,
    SyncAnswer,
)

__all__ = ["read_answer", "read_sending_limits", "read_serving"]

_count: Final = whole(0, COUNT_END)
_from_one: Final = whole(1, COUNT_END)
_epoch_ms: Final = whole(0, EPOCH_END_MS)
_minute: Final = whole(0, 1441)
_short: Final = text(SHORT_CHARS)
_name: Final = text(NAME_CHARS)
_conditions: Final[tuple[CollectionCondition, ...]] = get_args(CollectionCondition)
_ways: Final[tuple[CollectionWay, ...]] = get_args(CollectionWay)
_commands: Final[tuple[CommandName, ...]] = get_args(CommandName)


def read_answer(body: bytes) -> SyncAnswer:
    """Return the manager's answer. Raises FormatError, which says the place first."""
    at = json_fields(body)
    return SyncAnswer(
        protocol=at.get("protocol", _from_one, PROTOCOL),
        server_time_ms=at.need("server_time_ms", _epoch_ms),
        next_poll_s=at.need("next_poll_s", number(above=0, most=float("inf"))),
        round=at.need("round", _count),
        generation=at.need("generation", _count),
        permit=at.maybe("permit", _permit),
        settings=at.get("settings", _settings, Settings()),
        command=at.maybe("command", _command),
        collection=at.get("collection", listed(_order, MAX_ORDERS), []),
        withdrawn=at.get("withdrawn", listed(text(UNIT_CHARS), MAX_ITEMS), []),
        withdrawn_number=at.maybe("withdrawn_number", _count),
        message=at.get("message", _short, ""),
    )


def read_sending_limits(body: bytes) -> SendingLimits:
    """Return limits of sending that were kept. Raises FormatError."""
    return _limits_of(json_fields(body))


def read_serving(body: bytes) -> Serving:
    """Return where segments are served, from its stored form. Raises FormatError."""
    at = json_fields(body)
    return Serving(
        url=at.need("url", text(UNIT_CHARS, SERVED_AT)),
        fingerprint=at.need("fingerprint", text(NAME_CHARS, FINGERPRINT)),
    )


def _permit(value: object, place: Place) -> Permit:
    at = Fields(value, place)
    duration_s = at.need("duration_s", number(above=0, most=YEAR_S))
    return Permit(at.need("epoch", _count), duration_s)


def _settings(value: object, place: Place) -> Settings:
    at = Fields(value, place)
    return Settings(
        interval_s=at.maybe("interval_s", number(least=0, most=YEAR_S)),
        parallel_hosts=at.maybe("parallel_hosts", _from_one),
        bytes_per_s=at.maybe("bytes_per_s", _from_one),
        blocked=at.maybe("blocked", listed(_short, MAX_ITEMS)),
        sending=at.maybe("sending", _read_sending),
    )


def _read_sending(value: object, place: Place) -> SendingLimits:
    return _limits_of(Fields(value, place))


def _limits_of(at: Fields) -> SendingLimits:
    hours, always = listed(_window, MAX_HOURS), SendingLimits()
    return SendingLimits(
        bytes_per_s=at.maybe("bytes_per_s", _from_one),
        weekday=at.get("weekday", hours, always.weekday),
        weekend=at.get("weekend", hours, always.weekend),
        zone=at.get("zone", _name, ""),
    )


def _window(value: object, place: Place) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError("json_fields.minutes", place=place)
    return _minute(value[0], f"{place}.0"), _minute(value[1], f"{place}.1")


def _command(value: object, place: Place) -> Command:
    at = Fields(value, place)
    name = at.need("name", one_of(_commands))
    return Command(at.need("id", _name), name, at.get("argument", _short, ""))


def _order(value: object, place: Place) -> CollectionOrder:
    at = Fields(value, place)
    return CollectionOrder(
        id=at.need("id", _from_one),
        condition=at.need("condition", one_of(_conditions)),
        way=at.get("way", one_of(_ways), "push"),
        from_ms=at.maybe("from_ms", _epoch_ms),
        until_ms=at.maybe("until_ms", _epoch_ms),
    )
