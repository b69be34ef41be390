"""Collection: schedules, the last orders, and transfers."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy
from manager.console.messages.disabled_reasons import Unable
from manager.console.pages.rounds.schedules import edited, next_run, number_of, removed, too_many
from manager.console.pages.segments.collection_orders import (
    CONDITION_WORDS,
    HERE,
    ORDERS,
    SCHEDULES,
    asked_of,
    asked_words,
    day_of,
    names_that_hear,
)
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, BYTES, ID, MOMENT, NUMBER, SENTENCE, STATE
from manager.console.tables.sources import ByCursor
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.segments.collection_orders import list_orders, open_orders
from manager.operations.segments.collection_schedules import (
    TIMETABLE,
    add_collection_schedule,
    change_collection_schedule,
    run_collection_schedule,
)
from manager.operations.segments.upload_bytes import missing_bytes, read_gaps
from manager.operations.segments.upload_completion import cancel_transfer
from manager.operations.segments.uploads import ListedTransfer, list_transfers

__all__ = ["PAGES", "TRANSFERS"]

ORDERS_SHOWN: Final = 10
STATES: Final = (
    *("receiving", "received", "accepted", "quarantined"),
    *("refused", "cancelled", "expired"),
)
NOBODY_HEARS: Final = Unable(
    lazy("No sync agent has joined: only sync agents receive orders."),
    "/console/agents",
    lazy("Agents"),
)


def _percent(row: ListedTransfer) -> int:
    """Return how much of a transfer is there, 0 to 100."""
    there = row.size_bytes - missing_bytes(read_gaps(row.gaps))
    return 100 * there // max(1, row.size_bytes)


TRANSFERS: Final[Table[ListedTransfer]] = Table(
    "/collection",
    "Transfers of segments",
    ByCursor(
        lambda visit, listing, before, limit: list_transfers(
            visit.db, before=before, limit=limit, **listing.filters
        )
    ),
    (
        Column("id", lambda row: row.id, kind=ID),
        Column("agent", lambda row: row.agent, lazy("Agent"), AGENT),
        Column("file", lambda row: row.filename, lazy("File"), style="path"),
        Column("bytes", lambda row: row.size_bytes, lazy("Size"), BYTES, "bytes"),
        Column("came", lambda row: row.received_bytes, lazy("Received"), BYTES),
        Column("way", lambda row: row.way, about="push or pull"),
        Column("state", lambda row: row.state, lazy("State"), STATE),
        Column("breaks", lambda row: row.breaks, lazy("Interruptions"), NUMBER),
        Column("begun", lambda row: row.begun_ms, lazy("Begun"), MOMENT),
        Column("received", lambda row: row.received_ms, kind=MOMENT),
        Column("ended", lambda row: row.ended_ms, kind=MOMENT),
        Column("result", lambda row: row.result, lazy("Result"), SENTENCE, style="wide"),
        BUTTONS,
    ),
    page_columns=(
        *("file", "agent", "state", "bytes", "came", "breaks"),
        *("begun", "result", "actions"),
    ),
    filters=(
        Filter("agent", lazy("Agent"), "agent", names_that_hear),
        Filter("state", lazy("State"), "words", STATES),
    ),
    default_sort="begun",
    files="transfers",
)


def show(visit: Visit) -> Response:
    """Show schedules with their next runs, orders, and transfers, newest first."""
    orders = list_orders(visit.db, limit=ORDERS_SHOWN + 1)
    schedules = TIMETABLE.listed(visit.db, visit.now_ms)
    schedule = edited(visit, schedules)
    return visit.page(
        "collection.html",
        list=TRANSFERS.view(visit),
        percent_of=_percent,
        orders=ORDERS.part(visit, orders[:ORDERS_SHOWN]),
        orders_cut=len(orders) > ORDERS_SHOWN,
        open_orders=open_orders(visit.db),
        schedules=SCHEDULES.part(visit, schedules),
        edited=schedule,
        first=day_of(schedule.from_ms) if schedule is not None else "",
        end=day_of(schedule.until_ms) if schedule is not None else "",
        agents=names_that_hear(visit),
        unready=NOBODY_HEARS if not names_that_hear(visit) else "",
        too_many=too_many(TIMETABLE, schedules),
        conditions=CONDITION_WORDS,
    )


def add(visit: Visit) -> Response:
    """Add a schedule of sending for an agent, or for all."""
    made = add_collection_schedule(
        visit.db,
        visit.form.get("agent", "") or None,
        visit.form.get("crontab", ""),
        visit.form.get("zone", "").strip() or "UTC",
        asked_of(visit),
        visit.actor,
        visit.now_ms,
    )
    return visit.go(HERE, done=_("The next order is sent %(time)s.", time=next_run(made)))


def change(visit: Visit) -> Response:
    """Replace a schedule by the form."""
    made = change_collection_schedule(
        visit.db,
        number_of(visit.form.get("schedule", "")),
        visit.form.get("agent", "") or None,
        visit.form.get("crontab", ""),
        visit.form.get("zone", "").strip() or "UTC",
        asked_of(visit),
        visit.actor,
        visit.now_ms,
        shown_ms=number_of(visit.form.get("shown", "")),
    )
    return visit.go(HERE, done=_("The next order is sent %(time)s.", time=next_run(made)))


def run_now(visit: Visit) -> Response:
    """Ask the agents of a schedule before its time."""
    number = number_of(visit.form.get("schedule", ""))
    asked = run_collection_schedule(visit.db, number, visit.actor, visit.now_ms)
    return visit.go(HERE, done=asked_words(asked))


def remove(visit: Visit) -> Response:
    """Remove a schedule of sending; ask once."""
    warning = _("It creates no more orders. Open orders stay open.")
    return removed(visit, TIMETABLE, HERE, warning)


def give_up(visit: Visit) -> Response:
    """Give up a file that is coming; ask once."""
    number = visit.form.get("transfer", "")
    if not visit.is_confirmed:
        return visit.ask(
            _("Cancel transfer %(number)s?", number=number),
            _("The received part is deleted; its agent starts again with its next order."),
            button=_("Cancel the transfer"),
            back=HERE,
            fields={"transfer": number},
        )
    cancel_transfer(visit.db, visit.services.parts, number_of(number), visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Transfer %(number)s is cancelled.", number=number))


PAGES: Final = (
    *TRANSFERS.pages(show, "edit"),
    Page("POST", "/collection/schedules", "operator", add, form="/collection"),
    Page(
        "POST",
        "/collection/schedules/change",
        "operator",
        change,
        form="/collection?edit={schedule}",
    ),
    Page("POST", "/collection/schedules/run", "operator", run_now, form="/collection"),
    Page("POST", "/collection/schedules/remove", "operator", remove, form="/collection"),
    Page("POST", "/collection/transfers/give-up", "operator", give_up, form="/collection"),
)
