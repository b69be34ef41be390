"""Results of refetches: compared, counted for their agents, shown.

The verdict is kept on the agent; `agent_verdicts` writes it down.
"""

from __future__ import annotations

from collections.abc import Iterable

from manager.assignment.refetch_rules import Seen, Tally, Verdict, is_comparable, judge
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import refetch_orders, refetch_pages
from manager.db.measurement.refetch_orders import OrderRow
from manager.db.measurement.refetch_pages import PageRow
from manager.db.rounds import tick_clock
from manager.operations.identity.enrolment import agent_named
from shared.frozen import frozen

__all__ = [
    "RefetchedPage",
    "Refetches",
    "count",
    "refetch_tally",
    "refetches_of",
    "seen_of",
]


@frozen
class RefetchedPage:
    """A page that was fetched again. crawled_by: the agent of the capture. said: result by agent.

    verdict: of the agent that was asked about: others agree, contradict it, or it is undecided.
    """

    url: str
    crawled_by: str
    said: dict[str, Seen]
    verdict: Verdict


@frozen
class Refetches:
    """Others' observations of an agent's pages in the newest compared round."""

    agent: str
    round: int
    tally: Tally
    suspect: bool
    waiting: int
    pages: list[RefetchedPage]


def seen_of(page: PageRow, orders: Iterable[OrderRow]) -> dict[int, Seen]:
    """Return what each agent saw of a page, where that can be compared."""
    seen = {page.agent_id: Seen(page.status, page.response_bytes)}
    for order in orders:
        if order.state == "done" and is_comparable(order.status):
            seen[order.agent_id] = Seen(order.status, order.response_bytes)
    return seen


def count(tx: Transaction, agent_id: int, number: int) -> None:
    """Record the results of an agent's pages in a round, and have it judged again."""
    row = agents.by_id(tx, agent_id)
    if row is None or number < row.refetch_round:
        return
    verdicts = [
        verdict
        for page, seen in _pages(tx, agent_id, number)
        if (verdict := judge(seen).get(agent_id)) is not None
    ]
    found = (number, len(verdicts), verdicts.count(False))
    if found != (row.refetch_round, row.refetch_compared, row.refetch_contradicted):
        agents.update(
            tx,
            agent_id,
            refetch_round=number,
            refetch_compared=found[1],
            refetch_contradicted=found[2],
        )
        tick_clock.watch_again(tx)


def refetch_tally(row: AgentRow) -> Tally:
    """Return the results of an agent's pages from its row."""
    return Tally(row.refetch_compared, row.refetch_contradicted)


def refetches_of(db: Database, name: str) -> Refetches:
    """Return what others saw of an agent's pages, contradicted ones first. Raises NotFoundError."""
    with db.read() as tx:
        row = agent_named(tx, name, see="agents list")
        names = agents.names(tx)
        found = _pages(tx, row.id, row.refetch_round)
    pages = [
        RefetchedPage(
            page.url,
            names[page.agent_id],
            {names[agent]: one for agent, one in seen.items()},
            judge(seen).get(row.id),
        )
        for page, seen in found
        if row.id in seen and len(seen) > 1
    ]
    pages.sort(key=lambda page: (page.verdict is not False, page.verdict is not None, page.url))
    tally = refetch_tally(row)
    waiting = sum(page.state == "open" and page.agent_id == row.id for page, _ in found)
    return Refetches(name, row.refetch_round, tally, tally.is_suspect, waiting, pages)


def _pages(tx: Transaction, agent_id: int, number: int) -> list[tuple[PageRow, dict[int, Seen]]]:
    pages = refetch_pages.pages_of_agent(tx, agent_id, number)
    orders = refetch_orders.orders_of_pages(tx, [page.id for page in pages])
    return [(page, seen_of(page, orders[page.id])) for page in pages]
