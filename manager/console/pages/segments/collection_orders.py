"""Collection orders by agent and state: list, create, cancel; their forms and schedules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext
from manager.console.listing import is_whole
from manager.console.messages.sentences import word
from manager.console.pages.rounds.schedules import SCHEDULE_COLUMNS, number_of
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, BYTES, ID, MOMENT, NUMBER, SENTENCE, STATE, WORD
from manager.console.tables.sources import BEFORE, ByCursor, InMemory, before_of
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.fleet.agents import named_agents
from manager.operations.segments.collection_orders import (
    CONDITIONS,
    STATES,
    ListedOrder,
    NewCollection,
    cancel_order,
    collect_all_now,
    collect_now,
    list_orders,
    open_orders,
)
from manager.operations.segments.collection_schedules import TIMETABLE
from manager.operations.timetables import Scheduled
from shared.errors import FormatError

__all__ = [
    "CONDITION_WORDS",
    "HERE",
    "ORDERS",
    "PAGES",
    "SCHEDULES",
    "asked_of",
    "asked_words",
    "day_of",
    "names_that_hear",
]

MS_DIGITS: Final = 14
HERE: Final = "/console/collection"
CONDITION_WORDS: Final = {
    "difference": lazy("captures that the manager has not accepted"),
    "full": lazy("all captures that the agent keeps"),
    "since": lazy("captures since a day"),
    "period": lazy("captures of a period"),
}
assert set(CONDITION_WORDS) == set(CONDITIONS)


def names_that_hear(visit: Visit) -> list[str]:
    """Return the names of the agents that can be asked to send, in order."""
    return [one.name for one in named_agents(visit.db) if not (one.is_plain or one.is_retired)]


def asked_of(visit: Visit) -> NewCollection:
    """Return what a form asks for. Raises FormatError: a day that is none."""
    return NewCollection(
        visit.form.get("condition", "difference"),
        "pull" if visit.form.get("pull") == "yes" else "push",
        _day(visit, "first"),
        _day(visit, "end"),
    )


def asked_words(agents: int) -> str:
    """Flash how many agents are asked to send."""
    return ngettext(
        "%(num)s agent is asked to send; it receives the order with its next sync.",
        "%(num)s agents are asked to send; they receive the order with their next syncs.",
        agents,
    )


def _day(visit: Visit, name: str) -> int | None:
    """Return the epoch milliseconds of a day's first moment, UTC; none for nothing.

    The moment that stood there may be a later one of that day: it stays with its day.
    """
    text, was = visit.form.get(name, ""), visit.form.get(f"{name}_ms", "")
    if not text:
        return None
    if is_whole(was, MS_DIGITS) and day_of(int(was)) == text:
        return int(was)
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise FormatError("console.day", value=text[:20]).about(name) from error
    return round(day.timestamp() * 1000)


def day_of(at_ms: int | None) -> str:
    """Return the day of a moment, UTC, as a form has it; none: an empty text."""
    return "" if at_ms is None else f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"


SCHEDULES: Final[Table[Scheduled[Any]]] = Table(
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


def show(visit: Visit) -> Response:
    """Show orders, newest first."""
    listing = ORDERS.listing(visit)
    back = {**listing.filters, "before": before_of(visit), "size": listing.size}
    return visit.page(
        "collection_orders.html",
        list=ORDERS.view(visit),
        back={"back": "orders"} | {name: value for name, value in back.items() if value},
        open_orders=open_orders(visit.db),
    )


def ask_now(visit: Visit) -> Response:
    """Ask an agent to send now; without one all of them, after a question."""
    if not visit.form.get("agent", ""):
        return _ask_all(visit)
    order = collect_now(visit.db, visit.form["agent"], asked_of(visit), visit.actor, visit.now_ms)
    return visit.go(
        HERE,
        done=_(
            "%(agent)s is asked to send; it receives the order with its next sync.",
            agent=order.agent,
        ),
    )


def _ask_all(visit: Visit) -> Response:
    asked = asked_of(visit)
    if not visit.is_confirmed:
        asked.check()
        return visit.ask(
            _("Ask all agents to send?"),
            ngettext(
                "%(num)s agent receives the order with its next sync.",
                "%(num)s agents receive the order with their next syncs.",
                len(names_that_hear(visit)),
            ),
            f"{word(asked.condition)}: {CONDITION_WORDS[asked.condition]}",
            _("Agents with too many open orders are left out."),
            button=_("Order now"),
            back=HERE,
            fields={
                name: visit.form.get(name, "") for name in ("condition", "first", "end", "pull")
            },
            danger=False,
        )
    done = collect_all_now(visit.db, asked, visit.actor, visit.now_ms)
    said = [asked_words(done.asked)]
    if done.skipped:
        said.append(
            ngettext(
                "%(num)s agent was left out: it has too many open orders.",
                "%(num)s agents were left out: they have too many open orders.",
                done.skipped,
            )
        )
    return visit.go(HERE, done=" ".join(said))


def cancel(visit: Visit) -> Response:
    """Ask no more for what an order has not brought."""
    number = visit.form.get("order", "")
    cancel_order(visit.db, number_of(number), visit.actor, visit.now_ms)
    return visit.go(_back(visit), done=_("Order %(number)s is cancelled.", number=number))


def _back(visit: Visit) -> str:
    """Return the page with the order: the collection, or the filtered list of orders."""
    if visit.form.get("back") != "orders":
        return HERE
    kept = {name: visit.form.get(name, "") for name in ("agent", "state", BEFORE, "size")}
    return link("collection/orders", **{name: value for name, value in kept.items() if value})


PAGES: Final = (
    *ORDERS.pages(show),
    Page("POST", "/collection/orders", "operator", ask_now, form="/collection"),
    Page("POST", "/collection/orders/cancel", "operator", cancel, form="/collection"),
    *SCHEDULES.file_pages(),
)
