"""Probes that are not needed: the orders of other agents for a unit that a probe saw whole.

A host of fewer pages than a probe has is fetched by its first probe. Another probe costs all of it
once more, and so does a move, so its other orders are dropped where they wait. What its distance
may still save is judged with all others when the first probes are done (`rounds.more_probes`).
Only one agent at a time is given a unit, so no order under way need be taken back.
Invariants: each done probe is judged once, when all its lines are in or are waited for no longer;
of two probes that disagree none counts, and the orders that one of them made needless wait again.
Where most units of a round are so small, none is spared: they are the crawl, and where they go
decides when it ends.
A drawn share of the units is probed by a second agent all the same, so an agent that leaves pages
out is contradicted, and cannot know where.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from manager.db.engine import Database
from manager.db.planning import spare_probes
from manager.db.planning.spare_probes import SEEN_WHOLE
from manager.operations.ownership.log_arrival import has_reported, heard_since
from manager.operations.policy import Policy

__all__ = ["drop_unneeded_probes"]

_chance: Final = random.SystemRandom()


def drop_unneeded_probes(
    db: Database, now_ms: int, policy: Policy, draw: Callable[[], float] = _chance.random
) -> int:
    """Judge probes that are done, and drop the orders that they make needless; return how many."""
    with db.read() as tx:
        if not spare_probes.unjudged(tx, policy.probe_pages, 1):
            return 0
    grace_ms = round(policy.log_timeout_s * 1000)
    with db.write() as tx:
        found = [
            one
            for one in spare_probes.unjudged(tx, policy.probe_pages, policy.tick_batch_rows)
            if one.logged
            or has_reported(tx, one.agent_id, heard_since(one.finished_ms, grace_ms, now_ms))
        ]
        if not found:
            return 0
        seen: dict[tuple[int, int], list[bool]] = defaultdict(list)
        for one in found:
            seen[one.unit_id, one.round].append(one.whole and one.logged)
        orders = defaultdict(list)
        units = {unit for unit, _ in seen}
        for order in spare_probes.of_units(tx, units, policy.probe_pages):
            orders[order.unit_id, order.round].append(order)
        spare_probes.judge(tx, [one.id for one in found])
        rounds = {number for _, number in seen}
        small = spare_probes.small_rounds(
            tx, rounds, policy.probe_pages, policy.whole_hosts_most_share
        )
        dropped: list[int] = []
        reopened = [order for orders_of in small.values() for order in orders_of]
        for pair, whole in seen.items():
            if pair[1] in small:
                continue
            if all(whole) and not any(one.partial for one in orders[pair]):
                spare = [one.id for one in orders[pair] if one.state == "waiting" and one.spare]
                dropped += spare[1:] if draw() < policy.whole_host_check_share else spare
            else:
                # Another agent's probe made these needless, and this one contradicts it.
                reopened += [
                    one.id
                    for one in orders[pair]
                    if one.state == "not_needed" and one.reason == SEEN_WHOLE
                ]
        spare_probes.reopen(tx, reopened, now_ms)
        return spare_probes.drop(tx, dropped)
