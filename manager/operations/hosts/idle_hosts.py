"""Hosts by name, and whether no agent fetches from them: only then may they be split or merged.

Invariant: what passes `check_idle` has no right on any of its units, and every round that is not
over has either all of it before it or all of it, with its logs, behind it; within the transaction
that asked, that stays so.
"""

from __future__ import annotations

from manager.db.engine import Transaction
from manager.db.hosts import addresses, hosts
from manager.db.hosts.hosts import HostRow, UnitRow
from manager.db.ownership import rights
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError, NotFoundError
from manager.operations.ownership.log_arrival import has_reported, heard_since
from manager.operations.policy import Policy
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = ["check_alone", "check_idle", "host_and_units", "host_named"]


def host_named(tx: Transaction, text: str) -> HostRow:
    """Return a host by its key or any URL on it. Raises NotFoundError, UrlError."""
    key = host_key(complete_line(text))
    host = hosts.by_key(tx, key)
    if host is None:
        raise NotFoundError("hosts.unknown", host=key)
    return host


def host_and_units(tx: Transaction, text: str) -> tuple[HostRow, list[UnitRow]]:
    """Return a host and its units. Raises NotFoundError, UrlError."""
    host = host_named(tx, text)
    return host, hosts.units_of_hosts(tx, [host.key])


def check_alone(tx: Transaction, host: HostRow) -> None:
    """Refuse a host that takes no part in crawls, or shares its address with others."""
    _check_crawled(host)
    beside = [key for key in addresses.hosts_of_group(tx, host.group_id, 3) if key != host.key]
    if beside:
        raise ConflictError("hosts.shared_address", host=host.key, other=beside[0])


def _check_crawled(host: HostRow) -> None:
    if host.excluded_ms is not None:
        raise ConflictError("hosts.excluded", host=host.key)
    if host.group_id is None:
        raise ConflictError("hosts.no_address_yet", host=host.key)


def check_idle(
    tx: Transaction,
    host: HostRow,
    units: list[UnitRow],
    policy: Policy,
    now_ms: int,
    *,
    alone: bool = False,
) -> None:
    """Refuse a host that an agent may be fetching, or whose logs of a round that is open may come.

    alone: refuse one that shares its address with others, too.
    """
    _check_crawled(host)
    if alone:
        check_alone(tx, host)
    ids = [unit.id for unit in units]
    held = rights.of_units(tx, ids)
    if held:
        raise ConflictError(f"hosts.busy_{held[0].kind}", host=host.key, round=held[0].round)
    grace_ms = round(policy.log_timeout_s * 1000)
    for number in rounds.live_numbers(tx):
        ended = round_units.ended_among(tx, number, ids)
        awaited = any(
            not has_reported(tx, agent, heard_since(ended_ms, grace_ms, now_ms))
            for _, agent, ended_ms in ended
        )
        if awaited or round_units.under_way(tx, number, ids):
            raise ConflictError("hosts.crawled_in_round", host=host.key, round=number)
        if 0 < len(ended) < len(ids):
            raise ConflictError("hosts.partly_crawled", host=host.key, round=number)
