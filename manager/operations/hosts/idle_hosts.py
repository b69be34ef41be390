"""Hosts by name, and whether no agent fetches from them: only then may they be split or merged.

Invariant: what passes `check_idle` has no right on any of its units, and nothing of it was fetched
in the present round; within the transaction that asked, that stays so.
"""

from __future__ import annotations

from manager.db.engine import Transaction
from manager.db.hosts import addresses, hosts
from manager.db.hosts.hosts import HostRow, UnitRow
from manager.db.ownership import rights
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError, NotFoundError
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = ["check_idle", "host_and_units", "host_named"]


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


def check_idle(
    tx: Transaction, host: HostRow, units: list[UnitRow], *, alone: bool = False
) -> None:
    """Refuse a host that an agent may be fetching, or has fetched in this round.

    alone: refuse one that shares its address with others, too.
    """
    if host.excluded_ms is not None:
        raise ConflictError("hosts.excluded", host=host.key)
    if host.group_id is None:
        raise ConflictError("hosts.no_address_yet", host=host.key)
    beside = [key for key in addresses.hosts_of_group(tx, host.group_id, 3) if key != host.key]
    if beside and alone:
        raise ConflictError("hosts.shared_address", host=host.key, other=beside[0])
    ids = [unit.id for unit in units]
    held = rights.of_units(tx, ids)
    if held:
        raise ConflictError(f"hosts.busy_{held[0].kind}", host=host.key, round=held[0].round)
    for number in rounds.live_numbers(tx):
        if round_units.fetched_among(tx, number, ids):
            raise ConflictError("hosts.crawled_in_round", host=host.key, round=number)
