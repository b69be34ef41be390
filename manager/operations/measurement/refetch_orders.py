"""Orders of refetches: another agent fetches a part of an agent's captures again, to compare.

As logs come in, pages are drawn at random, by ranks that no agent can know (`intake`). When the
round is over, of each agent's pages 1% are ordered from others, some at least and so many at most,
so a round of any size costs the same; all pages of one unit from one agent. Where the second agent
differs a third decides (`manager.assignment.refetch_rules`).
Invariants: a page is fetched under a right like any other: no address sees two robots, and rests
are kept; a round never waits for it. No agent fetches its own pages again. An agent that does not
support refetches, plain or of an older version, gets no order; its own pages are compared all the
same. The verdict is in `refetch_results`.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from manager.assignment.refetch_rules import (
    DrawnPage,
    Refetched,
    needs_another,
    pages_to_draw,
)
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements, refetch_orders, refetch_pages
from manager.db.measurement.refetch_orders import OrderRow
from manager.db.measurement.refetch_pages import PageRow
from manager.db.ownership import rights
from manager.db.ownership.work_orders import OPEN
from manager.db.planning import missing_probes
from manager.db.rounds import rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.actor import CLOCK, note
from manager.operations.measurement.refetch_results import count, seen_of
from manager.operations.ownership.grants import may_receive
from manager.operations.policy import Policy
from shared.messages import Message
from shared.wire.orders import OrderKind

__all__ = [
    "enter_results",
    "give_up_refetches",
    "keep_drawn",
    "lines_to_draw",
    "order_refetches",
]

ROUNDS_KEPT = 3
ORDERS_MOST = 4
"""Agents that are asked for a page, one after the other, until two have fetched it."""


def keep_drawn(
    tx: Transaction, agent_id: int, pages: Sequence[tuple[int, DrawnPage]], policy: Policy
) -> None:
    """Keep pages, by (unit, page), that were drawn from an agent's log of the newest round."""
    number = rounds.last_number(tx)
    newest = [(unit_id, page) for unit_id, page in pages if page.round == number]
    if newest and policy.refetch_share > 0:
        most: dict[OrderKind, int] = {
            "crawl": policy.max_refetch_pages,
            "probe": _probes_to_draw(tx, policy),
        }
        refetch_pages.keep_drawn(tx, agent_id, newest, most)


def lines_to_draw(db: Database, policy: Policy) -> tuple[int, int]:
    """Return how many lines of crawls and of probes are drawn from a log at most."""
    if not policy.refetch_share:
        return 0, 0
    with db.read() as tx:
        return policy.max_refetch_pages, _probes_to_draw(tx, policy)


def _probes_to_draw(tx: Transaction, policy: Policy) -> int:
    """Return how many lines of an agent's probes are drawn, so that enough of them count.

    They count where it crawls the unit, which one of the agents does that probed it.
    """
    count = agents.active(tx)
    if count > policy.probes_per_host_per_day:
        count = policy.probes_per_host
    return policy.max_refetch_pages * max(1, count)


def order_refetches(db: Database, now_ms: int, policy: Policy) -> int:
    """Order pages of a round that is over from other agents; return how many pages."""
    with db.read() as tx:
        if _to_draw(tx) is None:
            return 0
    with db.write() as tx:
        current = _to_draw(tx)
        if current is None:
            return 0
        refetch_pages.forget_before(tx, current.number - ROUNDS_KEPT + 1)
        pages = _chosen(tx, current, policy)
        pairs = _spread(tx, pages, _able(tx))
        refetch_orders.order(tx, pairs, now_ms)
        refetch_pages.forget_drawn(tx, current.number)
        rounds.update(tx, current.number, refetch_ms=now_ms)
        if pairs:
            note(tx, now_ms, CLOCK, "round.refetch", str(current.number), pages=len(pairs))
    return len(pairs)


def _to_draw(tx: Transaction) -> RoundRow | None:
    """Return the last ended round, if its pages were not looked at; a new one may be open."""
    for row in rounds.newest(tx, 2):
        if row.state == "finished":
            return row if row.refetch_ms is None else None
    return None


def _chosen(tx: Transaction, current: RoundRow, policy: Policy) -> list[PageRow]:
    requests = refetch_pages.requests_by_agent(tx, current.number)
    of_agent: dict[int, list[PageRow]] = defaultdict(list)
    for page in refetch_pages.drawn(tx, current.number):
        of_agent[page.agent_id].append(page)
    return [
        page
        for agent_id, pages in of_agent.items()
        for page in pages[
            : pages_to_draw(
                requests.get(agent_id, 0),
                policy.refetch_share,
                policy.min_refetch_pages,
                policy.max_refetch_pages,
            )
        ]
    ]


def _able(tx: Transaction) -> list[AgentRow]:
    """Return the agents that may be asked."""
    return [row for row in agents.all_agents(tx) if row.takes_part and row.refetches]


