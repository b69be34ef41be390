"""Agents that share a split host: how many, when its pieces are done, and when it must be one's.

Invariants. A piece is finished with all others of its host, and only when nothing is left of any:
until then each may hear of a page that another found. More agents than shares never hold rights;
shares grow only while no agent holds any, or when all holders have heard of it. A wait that the
host asks of one of them holds for all. A host is shared while it is alone at its address.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import host_shares, hosts, pieces
from manager.db.hosts.host_shares import BackoffRow
from manager.db.measurement import measurements
from manager.db.ownership import rights
from manager.db.rounds import round_units, rounds
from manager.db.rounds.round_units import FinishedRow
from manager.operations.actor import CLOCK, note
from manager.operations.measurement.distances import refresh_volumes
from shared.messages import Message
from shared.wire.sync import HostRest

__all__ = [
    "end_backoffs",
    "end_where_crowded",
    "finish_rested",
    "record_backoffs",
    "share_out",
    "spread_distances",
]

LONGEST_REST_MS: Final = 86_400_000
"""A day: as long as an agent honours a Retry-After, whatever it says of one."""


def share_out(db: Database, now_ms: int) -> int:
    """Give shares to agents that wait for a piece of a shared host, and finish resting hosts.

    Returns how many hosts and pieces that were.
    """
    with db.read() as tx:
        numbers = rounds.live_numbers(tx)
        if not any(host_shares.starved(tx, one) or pieces.rested(tx, one) for one in numbers):
            return 0
    with db.write() as tx:
        changed = finish_rested(tx, now_ms)
        for number in numbers:
            for host in host_shares.starved(tx, number):
                wanted, held = host_shares.wanted_shares(tx, host)
                # Fewer than before only while no agent fetches: else one would exceed its share.
                if wanted > host.shares or (not held and wanted != host.shares):
                    host_shares.set_shares(tx, host.host_id, wanted)
                    host_shares.news(tx, held)
                    changed += 1
    return changed


def finish_rested(tx: Transaction, now_ms: int) -> int:
    """Finish the pieces of hosts of which nothing is left; return how many."""
    return sum(_finish_rested(tx, number, now_ms) for number in rounds.live_numbers(tx))


def _finish_rested(tx: Transaction, number: int, now_ms: int) -> int:
    quiet = pieces.rested(tx, number)
    if not quiet:
        return 0
    done = [
        FinishedRow(
            unit_id=row.unit_id,
            agent_id=row.agent_id,
            round=number,
            pages=row.pages,
            size_bytes=row.size_bytes,
            reason=row.reason,
        )
        for row in quiet
    ]
    round_units.finish_units(tx, done, now_ms)
    for agent_id in {row.agent_id for row in done}:
        units = [row.unit_id for row in done if row.agent_id == agent_id]
        rights.free(tx, now_ms, rights.FINISHED, agent_id=agent_id, unit_ids=units)
        # The agent keeps what it knows of a piece until a list leaves it out.
        agents.update(tx, agent_id, list_changed=True)
    refresh_volumes(tx, number, [row.unit_id for row in quiet])
    return len(quiet)


def end_where_crowded(tx: Transaction, group_ids: Collection[int], now_ms: int) -> set[int]:
    """End the sharing of hosts whose address turned out to have other hosts; return the groups.

    Their pieces are one agent's from now on: an address sees one robot, or one shared rate.
    """
    crowded = host_shares.crowded_groups(tx, group_ids)
    ended = [host for of_group in crowded.values() for host in of_group]
    host_shares.end(tx, ended)
    for host in ended:
        note(
            tx,
            now_ms,
            CLOCK,
            "host.stop-sharing",
            str(host),
            alert=True,
            reason=Message("hosts.address_shared_now"),
        )
    return set(crowded)


def record_backoffs(tx: Transaction, agent_id: int, told: Sequence[HostRest], now_ms: int) -> None:
    """Extend a rest that one agent was told to all agents that share the host.

    Of hosts that the agent has no piece of it says nothing here.
    """
    if not told:
        return
    by_host = {one.host: one for one in told}
    known = {unit.host_id: unit for unit in hosts.units_of_hosts(tx, by_host) if unit.path == "/"}
    split = host_shares.split_hosts(tx, host_shares.hosts_held(tx, agent_id, list(known)))
    before = {
        row.host_id: row for row in host_shares.rests(tx, split, now_ms) if row.agent_id == agent_id
    }
    for host_id, host in split.items():
        if host.interval_ms is None:
            continue
        one = by_host[known[host_id].key]
        rest_ms, left_ms = min(one.rest_ms, LONGEST_REST_MS), min(one.remaining_ms, LONGEST_REST_MS)
        if not left_ms:
            continue
        host_shares.set_backoff(
            tx, BackoffRow(host_id, agent_id, rest_ms, now_ms + left_ms, one.reason)
        )
        if host_id not in before or before[host_id].rest_ms != rest_ms:
            host_shares.news(tx, list(pieces.unit_ids(tx, host_id).values()))


def end_backoffs(db: Database, now_ms: int) -> int:
    """End rests that are over: agents fetch at their shares again; return of how many units."""
    with db.read() as tx:
        if not host_shares.any_backoff_over(tx, now_ms):
            return 0
    with db.write() as tx:
        units = host_shares.drop_backoffs(tx, now_ms)
        host_shares.news(tx, units)
    return len(units)


def spread_distances(db: Database) -> None:
    """Copy newer distances of split hosts to their pieces.

    A piece is never probed: `/` stands for its host.
    """
    with db.read() as tx:
        if not pieces.of_tops(tx):
            return
    with db.write() as tx:
        inside = pieces.of_tops(tx)
        below = [unit for units in inside.values() for unit in units]
        known = {
            (row.unit_id, row.agent_id): row.measured_ms
            for row in measurements.distances_of_units(tx, below)
        }
        measurements.set_distances(
            tx,
            [
                replace(row, unit_id=unit)
                for row in measurements.distances_of_units(tx, inside)
                for unit in inside[row.unit_id]
                if known.get((unit, row.agent_id), -1) < row.measured_ms
            ],
        )
