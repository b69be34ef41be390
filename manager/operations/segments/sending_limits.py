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
from manager.operations.segments.collection_orders import agent_named
from shared.day_times import window_minutes, window_text
from shared.errors import FormatError, about_field
from shared.windows import Window
from shared.wire.sync import SendingLimits

__all__ = ["ALL_DAY", "limit_sending", "limits_for_agent", "read_limits", "spoken_limits"]

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
            f"bytes_per_s = {bytes_per_s}: must be at least {LEAST_BYTES_PER_S}, with which a "
            "segment of a gigabyte takes more than a day; none is no limit"
        ).about("rate")
    if max(len(weekday), len(weekend)) > WINDOWS_MOST:
        raise FormatError(f"hours: at most {WINDOWS_MOST} windows a day").about("weekday")
    if not weekday and not weekend:
        raise FormatError(
            "hours: weekday and weekend are both empty, nothing would ever be sent"
        ).about("weekday")
    if zone:
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            raise FormatError(f"time zone {zone[:64]!a}: not known here, as Asia/Tokyo").about(
                "zone"
            ) from error
    return SendingLimits(
        bytes_per_s=bytes_per_s,
        weekday=_minutes(weekday, "weekday"),
        weekend=_minutes(weekend, "weekend"),
        zone=zone,
    )


def _minutes(windows: Sequence[str], name: str) -> list[Window]:
    with about_field(name):
        return [window_minutes(text, name) for text in windows]


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
    NotFoundError, ConflictError (it is plain and hears of nothing; it has others by now).
    """
    limits = asked != SendingLimits(zone=asked.zone)
    text = asked.model_dump_json() if limits else ""
    with db.write() as tx:
        row = agent_named(tx, agent)
        if row.is_plain:
            raise ConflictError(
                f"agent {agent} speaks only the five messages: it sends by a client of its own, "
                "which has to be told there"
            )
        if row.sending not in (shown, text) and shown is not None:
            raise ConflictError(
                f"{agent}: changed since it was shown, so nothing was done; load the page again"
            )
        agents.update(tx, row.id, sending=text)
        words = spoken_limits(asked)
        note(tx, now_ms, actor, "collection.limit", agent, limits=words)


def limits_for_agent(row: AgentRow) -> SendingLimits | None:
    """Return what an agent is told of how it may send; None: as its site says."""
    return SendingLimits.model_validate_json(row.sending) if row.sending else None


def spoken_limits(limits: SendingLimits | None) -> str:
    """Return limits in words."""
    if limits is None:
        return "as its site says"
    rate = "as fast as its site allows"
    if limits.bytes_per_s is not None:
        rate = f"at most {limits.bytes_per_s:,} bytes/s"
    days = (("Monday to Friday", limits.weekday), ("Saturday and Sunday", limits.weekend))
    hours = [f"{name} {_hours(windows)}" for name, windows in days if windows != [(0, 1440)]]
    if not hours:
        return rate
    zone = limits.zone or "its own time zone"
    return f"{rate}; {', '.join(hours)} ({zone})"


def _hours(windows: Sequence[Window]) -> str:
    return " ".join(map(window_text, windows)) or "never"