def _spread(
    tx: Transaction,
    pages: Sequence[PageRow],
    able: Sequence[AgentRow],
    asked: Mapping[int, Collection[int]] | None = None,
) -> list[tuple[PageRow, int]]:
    """Return for each page an agent that may fetch its unit, by chance; one for all of a unit.

    asked: agents that fetched a page already, or failed to. Pages that no agent can fetch are left
    out.
    """
    of_unit: dict[tuple[int, int, frozenset[int]], list[PageRow]] = defaultdict(list)
    for page in pages:
        out = frozenset({page.agent_id, *((asked or {}).get(page.id, ()))})
        of_unit[page.unit_id, page.agent_id, out].append(page)
    unit_ids = {page.unit_id for page in pages}
    banned = missing_probes.banned_pairs(tx, unit_ids)
    far = {
        (row.unit_id, row.agent_id)
        for row in measurements.distances_of_units(tx, unit_ids)
        if row.ms_per_kb is None
    }
    pairs: list[tuple[PageRow, int]] = []
    for (unit_id, _, out), of_one in of_unit.items():
        may = [
            row.id for row in able if row.id not in out and (unit_id, row.id) not in banned | far
        ]
        if may:
            chosen = secrets.choice(may)
            pairs += ((page, chosen) for page in of_one)
    return pairs


def enter_results(
    tx: Transaction,
    agent_id: int,
    seen: Sequence[Refetched],
    now_ms: int,
    policy: Policy,
) -> None:
    """Enter the log of pages that an agent fetched again."""
    touched = refetch_orders.set_results(tx, agent_id, seen)
    if touched:
        _settle(tx, refetch_pages.pages_by_id(tx, touched), now_ms, policy)


def give_up_refetches(db: Database, now_ms: int, policy: Policy) -> int:
    """Give up what takes too long, and ask others in its place; return how many orders that was."""
    grace_ms = round(policy.log_timeout_s * 1000)
    late_ms = round(policy.probe_timeout_s * 1000)
    with db.read() as tx:
        busy = refetch_orders.agents_with_open(tx)
        if not busy and not refetch_pages.open_pages(tx, 1):
            return 0
    given_up = 0
    with db.write() as tx:
        for agent_id in busy:
            row = agents.by_id(tx, agent_id)
            gone = row is None or not row.takes_part
            over: list[tuple[str, int, str]] = [("finished", now_ms - late_ms, "planning.no_log")]
            if gone:
                over += [("waiting", now_ms + 1, "planning.agent_not_taking_part")]
            elif row is not None and not may_receive(row, now_ms):
                over += [("waiting", now_ms - late_ms, "planning.agent_absent")]
            if row is not None and not row.reports_waiting:
                over += [("finished", now_ms - grace_ms, "planning.not_in_log")]
            over += [("granted", now_ms - late_ms, "planning.too_slow")]
            over += [("waiting", now_ms - 4 * late_ms, "planning.host_busy")]
            for state, before_ms, code in over:
                orders = refetch_orders.overdue(
                    tx, agent_id, state, before_ms, policy.tick_batch_rows
                )
                _give_up(tx, agent_id, orders, state, Message(code), now_ms)
                given_up += len(orders)
        _settle(tx, refetch_pages.open_pages(tx, policy.tick_batch_rows), now_ms, policy)
    return given_up


def _give_up(
    tx: Transaction,
    agent_id: int,
    orders: Sequence[OrderRow],
    state: str,
    reason: Message,
    now_ms: int,
) -> None:
    refetch_orders.fail(tx, [order.id for order in orders], reason)
    if state == "granted" and orders:
        units = {order.unit_id for order in orders}
        rights.withdraw(tx, now_ms, reason, unit_ids=units, agent_id=agent_id)


def _settle(tx: Transaction, pages: Sequence[PageRow], now_ms: int, policy: Policy) -> None:
    """Close pages of which enough is known, ask a further agent for the others, count again."""
    orders = refetch_orders.orders_of_pages(tx, [page.id for page in pages])
    closed: list[int] = []
    again: list[PageRow] = []
    asked: dict[int, set[int]] = {}
    for page in pages:
        if page.state != "open":
            continue
        of_page = orders[page.id]
        if any(order.state in OPEN for order in of_page):
            continue
        if len(of_page) < ORDERS_MOST and needs_another(seen_of(page, of_page)):
            again.append(page)
            asked[page.id] = {order.agent_id for order in of_page}
        else:
            closed.append(page.id)
    pairs = _spread(tx, again, _able(tx), asked)
    refetch_orders.order(tx, pairs, now_ms)
    ordered = {page.id for page, _ in pairs}
    closed += [page.id for page in again if page.id not in ordered]
    refetch_pages.set_state(tx, closed, "closed")
    newest: dict[int, int] = defaultdict(int)
    for page in pages:
        for agent_id in (page.agent_id, *(order.agent_id for order in orders[page.id])):
            newest[agent_id] = max(newest[agent_id], page.round)
    for agent_id, number in newest.items():
        count(tx, agent_id, number)
