"""Proposals to split and to merge hosts, beside the slow hosts that no split helps.

A split is proposed where the predicted end of the whole crawl is earlier by more than
`policy.plan_error`, a merge where it is no later. Of however many hosts, only those are looked at
that hold the crawl up, `LOOKED_AT` at most, and the split hosts.
Invariants: all proposed splits together end no later than the crawl does now, and all proposed
merges no later than that. What a person split or merged is never changed by the setting, and what
the setting changed not before `REST_ROUNDS` rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.forecast.agent_load import CrawlForecast
from manager.balancing.forecast.split_forecast import (
    SplitChoice,
    SplitStep,
    choose_splits,
    merge_pays,
    split_end,
)
from manager.db.engine import Database, Transaction
from manager.db.hosts import host_splits, hosts
from manager.db.hosts.host_splits import SplitAction, SplitChange
from manager.db.hosts.hosts import HostRow
from manager.db.ownership import assignments
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.hosts.idle_hosts import check_idle
from manager.operations.hosts.splits.changes import FIGURE
from manager.operations.hosts.splits.crawl_view import CrawlView, view_crawl
from manager.operations.hosts.splits.slow_hosts import SlowHost, fit_ms, slow_hosts, whole_ms
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["SplitProposal", "SplitReport", "propose_splits", "split_report"]

LOOKED_AT: Final = 20
"""Hosts that are cut to see what a split would gain."""
MERGES_MOST: Final = 200
"""Split hosts of which it is asked whether they still gain."""
REST_ROUNDS: Final = 2


@message_fields
@frozen
class SplitProposal:
    """A host to be split among agents, or merged at one.

    interval_s: between two requests of all agents together; None: of a merge. host_before_ms,
    host_after_ms: how long the host takes, if nothing else holds it up. crawl_before_ms,
    crawl_after_ms: how long the whole crawl takes, with all proposals before this one; None: for
    ever. is_personal: a person split or merged it last, so the setting leaves it alone, as it does
    before round `from_round`. obstacle: why it cannot be done right now. is_ordered: it is done as
    soon as it can be.
    """

    host: str
    action: SplitAction
    agents: list[str]
    interval_s: float | None
    host_before_ms: int | None
    host_after_ms: int | None
    crawl_before_ms: int | None
    crawl_after_ms: int | None
    is_personal: bool
    from_round: int
    obstacle: Message | None
    is_ordered: bool

    @property
    def pieces(self) -> int:
        """Return the number of pieces of a split."""
        return len(self.agents)


@frozen
class SplitReport:
    """Proposals and slow hosts. setting: `policy.splits`. crawl_ms: how long the whole crawl takes
    as hosts are split now, after_ms: with all proposals; None: for ever.

    fit_ms: a host that takes longer is slow. slow_total: how many, of which `slow` are the slowest.
    looked_at: how many hosts were cut, of so many addresses.
    """

    setting: str
    crawl_ms: int | None
    after_ms: int | None
    fit_ms: int
    addresses: int
    looked_at: int
    proposals: list[SplitProposal]
    slow_total: int
    slow: list[SlowHost]


def split_report(db: Database, policy: Policy, now_ms: int) -> SplitReport:
    """Return proposals and slow hosts; a cached figure, as the whole crawl is read for it."""
    return db.figure(FIGURE, lambda tx: propose_splits(tx, policy, now_ms))


def propose_splits(tx: Transaction, policy: Policy, now_ms: int) -> SplitReport:
    """Return proposals and slow hosts, from what is known now."""
    view = view_crawl(tx, policy, now_ms)
    proposals: list[SplitProposal] = []
    looked: set[int] = set()
    after = view.forecast
    if policy.splits != "off":
        steps, looked = _steps(view)
        for step in steps:
            after, _ = split_end(after, step.choice, view.wait_ms)
        proposals = [*_splits(view, steps)]
        merges, after = _merges(view, after)
        proposals += merges
    limit_ms = fit_ms(tx, policy)
    total, slow = slow_hosts(view, limit_ms, {one.host for one in proposals})
    return SplitReport(
        setting=policy.splits,
        crawl_ms=whole_ms(view.forecast.end_ms),
        after_ms=whole_ms(after.end_ms),
        fit_ms=limit_ms,
        addresses=sum(len(load.address) for load in view.forecast.loads.values()),
        looked_at=len(looked),
        proposals=proposals,
        slow_total=total,
        slow=slow,
    )


def _steps(view: CrawlView) -> tuple[list[SplitStep], set[int]]:
    looked: set[int] = set()

    def ways(address: int, owner: int) -> Sequence[SplitChoice]:
        looked.add(address)
        return view.ways(address, owner)

    steps = choose_splits(
        view.forecast,
        ways,
        error=view.policy.plan_error,
        wait_ms=view.wait_ms,
        most=LOOKED_AT,
    )
    return steps, looked


def _splits(view: CrawlView, steps: Iterable[SplitStep]) -> Iterable[SplitProposal]:
    steps = list(steps)
    known = hosts.by_ids(view.tx, [step.choice.address for step in steps])
    changes = host_splits.changes_of(view.tx, known)
    orders = host_splits.orders_of(view.tx, known)
    for step in steps:
        host = known[step.choice.address]
        change = changes.get(host.id)
        yield SplitProposal(
            host=host.key,
            action="split",
            agents=[view.rows[piece.agent].name for piece in step.choice.pieces],
            interval_s=step.choice.pause_ms / 1000,
            host_before_ms=whole_ms(step.host_before_ms),
            host_after_ms=whole_ms(step.host_ms),
            crawl_before_ms=whole_ms(step.before_ms),
            crawl_after_ms=whole_ms(step.end_ms),
            is_personal=change is not None and not change.by_setting,
            from_round=_from_round(change),
            obstacle=_busy(view, host),
            is_ordered=host.id in orders,
        )


def _merges(view: CrawlView, after: CrawlForecast) -> tuple[list[SplitProposal], CrawlForecast]:
    """Return the split hosts whose pieces gain nothing, and the forecast with them merged."""
    found = []
    known = hosts.by_ids(view.tx, host_splits.shared_hosts(view.tx, MERGES_MOST))
    changes = host_splits.changes_of(view.tx, known)
    orders = host_splits.orders_of(view.tx, known)
    for host in known.values():
        units = view.units_at(host.id)
        owner = _owner_of_top(view, host)
        if not len(units) or owner not in after.loads:
            continue
        mine = units[view.sized.agent[units] == owner]
        speed = view.part(mine if len(mine) else units)
        whole = view.part(units)
        whole = replace(whole, transfer_ms=whole.volume_kb * speed.transfer_ms / speed.volume_kb)
        works = _works(view, after, host.id, units)
        merged = merge_pays(after, host.id, owner, whole, works, error=view.policy.plan_error)
        if merged is None:
            continue
        change = changes.get(host.id)
        alone = after.loads[owner]
        host_ms = after.end_of(owner, float(alone.alone_ms(alone.alone(whole))[0]))
        found.append(
            SplitProposal(
                host=host.key,
                action="merge",
                agents=[view.rows[owner].name],
                interval_s=None,
                host_before_ms=whole_ms(max(after.end_of(*one) for one in works.items())),
                host_after_ms=whole_ms(host_ms),
                crawl_before_ms=whole_ms(after.end_ms),
                crawl_after_ms=whole_ms(merged.end_ms),
                is_personal=change is None or not change.by_setting,
                from_round=_from_round(change),
                obstacle=_busy(view, host),
                is_ordered=host.id in orders,
            )
        )
        after = merged
    return found, after


def _owner_of_top(view: CrawlView, host: HostRow) -> int:
    [top] = [one.id for one in hosts.units_of_hosts(view.tx, [host.key]) if one.path == "/"]
    return assignments.owners_of(view.tx, [top]).get(top, 0)


def _works(
    view: CrawlView, forecast: CrawlForecast, address: int, units: IntArray
) -> dict[int, float]:
    """Return how long each agent works for its pieces of a host alone."""
    found = {}
    for agent in np.unique(view.sized.agent[units]).tolist():
        load = forecast.loads[agent]
        at = int(np.searchsorted(load.address, address))
        found[agent] = float(load.alone_ms(load.load)[at])
    return found


def _from_round(change: SplitChange | None) -> int:
    return 0 if change is None else change.round + REST_ROUNDS


def _busy(view: CrawlView, host: HostRow) -> Message | None:
    try:
        units = hosts.units_of_hosts(view.tx, [host.key])
        check_idle(view.tx, host, units, view.policy, view.now_ms)
    except ConflictError as error:
        return error.message
    return None
