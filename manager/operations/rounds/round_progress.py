"""Progress of a round: plan when it is probed, end when all is crawled and reported."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from manager.balancing.errors import BalancingError
from manager.balancing.plan import Plan
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts, start_page_news, start_pages
from manager.db.ownership import pins, rights
from manager.db.planning import plans, probes, requested_probes, spare_probes
from manager.db.rounds import round_units, rounds
from manager.db.rounds.rounds import RoundRow
from manager.errors import StalePlanError
from manager.operations.actor import CLOCK, note
from manager.operations.hosts.host_shares import spread_distances
from manager.operations.hosts.splits.application import apply_by_setting
from manager.operations.hosts.splits.robots_pauses import lengthen_pauses
from manager.operations.measurement.agent_verdicts import watch_agents
from manager.operations.measurement.distance_model import IsTrained, is_trained_here
from manager.operations.measurement.distances import counted_totals
from manager.operations.ownership.log_arrival import has_reported, heard_since
from manager.operations.ownership.reassignment import members
from manager.operations.planning.balancing_problem import DEAL, Loaded, load_all
from manager.operations.planning.plan_application import apply_moves
from manager.operations.planning.planners import Solver
from manager.operations.planning.plans import plan_options, rows_of_plan
from manager.operations.policy import Policy
from manager.operations.rounds.more_probes import order_more_probes
from manager.operations.rounds.probe_end import ProbeState, give_up_late_probes, probe_state
from manager.operations.rounds.round_ends import end_error
from shared.messages import Message

__all__ = ["begin_crawl", "finish_round"]

_log: Final = logging.getLogger(__name__)


def begin_crawl(
    db: Database,
    now: Callable[[], int],
    policy: Policy,
    planner: Solver,
    is_trained: IsTrained = is_trained_here,
) -> bool:
    """Plan a round whose probes are done, assign the units and begin the crawl.

    Orders more probes before, also while the last few of a step are open (`probe_end`).

    now: the time in ms, asked for again with each write: a plan of a million hosts takes minutes,
    and the times of changes by others meanwhile must not be later than those of its results.
    is_learned: whether a plan may be made; the round waits for it.

    The plan is made outside a transaction and stored in a separate one, so that agents wait for
    the second one only; where owners changed meanwhile, or a kill came in between, the next call
    makes another. Without an agent that takes part the round waits.
    """
    with db.read() as tx:
        current = rounds.open_round(tx)
        if current is None or current.state != "probing":
            state = ProbeState.OPEN
        else:
            state = probe_state(tx, current, policy, now())
    if current is None or state is ProbeState.OPEN:
        is_trained(db, now())
        return False
    if state is ProbeState.LATE:
        give_up_late_probes(db, current, now, policy)
        return False
    watch_agents(db, now(), policy, everybody=True)
    if not is_trained(db, now()):
        return False
    spread_distances(db)
    if state is ProbeState.NEARLY_DONE:
        order_more_probes(db, current, now, policy)
        return False
    lengthen_pauses(db, now(), policy)
    apply_by_setting(db, now(), policy)
    if order_more_probes(db, current, now, policy):
        return False
    made_ms = now()
    with db.read() as tx:
        loaded = load_all(
            tx,
            members(tx),
            ["placed", "probing"],
            policy,
            on_predictions=current.method == DEAL or current.predicted_ms is not None,
            keep_crawled=True,
            fetched=spare_probes.whole_units(tx, current.number),
            start_ms=made_ms,
        )
    if loaded is None:
        return False
    plan = _plan_of(current, loaded, policy, planner)
    rows = rows_of_plan(plan, loaded, current.number, current.seed, CLOCK, made_ms)
    with db.write() as tx:
        plan_id = plans.add(tx, *rows)
    try:
        with db.write() as tx:
            again = rounds.open_round(tx)
            if again is None or again.number != current.number or again.state != "probing":
                return False
            stored = plans.by_id(tx, plan_id)
            assert stored is not None, "plans are never deleted"
            now_ms = now()
            moved = apply_moves(tx, stored, now_ms)
            start_pages.forget_found(tx, current.number)
            units = round_units.enter_all(tx, current.number)
            begun = {"state": "crawling", "crawling_ms": now_ms, "plan_id": plan_id}
            # Its end is predicted again, by the plan.
            rounds.update(tx, current.number, **begun, eta_ms=None, eta_made_ms=None)
            done: dict[str, Any] = {"plan": plan_id, "moved": moved, "units": units}
            note(tx, now_ms, CLOCK, "round.start-crawl", str(current.number), **done)
    except StalePlanError:
        return False
    return True


def _plan_of(current: RoundRow, loaded: Loaded, policy: Policy, planner: Solver) -> Plan:
    """Return the plan of the round's method; of the default one where that refuses, as `lp` may."""
    options = plan_options(policy, seed=current.seed, moves=current.plan_moves)
    try:
        return planner(current.method, loaded.problem, options)
    except BalancingError as error:
        _log.warning("round %d: %s; planned by default instead", current.number, error)
        return planner("default", loaded.problem, options)


