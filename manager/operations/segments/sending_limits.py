"""Limits of an agent's sending set at the manager: rate and hours.

The site has its own settings; the agent goes by the stricter of both. It hears of it by sync.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import agent_named
from shared.day_times import window_minutes, window_text
from shared.errors import FormatError, about_field
from shared.messages import Message
from shared.windows import Window
from shared.wire.sync import ALL_HOURS, SendingLimits
from shared.wire.sync_json import json_of, read_message

__all__ = ["ALL_DAY", "limit_sending", "limits_for_agent", "limits_message", "read_limits"]

ALL_DAY: Final = "00:00-24:00"
LEAST_BYTES_PER_S: Final = 10_000
"""A gigabyte in a day; slower senders are cut off by the manager's own rules for uploads."""

WINDOWS_MOST: Final = 24


def read_limits(
    bytes_per_s: int | None, weekday: Sequence[str], weekend: Sequence[str], zone: str
) -> SendingLimits:
    """Return limits from what people write: windows as `02:00-08:00`. Raises FormatError.

    bytes_per_s: None: as fast as the site allows. zone: empty: the agent's own.
    """
    if bytes_per_s is not None and not LEAST_BYTES_PER_S <= bytes_per_s < 2**53:
        raise FormatError(
            "segments.rate_too_low", value=bytes_per_s, least=LEAST_BYTES_PER_S
        ).about("rate")
    if max(len(weekday), len(weekend)) > WINDOWS_MOST:
        raise FormatError("segments.too_many_windows", most=WINDOWS_MOST).about("weekday")
    if not weekday and not weekend:
        raise FormatError("segments.no_windows").about("weekday")
    if zone:
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            raise FormatError("times.unknown_zone", zone=zone[:64]).about("zone") from error
    return SendingLimits(
        bytes_per_s=bytes_per_s,
        weekday=_minutes(weekday, "weekday"),
        weekend=_minutes(weekend, "weekend"),
        zone=zone,
    )


def _minutes(windows: Sequence[str], name: str) -> tuple[Window, ...]:
    with about_field(name):
        return tuple(window_minutes(text, name) for text in windows)


def limit_sending(
    db: Database,
    agent: str,
    asked: SendingLimits,
    actor: Actor,
    now_ms: int,
    shown: str | None = None,
) -> None:
    """Set the sending limits of an agent; one without limits lifts those set before.

    shown: the agent's row had these (`AgentRow.sending`) when the person looked. Raises
    NotFoundError, ConflictError (it is plain and receives no limits; they were changed meanwhile).
    """
    limits = asked != SendingLimits(zone=asked.zone)
    text = json_of(asked).decode() if limits else ""
    with db.write() as tx:
        row = agent_named(tx, agent)
        if row.is_plain:
            raise ConflictError("segments.plain_agent_limits", agent=agent)
        if row.sending not in (shown, text) and shown is not None:
            raise ConflictError("segments.limits_changed", agent=agent)
        agents.update(tx, row.id, sending=text)
        limits_set = limits_message(asked)
        note(tx, now_ms, actor, "collection.set-limits", agent, limits=limits_set)


def limits_for_agent(row: AgentRow) -> SendingLimits | None:
    """Return the sending limits for an agent's orders; None: those of its site hold."""
    return read_message(SendingLimits, row.sending) if row.sending else None


def limits_message(limits: SendingLimits | None) -> Message:
    """Return what limits allow."""
    if limits is None:
        return Message("segments.rate_of_site")
    rate = Message("segments.rate_unlimited")
    if limits.bytes_per_s is not None:
        rate = Message("segments.rate_limited", bytes_per_s=limits.bytes_per_s)
    days = (("weekday", limits.weekday), ("weekend", limits.weekend))
    hours = [_hours(day, windows) for day, windows in days if windows != ALL_HOURS]
    if not hours:
        return rate
    zone = limits.zone or Message("segments.zone_of_agent")
    return Message("segments.rate_and_hours", rate=rate, hours=hours, zone=zone)


def _hours(day: str, windows: Sequence[Window]) -> Message:
    if not windows:
        return Message(f"segments.never_on_{day}")
    return Message(f"segments.hours_on_{day}", windows=" ".join(map(window_text, windows)))
