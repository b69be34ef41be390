"""Addresses of hosts, resolved by the manager or seen by agents, and address groups.

Invariant: hosts that were ever seen at one address are one group, and a group has one owner; at an
address that many sites share, those of one registrable domain are (`address_rules`). Where
two groups turn out to be one, the agent that owns most of it gets all of it, and the others'
rights in it are withdrawn. A host is handed out only when it has a group. The pieces of a split
host, alone in its group, may have several owners (`host_shares`).
How names are resolved is left to `manager.naming`, which calls `hosts_to_resolve` and
`record_resolutions`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from manager.assignment.groups import AddressGroups
from manager.assignment.shared_addresses import clock
from manager.db.engine import Database, Transaction
from manager.db.hosts import address_rules, addresses
from manager.db.hosts.addresses import MANAGER
from manager.operations.hosts.address_rules import classify, shared_among
from manager.operations.hosts.host_shares import end_where_crowded
from manager.operations.ownership.group_owners import enforce_one_owner
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen
from shared.messages import Message
from shared.naming import HostFailure
from shared.naming.registrable_domain import registrable_domain

__all__ = [
    "Resolution",
    "hosts_to_resolve",
    "names_waiting",
    "record_addresses",
    "record_resolutions",
]

SLOWEST_RETRY_S: Final = 86_400.0
COUNTED_MOST: Final = 10_000


@frozen
class Resolution:
    """A host to resolve, or the result.

    addresses: empty where the name leads nowhere that may be crawled; `problem` says why for a
    person, `failure` as a code.
    """

    host_id: int
    key: str
    addresses: tuple[str, ...] = ()
    problem: Message | None = None
    failure: HostFailure = HostFailure.NO_ADDRESS


def hosts_to_resolve(db: Database, now_ms: int, limit: int) -> list[Resolution]:
    """Return hosts whose name is to be resolved now, the longest waiting first."""
    with db.read() as tx:
        return [Resolution(host.id, host.key) for host in addresses.due(tx, now_ms, limit)]


def names_waiting(db: Database, now_ms: int) -> int:
    """Return how many hosts' names are to be looked up now, counting up to 10,000."""
    with db.read() as tx:
        return addresses.due_count(tx, now_ms, COUNTED_MOST)


def record_resolutions(
    db: Database,
    resolved: Sequence[Resolution],
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Write down what resolving brought, and when to ask again.

    A name that led somewhere before and does not now keeps its old addresses: a name server that
    is away for an hour takes no host out of the crawl.
    """
    with db.write() as tx:
        before = addresses.resolutions(tx, [one.host_id for one in resolved])
        found = {
            one.host_id: one.addresses
            for one in resolved
            if one.addresses and one.host_id in before
        }
        rows: list[dict[str, int | str | Message | None]] = []
        for one in resolved:
            if one.host_id not in before:
                continue
            state, failures = before[one.host_id]
            if one.addresses:
                rows.append(_row(one.host_id, "resolved", now_ms, policy.max_address_age_s, 0))
                continue
            pause_s = min(SLOWEST_RETRY_S, policy.dns_retry_delay_s * 2.0 ** min(failures, 20))
            state = "resolved" if state == "resolved" else "failed"
            row = _row(one.host_id, state, now_ms, pause_s, failures + 1)
            why = {"why": one.problem or "", "failure": one.failure.value}
            rows.append({**row, "at_ms": None, **why})
        addresses.set_resolution(tx, rows)
        record_addresses(tx, MANAGER, found, now_ms, policy)


def _row(
    host_id: int, state: str, now_ms: int, pause_s: float, failures: int
) -> dict[str, int | str | Message | None]:
    return {
        "host": host_id,
        "to": state,
        "at_ms": now_ms,
        "after_ms": now_ms + round(pause_s * 1000),
        "failures": failures,
        "why": "",
        "failure": "",
    }


def record_addresses(
    tx: Transaction,
    source: int,
    found: Mapping[int, Collection[str]],
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Write down at which addresses a source sees some hosts, and merge groups that share one.

    source: an agent's number, or MANAGER.
    """
    found = {host: seen for host, seen in found.items() if seen}
    if not found:
        return
    domains = {host: registrable_domain(key) for host, key in addresses.keys_of(tx, found).items()}
    seen = {address for of_host in found.values() for address in of_host}
    before = shared_among(tx, seen)
    at = _groups_at_clocks(tx, found, domains, before)
    addresses.set_addresses(tx, source, found, domains)
    shared = classify(tx, seen, now_ms, policy)
    if shared != before:  # groups were split; the hosts themselves are joined below
        at = _groups_at_clocks(tx, found, domains, shared, but=found)
    stored = addresses.groups_of(tx, found)
    # A group is named by one of its hosts, so its number can stand for the host.
    groups = AddressGroups((group, one) for one, group in at.items())
    for host, of_host in found.items():
        for address in of_host:
            groups.add(host, clock(address, domains[host], shared=address in shared))
        group = stored[host]
        if group is not None:
            groups.join(host, group)
    merges: dict[int, int] = {}
    for old in {*at.values(), *(group for group in stored.values() if group is not None)}:
        new = groups.group_of(old)
        if new is not None and new != old:
            merges[old] = new
    alone = {host: groups.group_of(host) or host for host, group in stored.items() if group is None}
    addresses.merge_groups(tx, merges, alone)
    # A host that only joins a group owned nothing yet, but may end the sharing of one there.
    crowded = end_where_crowded(tx, {*merges.values(), *alone.values()}, now_ms)
    enforce_one_owner(tx, {*merges.values(), *crowded}, now_ms)


def _groups_at_clocks(
    tx: Transaction,
    found: Mapping[int, Collection[str]],
    domains: Mapping[int, str],
    shared: frozenset[str],
    but: Collection[int] = (),
) -> dict[str, int]:
    """Return the group at each clock of some hosts, where any source has seen a host there.

    but: hosts that are not asked.
    """
    seen = {address for of_host in found.values() for address in of_host}
    at = addresses.groups_at(tx, seen - shared, but)
    pairs = {
        (address, domains[host])
        for host, of_host in found.items()
        for address in of_host
        if address in shared
    }
    by_domain = address_rules.groups_at_domains(tx, pairs, but)
    return at | {clock(one, domain, shared=True): n for (one, domain), n in by_domain.items()}