def finish_round(db: Database, now_ms: int, policy: Policy) -> bool:
    """End rounds whose units are all crawled and whose logs are in; write their makespan down.

    A round whose rest was carried over waits for logs no longer than one may be on its way.
    """
    with db.read() as tx:
        over = [row.number for row in rounds.open_rounds(tx) if _is_over(tx, row, now_ms, policy)]
    ended = [_finish(db, number, now_ms, policy) for number in over]
    return any(ended)


def _finish(db: Database, number: int, now_ms: int, policy: Policy) -> bool:
    with db.write() as tx:
        again = rounds.by_number(tx, number)
        if again is None or not _is_over(tx, again, now_ms, policy):
            return False
        totals = counted_totals(tx, again.number)
        longest = max(totals, key=lambda total: (total[1], -total[0]), default=None)
        makespan_ms = longest[1] if longest is not None else 0
        last_ms = max(round_units.finishers(tx, again.number).values(), default=now_ms)
        if again.carried_ms is not None:
            last_ms = min(last_ms, again.carried_ms)
        _end_probes(tx, again.number, now_ms)
        began_ms = again.crawling_ms if again.crawling_ms is not None else last_ms
        rounds.update(
            tx,
            again.number,
            state="finished",
            finished_ms=now_ms,
            makespan_ms=makespan_ms,
            makespan_agent=agents.names(tx)[longest[0]] if longest is not None else "",
            elapsed_ms=max(0, last_ms - began_ms),
            eta_error=end_error(again, now_ms, round_units.counts_of(tx, again.number)),
        )
        note(tx, now_ms, CLOCK, "round.finish", str(again.number), makespan_ms=makespan_ms)
    return True


def _end_probes(tx: Transaction, number: int, now_ms: int) -> None:
    """Give up what people ordered to be probed in a round that is over; nothing waited for it."""
    probed = requested_probes.granted_in(tx, number)
    over = Message("ownership.round_over")
    rights.withdraw(tx, now_ms, over, unit_ids=probed)
    probes.fail_round(tx, number, Message("rounds.ended_first"))


def _is_over(tx: Transaction, current: RoundRow, now_ms: int, policy: Policy) -> bool:
    if current.state != "crawling" or round_units.any_unfinished(tx, current.number):
        return False
    grace_ms = round(policy.log_timeout_s * 1000)
    if current.carried_ms is not None:
        if not current.carried_ms <= now_ms < current.carried_ms + 2 * grace_ms:
            return True
    elif _takes_new_hosts(tx, current):
        if start_page_news.any_waiting(tx):
            return False
        # Units that no agent here may have wait for one that may, not for this round.
        if hosts.any_in_state(tx, ["probing", "idle"], pins.blocked_groups(agents.active(tx))):
            return False
        # What an agent found last is still on its way into the round, for as long as a log may be.
        if hosts.any_unresolved_since(tx, now_ms - grace_ms):
            return False
    return all(
        has_reported(tx, agent, heard_since(last_ms, grace_ms, now_ms))
        for agent, last_ms in round_units.finishers(tx, current.number).items()
    )


def _takes_new_hosts(tx: Transaction, current: RoundRow) -> bool:
    """Return whether hosts that are found now take part in a round: in the newest one they do."""
    newest = rounds.open_round(tx)
    return newest is not None and newest.number == current.number
