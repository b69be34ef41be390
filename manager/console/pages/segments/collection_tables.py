"""Collection schedules and orders: their tables."""

from __future__ import annotations

from typing import Any, Final

from manager.console.language import lazy
from manager.console.pages.rounds.schedules import SCHEDULE_COLUMNS
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, BYTES, ID, MOMENT, NUMBER, SENTENCE, STATE, WORD
from manager.console.tables.sources import ByCursor, InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.fleet.agents import named_agents
from manager.operations.segments.collection_orders import STATES, ListedOrder, list_orders
from manager.operations.segments.collection_schedules import TIMETABLE
from manager.operations.timetables import Scheduled

__all__ = ["ORDERS", "PAGES", "SCHEDULES"]

SCHEDULES: Final[Table[Scheduled[Any]]] = Table(
    "collection-schedules",
    "/collection/schedules",
    "Schedules of the collection",
    InMemory(lambda visit: TIMETABLE.listed(visit.db, visit.now_ms)),
    (
        *SCHEDULE_COLUMNS,
        Column(
            "agent", lambda one: one.schedule.agent, lazy("Agent"), about="empty: all without one"
        ),
        Column("sends", lambda one: one.schedule.condition, lazy("Sends"), WORD),
        Column("way", lambda one: one.schedule.way, about="push or pull"),
        Column("captures_from", lambda one: one.schedule.from_ms, kind=MOMENT),
        Column("captures_until", lambda one: one.schedule.until_ms, kind=MOMENT),
        BUTTONS,
    ),
    page_columns=("times", "agent", "sends", "next_runs", "last_time", "actions"),
)


ORDERS: Final[Table[ListedOrder]] = Table(
    "collection-orders",
    "/collection/orders",
    "Collection orders",
    ByCursor(
        lambda visit, listing, before, limit: list_orders(
            visit.db, before=before, limit=limit, **listing.filters
        )
    ),
    (
        Column("id", lambda one: one.id, lazy("Order"), ID, style="numbered"),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("sends", lambda one: one.condition, lazy("Sends"), WORD),
        Column("way", lambda one: one.way, about="push or pull"),
        Column("captures_from", lambda one: one.from_ms, kind=MOMENT),
        Column("captures_until", lambda one: one.until_ms, kind=MOMENT),
        Column("made_by", lambda one: one.made_by),
        Column("made", lambda one: one.made_ms, lazy("Made"), MOMENT),
        Column("state", lambda one: one.state, lazy("State"), STATE),
        Column("tries", lambda one: one.tries, kind=NUMBER),
        Column("next_try", lambda one: one.next_try_ms, kind=MOMENT),
        Column("segments", lambda one: one.segments, lazy("Segments"), NUMBER),
        Column("sent", lambda one: one.sent_bytes, lazy("Sent"), BYTES),
        Column("ended", lambda one: one.ended_ms, kind=MOMENT),
        Column("result", lambda one: one.result, lazy("Result"), SENTENCE),
        BUTTONS,
    ),
    filters=(
        Filter(
            "agent",
            lazy("Agent"),
            "agent",
            lambda visit: [one.name for one in named_agents(visit.db) if not one.is_plain],
        ),
        Filter("state", lazy("State"), "words", STATES),
    ),
    default_sort="made",
)
PAGES: Final = SCHEDULES.files()
