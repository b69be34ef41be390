"""Proposals to split and to merge hosts, and slow hosts with what would help them.

A split is proposed where the predicted end of the whole crawl is earlier by more than
`policy.plan_error`, a merge where it is no later. Of however many hosts, only those are looked at
that hold the crawl up, `LOOKED_AT` at most, the split hosts, and the slowest `SLOW_MOST`.
Invariants: all proposed splits together end no later than the crawl does now, and all proposed
merges no later than that. What a person split or merged is never changed by the setting, and what
the setting changed not before `REST_ROUNDS` rounds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.forecast.agent_load import CrawlForecast
from manager.balancing.forecast.slow_hosts import remedies
from manager.balancing.forecast.split_forecast import (
    SplitChoice,
    SplitStep,
    choose_splits,
    merge_pays,
    split_end,
)
from manager.db.engine import Database, Transaction
from manager.db.hosts import addresses, host_splits, hosts
from manager.db.hosts.host_splits import SplitAction, SplitChange
from manager.db.hosts.hosts import HostRow
from manager.db.ownership import assignments
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.hosts.idle_hosts import check_idle
from manager.operations.hosts.splits.changes import FIGURE
from manager.operations.hosts.splits.crawl_view import CrawlView, view_crawl
from manager.operations.ownership.agent_capacity import MOST_MS
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["SlowHost", "SplitProposal", "SplitReport", "propose_splits", "split_report"]

LOOKED_AT: Final = 20
"""Hosts that are cut to see what a split would gain."""
MERGES_MOST: Final = 200
"""Split hosts of which it is asked whether they still gain."""
SLOW_MOST: Final = 50
"""Slow hosts that are listed."""
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


@message_fields
@frozen
class SlowHost:
    """A host that takes longer than it should and that no split helps, with what would.

    beside: other hosts at its address, which it has in common with them. takes_ms: so long; None:
    for ever. interval_s: the longest interval of its agent with which it ends in time; burst: the
    fewest requests in a row; None: nothing of the kind helps. why: no split helps.
    """

    host: str
    agent: str
    beside: int
    requests: int
    takes_ms: int | None
    interval_s: float | None
    burst: int | None
    why: Message


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
    fit_ms = _fit_ms(tx, policy)
    total, slow = _slow(view, fit_ms, {one.host for one in proposals})
    return SplitReport(
        setting=policy.splits,
        crawl_ms=_whole(view.forecast.end_ms),
        after_ms=_whole(after.end_ms),
        fit_ms=fit_ms,
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
            host_before_ms=_whole(step.host_before_ms),
            host_after_ms=_whole(step.host_ms),
            crawl_before_ms=_whole(step.before_ms),
            crawl_after_ms=_whole(step.end_ms),
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
                host_before_ms=_whole(max(after.end_of(*one) for one in works.items())),
                host_after_ms=_whole(host_ms),
                crawl_before_ms=_whole(after.end_ms),
                crawl_after_ms=_whole(merged.end_ms),
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


def _slow(view: CrawlView, fit_ms: int, helped: Collection[str]) -> tuple[int, list[SlowHost]]:
    """Return how many hosts take too long although nothing is proposed, and the slowest."""
    slow: list[tuple[float, int, int]] = []
    total = 0
    for agent, load in view.forecast.loads.items():
        ends = view.forecast.hours[agent].end_of(load.alone_ms(load.load))
        late = np.flatnonzero(ends > fit_ms)
        total += len(late)
        slowest = late[np.argsort(-ends[late], kind="stable")[: SLOW_MOST + len(helped)]]
        slow += [(float(ends[one]), agent, int(load.address[one])) for one in slowest]
    slow.sort(key=lambda one: (-one[0], one[2], one[1]))
    known = hosts.by_ids(view.tx, {address for *_, address in slow})
    left = {address: (ends_ms, agent) for ends_ms, agent, address in reversed(slow)}
    listed = [one for one in reversed(left.items()) if known[one[0]].key not in helped]
    total -= len(slow) - len(listed)
    return total, [
        _slow_host(view, known[address], *one, fit_ms) for address, one in listed[:SLOW_MOST]
    ]


def _slow_host(view: CrawlView, host: HostRow, ends_ms: float, agent: int, fit_ms: int) -> SlowHost:
    units = view.units_at(host.id)
    units = units[view.sized.agent[units] == agent]
    part = replace(view.part(units), own_rest_ms=float(view.sized.own_rest_ms[units].max()))
    load, hours = view.forecast.loads[agent], view.forecast.hours[agent]
    work_ms = float(hours.work_at(np.array([float(fit_ms)]))[0])
    found = remedies(part, load.capacity, load.rest_ms(part), work_ms)
    interval_ms = found.interval_ms
    return SlowHost(
        host=host.key,
        agent=view.rows[agent].name,
        beside=max(0, len(addresses.numbers_of_group(view.tx, host.id)) - 1),
        requests=round(part.requests),
        takes_ms=_whole(ends_ms),
        interval_s=None if interval_ms is None else math.floor(interval_ms) / 1000,
        burst=found.burst,
        why=view.obstacle(host.id) or Message("hosts.split_gains_nothing"),
    )


def _fit_ms(tx: Transaction, policy: Policy) -> int:
    """Return within what a host should be done: the deadline of the round, else the setting."""
    current = rounds.open_round(tx)
    if current is not None and current.until_ms is not None:
        return max(1, current.until_ms - (current.crawling_ms or current.started_ms))
    return round(policy.slow_host_s * 1000)


def _from_round(change: SplitChange | None) -> int:
    return 0 if change is None else change.round + REST_ROUNDS


def _busy(view: CrawlView, host: HostRow) -> Message | None:
    try:
        units = hosts.units_of_hosts(view.tx, [host.key])
        check_idle(view.tx, host, units, view.policy, view.now_ms)
    except ConflictError as error:
        return error.message
    return None


def _whole(ms: float) -> int | None:
    return round(ms) if ms <= MOST_MS else None
