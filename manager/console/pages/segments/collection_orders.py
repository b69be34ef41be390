"""Collection orders by agent and state: list, create and cancel them."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, ngettext
from manager.console.messages.words import word
from manager.console.pages.rounds.schedules import number_of
from manager.console.pages.segments.collection_forms import (
    CONDITION_WORDS,
    HERE,
    asked_of,
    asked_words,
    names_that_hear,
)
from manager.console.pages.segments.collection_tables import ORDERS
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.sources import BEFORE, before_of
from manager.operations.segments.collection_orders import (
    cancel_order,
    collect_all_now,
    collect_now,
    open_orders,
)

__all__ = ["PAGES"]


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
)
