"""Who is to probe what: everybody everything while that is feasible, some agents each host else.

Invariant: of an agent at most one order a unit and round. A host that is probed by some only is
probed by its finder and its owner, whose distances will be used, and by others chosen by a hash,
so that a repeat chooses the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from manager.db import hosts, ordering
from manager.db.engine import Transaction, chunks
from manager.operations.policy import Policy

__all__ = ["choose_agents", "order_some", "order_some_everywhere"]


def choose_agents(
    unit_id: int, preferred: Sequence[int | None], agent_ids: Sequence[int], count: int
) -> list[int]:
    """Return at most `count` of some agents to probe a unit: the preferred first, then by hash."""
    chosen = [agent for agent in dict.fromkeys(preferred) if agent in agent_ids]
    rest = sorted(
        (agent for agent in agent_ids if agent not in chosen),
        key=lambda agent: hashlib.sha256(f"{unit_id} {agent}".encode()).digest(),
    )
    return [agent for agent in [*chosen, *rest][:count] if agent is not None]


def order_some(
    tx: Transaction,
    round_number: int,
    unit_ids: Sequence[int],
    owners: Mapping[int, int],
    agent_ids: Sequence[int],
    fresh_ms: int,
    now_ms: int,
    policy: Policy,
) -> int:
    """Order some agents to probe each of some units, where they have no fresh distance.

    Hosts that an agent never gets it does not probe.
    """
    finders = hosts.finders(tx, unit_ids)
    fresh = ordering.fresh_pairs(tx, unit_ids, fresh_ms)
    banned = ordering.banned_pairs(tx, unit_ids)
    pairs = [
        (unit, agent)
        for unit in unit_ids
        for agent in choose_agents(
            unit,
            [finders.get(unit), owners.get(unit)],
            [agent for agent in agent_ids if (unit, agent) not in banned] if banned else agent_ids,
            policy.probes_of_a_host,
        )
        if (unit, agent) not in fresh
    ]
    return ordering.add(tx, round_number, pairs, now_ms)


def order_some_everywhere(
    tx: Transaction,
    round_number: int,
    units: Sequence[tuple[int, int | None]],
    agent_ids: Sequence[int],
    fresh_ms: int,
    now_ms: int,
    policy: Policy,
) -> int:
    """The same for all units of a round, as (unit, owner)."""
    ordered = 0
    for part in chunks(units):
        ordered += order_some(
            tx,
            round_number,
            [unit for unit, _ in part],
            {unit: owner for unit, owner in part if owner is not None},
            agent_ids,
            fresh_ms,
            now_ms,
            policy,
        )
    return ordered
