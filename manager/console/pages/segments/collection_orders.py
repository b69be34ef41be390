"""Collection orders by agent and state: list, create and cancel them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.language import _, ngettext
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.words import word
from manager.console.pages.rounds.schedules import number_of
from manager.console.pages.segments.collection_forms import (
    CONDITION_WORDS,
    HERE,
    asked_of,
    asked_words,
    names_that_hear,
)
from manager.console.pages.segments.collection_tables import SENDS
from manager.console.requests.access import Page
from manager.console.requests.visit import Question, Visit, link
from manager.console.tables.sources import before_of
from manager.operations.fleet.agents import named_agents
from manager.operations.segments.collection_orders import (
    STATES,
    ListedOrder,
    cancel_order,
    collect_all_now,
    collect_now,
    list_orders,
    open_orders,
)

__all__ = ["PAGES"]

ORDERS: Final = "/console/collection/orders"
FILTERS: Final = ("agent", "state")
ROWS_AT_ONCE: Final = 1000
HEADER: Final = (
    "id",
    "agent",
    *SENDS,
    "made by",
    "made (UTC)",
    "state",
    "tries",
    "next try (UTC)",
    "segments",
    "sent (bytes)",
    "ended (UTC)",
    "result",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(ORDERS, visit.query, filters=FILTERS, sorts=("made",), default_sort="made")


def _found(visit: Visit, listing: Listing, before: int | None, limit: int) -> list[ListedOrder]:
    return list_orders(
        visit.db,
        agent=listing.filters["agent"],
        state=listing.filters["state"],
        before=before,
        limit=limit,
    )


def show(visit: Visit) -> Response:
    """Show orders, newest first."""
    listing, before = _listing(visit), before_of(visit)
    rows = _found(visit, listing, before, listing.size + 1)
    back = {**listing.filters, "before": before, "size": listing.size}
    return visit.page(
        "collection_orders.html",
        listing=listing,
        before=before,
        rows=rows[: listing.size],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        back={"back": "orders"} | {name: value for name, value in back.items() if value},
        open_orders=open_orders(visit.db),
        agents=[one.name for one in named_agents(visit.db) if not one.is_plain],
        states=STATES,
    )


def export(visit: Visit) -> Response:
    """Send the same rows, all of them, as CSV."""
    return csv_response("collection-orders", HEADER, _cells(visit, _listing(visit)))


def _cells(visit: Visit, listing: Listing) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := _found(visit, listing, before, ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                row.agent,
                row.condition,
                row.way,
                moment_cell(row.from_ms),
                moment_cell(row.until_ms),
                row.made_by,
                figures.iso(row.made_ms),
                row.state,
                row.tries,
                moment_cell(row.next_try_ms),
                row.segments,
                row.sent_bytes,
                moment_cell(row.ended_ms),
                str(row.result or ""),
            ]
        before = rows[-1].id


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
            Question(
                _("Ask all agents to send?"),
                (
                    ngettext(
                        "%(num)s agent receives the order with its next sync.",
                        "%(num)s agents receive the order with their next syncs.",
                        len(names_that_hear(visit)),
                    ),
                    f"{word(asked.condition)}: {CONDITION_WORDS[asked.condition]}",
                    _("Agents with too many open orders are left out."),
                ),
                _("Order now"),
                ORDERS,
                HERE,
                {name: visit.form.get(name, "") for name in ("condition", "first", "end", "pull")},
                danger=False,
            )
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
    kept = {name: visit.form.get(name, "") for name in (*FILTERS, "before", "size")}
    return link("collection/orders", **{name: value for name, value in kept.items() if value})


PAGES: Final = (
    Page("GET", "/collection/orders", "viewer", show, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/collection/orders.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/collection/orders", "operator", ask_now),
    Page("POST", "/collection/orders/cancel", "operator", cancel),
)
