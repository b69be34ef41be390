"""Hosts that are found during a round join it: probed by a few agents, then placed.

Invariant: a unit whose group has an owner goes to that owner, without a probe; any other is placed
when no order to probe it is open. Each batch is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.ownership import assignments
from manager.db.planning import missing_probes
from manager.db.rounds import round_units, rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.ownership.grants import may_receive
from manager.operations.ownership.group_owners import SAME_ADDRESS
from manager.operations.planning.cheapest_owners import cheapest_owners
from manager.operations.planning.probe_orders import order_some
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["order_probes", "place_probed"]

CHEAPEST: Final = Message("ownership.new_cheapest")


def order_probes(db: Database, now_ms: int, policy: Policy) -> int:
    """Enter new units into the crawl under way; return how many joined.

    While a round still probes they wait: each probe finds new hosts, and it would never end.
    """
    with db.read() as tx:
        if not hosts.any_in_state(tx, ["idle"]):
            return 0
    with db.write() as tx:
        current = rounds.open_round(tx)
        if current is None or current.state != "crawling":
            return 0
        receiving = _agents_for_work(tx, now_ms)
        if not receiving:
            return 0
        new = hosts.in_state(tx, "idle", policy.tick_batch_rows)
        owners = _owners(tx, new)
        _join(tx, current, owners, SAME_ADDRESS, now_ms)
        alone = [unit for unit, _ in new if unit not in owners]
        hosts.set_unit_state(tx, alone, "probing")
        # A plain agent calls once a night: a new host does not wait for its probe.
        probing = [row.id for row in receiving if not row.is_plain]
        if current.probe and probing:
            tops = hosts.tops_among(tx, alone)
            order_some(tx, current.number, tops, {}, probing, now_ms, policy)
        return len(new)


def place_probed(db: Database, now_ms: int, policy: Policy) -> int:
    """Give new units that were probed to the agents where they cost least; return how many."""
    with db.read() as tx:
        if not hosts.any_in_state(tx, ["probing"]):
            return 0
    with db.write() as tx:
        current = rounds.open_round(tx)
        if current is None or current.state != "crawling":
            return 0
        settled = missing_probes.settled_units(tx, policy.tick_batch_rows)
        owned = _owners(tx, settled)
        _join(tx, current, owned, SAME_ADDRESS, now_ms)
        alone = [unit for unit, _ in settled if unit not in owned]
        owners, added = cheapest_owners(tx, _agents_for_work(tx, now_ms), alone, policy, now_ms)
        _join(tx, current, owners, CHEAPEST, now_ms)
        agents.add_load(tx, added)
        return len(owned) + len(owners)


def _agents_for_work(tx: Transaction, now_ms: int) -> list[AgentRow]:
    return [row for row in agents.all_agents(tx) if may_receive(row, now_ms)]


def _owners(tx: Transaction, units: Sequence[tuple[int, int | None]]) -> dict[int, int]:
    """Return the owners of the groups that units belong to, where a group has one."""
    groups = {group for _, group in units if group is not None}
    owner = {group: agent for group, _, agent in assignments.owners_of_groups(tx, groups)}
    return {unit: owner[group] for unit, group in units if group in owner}


def _join(
    tx: Transaction, current: RoundRow, owners: Mapping[int, int], reason: Message, now_ms: int
) -> None:
    assignments.place(tx, owners, now_ms, reason)
    round_units.enter(tx, current.number, owners)
