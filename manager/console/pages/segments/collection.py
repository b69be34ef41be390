"""Collection: schedules, the last orders, and transfers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _, lazy
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.disabled_reasons import Unable
from manager.console.pages.rounds.schedules import edited, next_run, number_of, removed, too_many
from manager.console.pages.segments.collection_forms import (
    CONDITION_WORDS,
    HERE,
    asked_of,
    asked_words,
    day_of,
    names_that_hear,
)
from manager.console.requests.access import Page
from manager.console.requests.visit import Question, Visit
from manager.console.tables.sources import before_of
from manager.operations.segments.collection_orders import list_orders, open_orders
from manager.operations.segments.collection_schedules import (
    TIMETABLE,
    add_collection_schedule,
    change_collection_schedule,
    run_collection_schedule,
)
from manager.operations.segments.upload_ends import cancel_transfer
from manager.operations.segments.upload_gaps import missing_bytes, read_gaps
from manager.operations.segments.uploads import ListedTransfer, list_transfers
from shared.frozen import frozen

__all__ = ["PAGES"]

FILTERS: Final = ("agent", "state")
ORDERS_SHOWN: Final = 10
ROWS_AT_ONCE: Final = 1000
STATES: Final = (
    *("receiving", "received", "accepted", "quarantined"),
    *("refused", "cancelled", "expired"),
)
HEADER: Final = (
    "id",
    "agent",
    "file",
    "bytes",
    "came (bytes)",
    "way",
    "state",
    "breaks",
    "begun (UTC)",
    "received (UTC)",
    "ended (UTC)",
    "result",
)

NOBODY_HEARS: Final = Unable(
    lazy("No sync agent has joined: only sync agents receive orders."),
    "/console/agents",
    lazy("Agents"),
)


@frozen
class IncomingTransfer:
    """A transfer with how far it is, 0 to 100."""

    row: ListedTransfer
    percent: int


def show(visit: Visit) -> Response:
    """Show schedules with their next runs, orders, and transfers, newest first."""
    listing = _listing(visit)
    before = before_of(visit)
    rows = _transfers(visit, listing, before, listing.size + 1)
    orders = list_orders(visit.db, limit=ORDERS_SHOWN + 1)
    schedules = TIMETABLE.listed(visit.db, visit.now_ms)
    schedule = edited(visit, schedules)
    return visit.page(
        "collection.html",
        listing=listing,
        before=before,
        rows=[_with_progress(row) for row in rows[: listing.size]],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        orders=orders[:ORDERS_SHOWN],
        orders_cut=len(orders) > ORDERS_SHOWN,
        open_orders=open_orders(visit.db),
        schedules=schedules,
        edited=schedule,
        first=day_of(schedule.from_ms) if schedule is not None else "",
        end=day_of(schedule.until_ms) if schedule is not None else "",
        agents=names_that_hear(visit),
        unready=NOBODY_HEARS if not names_that_hear(visit) else "",
        too_many=too_many(TIMETABLE, schedules),
        conditions=CONDITION_WORDS,
        states=STATES,
    )


def export(visit: Visit) -> Response:
    """Send all transfers as CSV."""
    return csv_response("transfers", HEADER, _cells(visit, _listing(visit)))


def _listing(visit: Visit) -> Listing:
    return read_listing(HERE, visit.query, filters=FILTERS, sorts=("begun",), default_sort="begun")


def _transfers(
    visit: Visit, listing: Listing, before: int | None, limit: int
) -> list[ListedTransfer]:
    return list_transfers(
        visit.db,
        agent=listing.filters["agent"],
        state=listing.filters["state"],
        before=before,
        limit=limit,
    )


def _with_progress(row: ListedTransfer) -> IncomingTransfer:
    there = row.size_bytes - missing_bytes(read_gaps(row.gaps))
    return IncomingTransfer(row, 100 * there // max(1, row.size_bytes))


def _cells(visit: Visit, listing: Listing) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := _transfers(visit, listing, before, ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                row.agent,
                row.filename,
                row.size_bytes,
                row.received_bytes,
                row.way,
                row.state,
                row.breaks,
                figures.iso(row.begun_ms),
                None if row.received_ms is None else figures.iso(row.received_ms),
                None if row.ended_ms is None else figures.iso(row.ended_ms),
                str(row.result or ""),
            ]
        before = rows[-1].id


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
            Question(
                _("Cancel transfer %(number)s?", number=number),
                (_("The received part is deleted; its agent starts again with its next order."),),
                _("Cancel the transfer"),
                f"{HERE}/transfers/give-up",
                HERE,
                {"transfer": number},
            )
        )
    cancel_transfer(visit.db, visit.door.parts, number_of(number), visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Transfer %(number)s is cancelled.", number=number))


PAGES: Final = (
    Page("GET", "/collection", "viewer", show, query=(*FILTERS, *LISTED, "before", "edit")),
    Page("GET", "/collection.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/collection/schedules", "operator", add),
    Page("POST", "/collection/schedules/change", "operator", change),
    Page("POST", "/collection/schedules/run", "operator", run_now),
    Page("POST", "/collection/schedules/remove", "operator", remove),
    Page("POST", "/collection/transfers/give-up", "operator", give_up),
)
