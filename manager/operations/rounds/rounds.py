"""Rounds: probe, assign, crawl, report, equalise, again. People start and cancel them.

`probing` -> `crawling` -> `finished`, or `cancelled`. Rounds may overlap: one may begin while
another one crawls. At most `OPEN_MOST` are open, so a further one carries the oldest one's rest
over (`deadlines`); at most one probes. The step of a round from one state to the next is left to
the tick.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any, Final

from manager.balancing.balancers import BALANCERS
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.link_counts import LinkKindSum, sums_of_round
from manager.db.hosts import addresses, hosts
from manager.db.measurement import refetch_orders
from manager.db.ownership import rights
from manager.db.planning import plans, probes, requested_probes
from manager.db.planning.plans import PlanHead, PlanRow
from manager.db.rounds import round_units, rounds
from manager.db.rounds.rounds import RoundRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.health.round_counts import hosts_without_address, round_counts
from manager.operations.ownership.reassignment import members
from manager.operations.planning.plan_application import apply_plan
from manager.operations.planning.plan_facts import PlanFacts, facts_of
from manager.operations.planning.plans import check_moves, make_plan
from manager.operations.planning.probe_orders import order_probes_of_round
from manager.operations.planning.requested_probes import next_round
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.rounds.carried_work import cancel_carried, carried_round
from manager.operations.rounds.deadlines import carry_round, check_deadline, drop_blocked
from shared.errors import check_choice
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "METHODS",
    "RoundDetail",
    "RoundRow",
    "apply_plan",
    "cancel_round",
    "carry_over_now",
    "check_moves",
    "current_round",
    "list_rounds",
    "make_plan",
    "round_detail",
    "start_in",
    "start_round",
]

METHODS: Final = tuple(BALANCERS)
OPEN_MOST: Final = 2


@frozen
class RoundDetail:
    """A round with its progress. orders, units: how many are in each state.

    agents: name, and per state units, pages, bytes; failures by code; measured_ms of the crawl so
    far. failures: units that failed, by code of `HostFailure`. unresolved: hosts without an
    address, by code, which take no part; of the newest round only, as they are now. plan: costs
    per agent, tree and explanation of the plan that it goes by, or None: not made yet, or not
    asked for. link_kinds: what each kind of links brought, the most URLs first.
    """

    round: RoundRow
    orders: dict[str, int]
    units: dict[str, int]
    agents: list[dict[str, Any]]
    planned_ms: float | None
    bound_ms: float | None
    plan: PlanFacts | None
    link_kinds: list[LinkKindSum] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    unresolved: dict[str, int] = field(default_factory=dict)


def start_round(
    db: Database,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    probe: bool = True,
    seed: int = 0,
    moves: float | None = None,
    until_ms: int | None = None,
    until_share: float | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> int:
    """Begin a round and return its number: units without a fresh distance are probed first.

    method: the assignment method, one of METHODS. probe: False plans by the known distances. moves:
    share of the placed units that the plan may move, as `default` keeps to it; None: the policy's.
    until_ms, until_share: its deadline, a moment or the share of its units that are finished.
    Raises FormatError for another method, share or deadline, ConflictError while a round probes or
    where there is no agent that has called or no host with an address.
    """
    check_choice("method", method, METHODS)
    check_moves(moves)
    check_deadline(until_ms, until_share, now_ms)
    with db.write() as tx:
        return start_in(
            tx,
            method,
            actor,
            now_ms,
            probe=probe,
            seed=seed,
            moves=moves,
            policy=policy,
            until_ms=until_ms,
            until_share=until_share,
        )


def start_in(
    tx: Transaction,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    probe: bool,
    seed: int,
    moves: float | None,
    policy: Policy,
    until_ms: int | None = None,
    until_share: float | None = None,
) -> int:
    """Begin a round in a transaction of the caller's; return its number. Raises ConflictError."""
    opened = rounds.open_rounds(tx)
    for current in opened:
        if current.state == "probing":
            raise ConflictError("rounds.already_open", number=current.number, state=current.state)
    taking = [agent.id for agent in members(tx)]
    if not taking:
        raise ConflictError("rounds.no_agent")
    for row in opened[: len(opened) - OPEN_MOST + 1]:
        if row.carried_ms is None:
            carry_round(tx, row, actor, now_ms)
    # Refetches are ordered by round; unfetched pages are ordered again in this one.
    begins = Message("ownership.round_begins")
    rights.withdraw(tx, now_ms, begins, unit_ids=refetch_orders.granted_units(tx))
    hosts.change_state(tx, "idle", "probing")
    if not hosts.any_in_state(tx, ["placed", "probing"]):
        failed = Counter[str]()
        for _, failure, count in addresses.name_counts(tx, failed=True):
            failed[failure] += count
        if failed:
            raise ConflictError(
                "rounds.unresolved",
                hosts=failed.total(),
                failures=[
                    Message("rounds.failure", hosts=count, failure=failure)
                    for failure, count in failed.most_common()
                ],
            )
        raise ConflictError("rounds.no_address")
    number = next_round(tx)
    _take_carried(tx, number)
    asked = requested_probes.into_round(tx, rounds.last_number(tx), number, now_ms)
    given: dict[str, Any] = {"method": method, "probe": probe, "seed": seed}
    started = {"started_by": actor.name, "started_ms": now_ms}
    deadline = {"until_ms": until_ms, "until_share": until_share}
    rounds.add(tx, number=number, state="probing", plan_moves=moves, **given, **started, **deadline)
    orders = asked + (order_probes_of_round(tx, number, taking, now_ms, policy) if probe else 0)
    newest = rounds.open_round(tx)
    assert newest is not None, "it was added a moment ago"
    orders -= drop_blocked(tx, newest)
    given |= {name: value for name, value in deadline.items() if value is not None}
    note(tx, now_ms, actor, "round.start", str(number), moves=moves, orders=orders, **given)
    return number


