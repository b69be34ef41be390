"""The tick: everything that happens because time passes or because something else happened.

The clock calls it every few seconds. Each step is separate transactions that may be repeated, so a
kill between any two statements leaves a state that the next tick continues from, and two ticks at
once do no harm. Due work lives in tables: the cost of a tick grows with the work to do, and with
the number of agents, not with the number of hosts.
The order matters: deadlines move before anything ends, what ended is handed on before rights are
given, and generations are raised last, once for all that changed.
"""

from __future__ import annotations

from manager.balancing.balancers import make_plan
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.measurement import refetch_orders
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.operations.fleet.expiry import expire_permits, follow_clock, give_up_probes
from manager.operations.fleet.give_back import give_back
from manager.operations.fleet.takeover import take_over
from manager.operations.hosts.address_rules import update_shared_addresses
from manager.operations.hosts.crawl_scope import apply_scope
from manager.operations.hosts.host_shares import end_backoffs, share_out
from manager.operations.hosts.new_hosts import order_probes, place_probed
from manager.operations.hosts.splits.orders import carry_out_orders
from manager.operations.hosts.start_page_delivery import deliver_start_pages
from manager.operations.measurement.agent_verdicts import watch_agents
from manager.operations.measurement.distance_model import is_trained_here
from manager.operations.measurement.refetch_orders import give_up_refetches, order_refetches
from manager.operations.ownership.grants import grant_waiting, may_receive
from manager.operations.planning.planners import Solver
from manager.operations.planning.spare_probes import drop_unneeded_probes
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.rounds.deadlines import carry_over, drop_blocked_probes
from manager.operations.rounds.round_forecast import estimate_rounds
from manager.operations.rounds.round_progress import begin_crawl, finish_round
from manager.operations.rounds.round_schedules import start_scheduled
from manager.operations.segments.collection_schedules import start_collections
from shared.frozen import frozen

__all__ = ["TickOutcome", "tick"]


@frozen
class TickOutcome:
    """Outcome of a tick: a count for each step. moved_ms: by how much deadlines moved."""

    moved_ms: int
    rights_freed: int
    probes_given_up: int
    refetches_given_up: int
    refetches_ordered: int
    units_taken_over: int
    units_given_back: int
    units_carried: int
    probes_blocked: int
    probes_not_needed: int
    rounds_scheduled: int
    collections_ordered: int
    units_rescoped: int
    units_joined: int
    units_placed: int
    crawl_began: bool
    rounds_estimated: int
    backoffs_over: int
    hosts_split: int
    hosts_shared_out: int
    shared_addresses_changed: int
    start_pages_sent: int
    rights_given: int
    lists_changed: int
    round_finished: bool


def tick(
    db: Database,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
    planner: Solver | None = make_plan,
    epoch: int = 0,
) -> TickOutcome:
    """Do what is due at a moment. planner: makes plans; None: distances are learned, rounds
    planned and their ends predicted beside the tick (`begin_crawl`), for each may take minutes.

    epoch: of the leader that calls; another one has another clock.
    """
    moved_ms = follow_clock(db, now_ms, policy, epoch)
    if planner is not None:
        is_trained_here(db, now_ms)  # before agents are judged by it
    watch_agents(db, now_ms, policy)
    return TickOutcome(
        moved_ms=moved_ms,
        rights_freed=expire_permits(db, now_ms),
        probes_given_up=give_up_probes(db, now_ms, policy),
        refetches_given_up=give_up_refetches(db, now_ms, policy),
        refetches_ordered=order_refetches(db, now_ms, policy),
        units_taken_over=take_over(db, now_ms, policy),
        units_given_back=give_back(db, now_ms, policy),
        units_carried=carry_over(db, now_ms),
        probes_blocked=drop_blocked_probes(db),
        probes_not_needed=drop_unneeded_probes(db, now_ms, policy),
        rounds_scheduled=start_scheduled(db, now_ms, policy),
        collections_ordered=start_collections(db, now_ms),
        units_rescoped=apply_scope(db, now_ms),
        units_joined=order_probes(db, now_ms, policy),
        units_placed=place_probed(db, now_ms, policy),
        crawl_began=planner is not None and begin_crawl(db, lambda: now_ms, policy, planner),
        rounds_estimated=0 if planner is None else estimate_rounds(db, now_ms, policy),
        backoffs_over=end_backoffs(db, now_ms),
        hosts_split=carry_out_orders(db, now_ms, policy),
        hosts_shared_out=share_out(db, now_ms),
        shared_addresses_changed=update_shared_addresses(db, now_ms, policy),
        start_pages_sent=deliver_start_pages(db, now_ms, policy),
        rights_given=_give_rights(db, now_ms, policy),
        lists_changed=_raise_generations(db),
        round_finished=finish_round(db, now_ms, policy),
    )


def _give_rights(db: Database, now_ms: int, policy: Policy) -> int:
    with db.read() as tx:
        opened = rounds.open_rounds(tx)
        waiting = set(refetch_orders.agents_waiting(tx))
        if opened:
            waiting.update(probes.agents_waiting(tx))
        for one in opened:
            waiting.update(round_units.agents_waiting(tx, one.number))
        rows = agents.by_ids(tx, waiting).values()
        able = sorted(row.id for row in rows if may_receive(row, now_ms))
    given = 0
    for agent_id in able:
        with db.write() as tx:
            row = agents.by_id(tx, agent_id)
            if row is not None:
                given += grant_waiting(tx, row, rounds.open_rounds(tx), now_ms, policy)
    return given


def _raise_generations(db: Database) -> int:
    with db.read() as tx:
        if not agents.with_changed_lists(tx):
            return 0
    with db.write() as tx:
        changed = agents.with_changed_lists(tx)
        agents.raise_generations(tx, changed)
    return len(changed)
