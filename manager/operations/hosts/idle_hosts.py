"""Hosts that nobody fetches from: only then may they be cut, or made one again.

Invariant: what passes `check_idle` has no right on any of its units, and nothing of it was fetched
in the round that goes on; within the transaction that asked, that stays so.
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

__all__ = ["check_idle", "host_and_units"]


def host_and_units(tx: Transaction, text: str) -> tuple[HostRow, list[UnitRow]]:
    """Return a host and its units. Raises NotFoundError, UrlError."""
    key = host_key(complete_line(text))
    host = hosts.by_key(tx, key)
    if host is None:
        raise NotFoundError(f"host {key}: not known; import it first")
    return host, hosts.units_of_hosts(tx, [key])


def check_idle(tx: Transaction, host: HostRow, units: list[UnitRow], what: str) -> None:
    """Refuse where somebody may be fetching, or has fetched in this round."""
    if host.excluded_ms is not None:
        raise ConflictError(f"{host.key} is excluded: include it before it is {what}")
    if host.group_id is None:
        raise ConflictError(f"{host.key} has no address yet: wait until its name is looked up")
    beside = [key for key in addresses.hosts_of_group(tx, host.group_id, 3) if key != host.key]
    if beside and what == "split":
        raise ConflictError(
            f"{host.key} shares its address with {beside[0]}: an address with several hosts is one "
            "agent's, so it cannot be split"
        )
    ids = [unit.id for unit in units]
    held = rights.of_units(tx, ids)
    if held:
        doing = {"probe": "probed", "refetch": "compared"}.get(held[0].kind, "crawled")
        raise ConflictError(
            f"{host.key} is being {doing} in round {held[0].round}: it can be {what} when that is "
            "over, before the next round begins"
        )
    current = rounds.open_round(tx)
    if current is not None:
        done = round_units.fetched_among(tx, current.number, ids)
        if done:
            raise ConflictError(
                f"{host.key} was crawled in round {current.number}, which goes on: it can be "
                f"{what} when the round is over"
            )