def _take_carried(tx: Transaction, number: int) -> None:
    """Make a round the one into which units were carried before it had a number itself."""
    announced = rounds.last_announced(tx)
    if announced > rounds.last_number(tx):
        if announced != number:
            rounds.renumber(tx, announced, number)
        round_units.drop_waiting(tx, number)


def cancel_round(
    db: Database, actor: Actor, now_ms: int, reason: str = "", *, meant: int | None = None
) -> int:
    """End an open round; return its number. Agents stop with their next lists.

    meant: its number when it was decided; None: the newest that is open, or the round to come into
    which work was carried over. Measurements and captures stay. Raises ConflictError where there is
    nothing to cancel, or another round is open.
    """
    why = Message.of_text(reason) if reason else Message("general.cancelled_by", name=actor.name)
    with db.write() as tx:
        opened = rounds.open_rounds(tx)
        carried = carried_round(tx)
        if carried is not None and (carried == meant or (meant is None and not opened)):
            cancel_carried(tx, carried, actor, now_ms, why)
            return carried
        if not opened:
            raise ConflictError("rounds.none_open")
        found = [row for row in opened if meant is None or row.number == meant]
        if not found:
            raise ConflictError("rounds.other_open", meant=meant or 0, number=opened[-1].number)
        current = found[-1]
        cancelled = Message("rounds.cancelled")
        probes.fail_round(tx, current.number, cancelled)
        round_units.cancel_units(tx, current.number, cancelled)
        if rounds.live_numbers(tx) == [current.number]:
            for agent in agents.all_agents(tx):
                rights.withdraw(tx, now_ms, cancelled, agent_id=agent.id)
        else:
            rights.withdraw_crawls(tx, current.number, now_ms, cancelled)
        hosts.unplaced_to_idle(tx)
        rounds.update(tx, current.number, state="cancelled", finished_ms=now_ms, reason=why)
        note(tx, now_ms, actor, "round.cancel", str(current.number), reason=why)
        return current.number


def carry_over_now(
    db: Database, actor: Actor, now_ms: int, *, meant: int | None = None
) -> tuple[int, int]:
    """Carry over what is left of a round now; return its number and how many units.

    meant: its number; None: the oldest that crawls. Raises ConflictError where none does, or it
    does not.
    """
    with db.write() as tx:
        crawling = [
            row
            for row in rounds.open_rounds(tx)
            if row.state == "crawling" and row.carried_ms is None
        ]
        if not crawling:
            raise ConflictError("rounds.none_crawling")
        found = [row for row in crawling if meant is None or row.number == meant]
        if not found:
            raise ConflictError("rounds.other_open", meant=meant or 0, number=crawling[0].number)
        return found[0].number, carry_round(tx, found[0], actor, now_ms)


def current_round(db: Database) -> RoundRow | None:
    """Return the present round, or None."""
    with db.read() as tx:
        return rounds.open_round(tx)


def list_rounds(db: Database, limit: int = 50) -> list[RoundRow]:
    """Return the newest rounds, newest first; `round_list` has all."""
    with db.read() as tx:
        return rounds.newest(tx, max(1, min(limit, 1000)))


def round_detail(db: Database, number: int, *, with_plan: bool = True) -> RoundDetail:
    """Return a round; how far it is may be cached figures. Raises NotFoundError.

    with_plan: False leaves out what its plan says of each agent: of a thousand that is long.
    """
    with db.read() as tx:
        row = rounds.by_number(tx, number)
        if row is None:
            raise NotFoundError("rounds.unknown", number=number, see="rounds")
        plan: PlanHead | None = None
        if row.plan_id is not None:
            plan = (plans.by_id if with_plan else plans.head_by_id)(tx, row.plan_id)
        names = agents.names(tx)
        kinds = sums_of_round(tx, number)
        is_newest = number == rounds.last_number(tx)
    unresolved = hosts_without_address(db) if is_newest else {}
    far = round_counts(db, number)
    units: Counter[str] = Counter()
    of_agent: dict[int, dict[str, Any]] = {}
    for agent, state, held, pages, size in far.progress:
        units[state] += held
        entry = of_agent.setdefault(
            agent,
            {
                "name": names.get(agent, ""),
                "units": {},
                "pages": 0,
                "bytes": 0,
                "failures": {},
                "measured_ms": far.measured_ms.get(agent, 0),
            },
        )
        entry["units"][state] = held
        entry["pages"] += pages
        entry["bytes"] += size
    failures: Counter[str] = Counter()
    for agent, failure, count in far.failures:
        failures[failure] += count
        of_agent[agent]["failures"][failure] = count
    return RoundDetail(
        row,
        dict(far.orders),
        dict(units),
        list(of_agent.values()),
        plan.makespan_ms if plan is not None else None,
        plan.bound_ms if plan is not None else None,
        facts_of(plan.detail) if isinstance(plan, PlanRow) else None,
        kinds,
        dict(failures.most_common()),
        unresolved,
    )
