"""Addresses that many sites share: which they are, who may fetch there, and at which share.

Invariants. At an address that is not shared one agent has rights. At a shared one only agents with
a seat have; there are at most as many seats as `shares`, and one is given only when every agent
with a seat, and the one that gets it, has heard of these shares: so the rates of all agents add up
to no more than that of the address. A seat is taken back only from an agent without rights there;
one that vanished keeps its rights until its permit ends. An address becomes one clock in two steps:
its hosts become one group with one owner (`merging`), and agents hear that it is not shared when
only one of them has rights there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from manager.assignment.groups import AddressGroups
from manager.assignment.shared_addresses import clock, decide, is_published, most_agents
from manager.assignment.shared_addresses import whole_interval_s as whole
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import address_rules, addresses
from manager.db.hosts.address_rules import AddressRule
from manager.db.rounds import rounds
from manager.operations.hosts.host_shares import end_where_crowded
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.ownership.group_owners import enforce_one_owner
from manager.operations.policy import DEFAULT_POLICY, Policy

__all__ = ["begin_sharing", "classify", "end_sharing", "shared_among", "update_shared_addresses"]

RECOUNT_MS: Final = 10_000
"""Time between two counts of the domains of an address to which hosts come."""
REVIEW_MS: Final = 3_600_000
"""Time between two counts of the others, whose hosts may have left."""
COUNTED_AT_ONCE: Final = 50
IDLE_SEAT_MS: Final = 600_000
"""How long an agent keeps a seat without a right there, while others wait for one."""
STEADY_MS: Final = 60_000
"""How long shares stay before they become fewer: each change is heard by all agents."""
FASTEST_SHARE: Final = 0.5
"""An agent that has heard nothing asks fast hosts after half of its interval, by default."""
NOTED_CHANGE: Final = 0.1
"""Change of the interval of an address that agents are told."""


def shared_among(tx: Transaction, seen: Collection[str]) -> frozenset[str]:
    """Return those of some addresses where hosts count by registrable domain."""
    rows = address_rules.of_addresses(tx, seen)
    return frozenset(address for address, row in rows.items() if row.rule == "shared")


def classify(
    tx: Transaction, seen: Collection[str], now_ms: int, policy: Policy = DEFAULT_POLICY
) -> frozenset[str]:
    """Decide about addresses at which hosts were seen; return those that are shared."""
    known = address_rules.of_addresses(tx, seen)
    shared = {address for address, row in known.items() if row.rule == "shared"}
    address_rules.stale(tx, shared)
    most = policy.shared_address_domains
    for address in sorted(set(seen) - shared):
        row = known.get(address)
        if row is not None and row.decided == "single":
            continue
        count = address_rules.domains_up_to(tx, address, most + 1)
        published = is_published(address, policy.shared_networks)
        is_shared, reason = decide(count, most, published=published, shared=False)
        if is_shared:
            begin_sharing(tx, address, reason, count, now_ms, policy)
            shared.add(address)
    return frozenset(shared)


def begin_sharing(
    tx: Transaction,
    address: str,
    reason: str,
    domains: int,
    now_ms: int,
    policy: Policy,
) -> None:
    """Share an address: its hosts are in groups by registrable domain.

    Agents with rights there have seats: at most one, but where two groups have just become one.
    """
    holders = address_rules.holders_at(tx, [address])[address]
    address_rules.put(
        tx,
        address,
        rule="shared",
        reason=reason,
        domains=domains,
        least_ms=_least_ms(policy),
        shares=max(1, len(holders)),
        number=address_rules.newest_number(tx) + 1,
        changed_ms=now_ms,
        counted_ms=now_ms,
        is_stale=True,
    )
    address_rules.set_seats(tx, address, holders, now_ms)
    _split_groups(tx, address)


def end_sharing(tx: Transaction, address: str, reason: str, domains: int, now_ms: int) -> None:
    """Begin to make a shared address one clock: its hosts become one group with one owner."""
    address_rules.put(
        tx, address, rule="merging", reason=reason, domains=domains, changed_ms=now_ms
    )
    found = addresses.groups_of(tx, address_rules.hosts_at(tx, [address]))
    groups = {group for group in found.values() if group is not None}
    if len(groups) > 1:
        kept = min(groups)
        addresses.merge_groups(tx, {group: kept for group in groups if group != kept}, {})
        end_where_crowded(tx, {kept}, now_ms)
        enforce_one_owner(tx, {kept}, now_ms)


def update_shared_addresses(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> int:
    """Count domains, give and take back seats, and finish changes; return how many changed."""
    with db.read() as tx:
        if not address_rules.any_shared(tx):
            return 0
    with db.write() as tx:
        changed = _finish_merging(tx, now_ms)
        changed += _count_domains(tx, now_ms, policy)
        return changed + _Seats(tx, now_ms).update()


def _least_ms(policy: Policy) -> int:
    return max(1, round(policy.shared_least_interval_s * 1000))


def _split_groups(tx: Transaction, address: str) -> None:
    """Renew the groups of the hosts at an address, by where each host is seen now."""
    found = addresses.groups_of(tx, address_rules.hosts_at(tx, [address]))
    members = address_rules.hosts_of_groups(
        tx, {group for group in found.values() if group is not None}
    )
    before = addresses.groups_of(tx, members)
    edges = address_rules.edges_of_hosts(tx, members)
    shared = shared_among(tx, {seen for _, seen, _ in edges})
    groups = AddressGroups(
        (host, clock(seen, domain, shared=seen in shared)) for host, seen, domain in edges
    )
    after = {host: groups.group_of(host) or host for host in members}
    address_rules.regroup(
        tx, {host: group for host, group in after.items() if group != before[host]}
    )


def _finish_merging(tx: Transaction, now_ms: int) -> int:
    changed, merging = 0, address_rules.of_rule(tx, "merging")
    if not merging:
        return 0
    holders = address_rules.holders_at(tx, [row.address for row in merging])
    seated = _by_address(tx)
    for row in merging:
        if len(holders[row.address]) > 1:
            continue
        number = address_rules.newest_number(tx) + 1
        address_rules.put(
            tx, row.address, rule="single", shares=1, number=number, changed_ms=now_ms
        )
        address_rules.remove_seats(tx, row.address, list(seated.get(row.address, ())))
        changed += 1
    return changed


def _count_domains(tx: Transaction, now_ms: int, policy: Policy) -> int:
    due = address_rules.due_for_count(tx, now_ms - RECOUNT_MS, now_ms - REVIEW_MS, COUNTED_AT_ONCE)
    counts = address_rules.domain_counts(tx, [row.address for row in due])
    changed, least_ms = 0, _least_ms(policy)
    for row in due:
        domains = counts.get(row.address, 0)
        published = is_published(row.address, policy.shared_networks)
        is_shared, reason = decide(
            domains, policy.shared_address_domains, published=published, shared=True
        )
        if row.decided == "shared":
            is_shared, reason = True, "person"
        if not is_shared:
            end_sharing(tx, row.address, reason, domains, now_ms)
            changed += 1
            continue
        address_rules.put(tx, row.address, counted_ms=now_ms, is_stale=False, reason=reason)
        if least_ms != row.least_ms or _is_news(row.domains, domains):
            number = address_rules.newest_number(tx) + 1
            address_rules.put(tx, row.address, domains=domains, least_ms=least_ms, number=number)
            changed += 1
    return changed


def _is_news(told: int, domains: int) -> bool:
    before, after = whole(1.0, told, 0.0), whole(1.0, domains, 0.0)
    return abs(after - before) > NOTED_CHANGE * before


def _by_address(tx: Transaction) -> dict[str, dict[int, int]]:
    """Return the agents with a seat at each address, and since when."""
    found: dict[str, dict[int, int]] = {}
    for seat in address_rules.seats(tx):
        found.setdefault(seat.address, {})[seat.agent_id] = seat.since_ms
    return found


class _Seats:
    """Seats of agents at all shared addresses, and their shares."""

    def __init__(self, tx: Transaction, now_ms: int) -> None:
        self._tx = tx
        self._now_ms = now_ms
        self._heard = address_rules.heard(tx)
        self._rows = address_rules.of_rule(tx, "shared")
        current = rounds.open_round(tx)
        self._waiting = address_rules.waiting_at(tx, None if current is None else current.number)
        self._seated = _by_address(tx)
        busy = [row.address for row in self._rows if self._is_busy(row)]
        self._holders = address_rules.holders_at(tx, busy)

    def update(self) -> int:
        """Give and take back seats; return at how many addresses anything changed."""
        return sum(self._update(row) for row in self._rows if self._is_busy(row))

    def _is_busy(self, row: AddressRule) -> bool:
        return row.address in self._waiting or row.address in self._seated

    def _update(self, row: AddressRule) -> bool:
        tx, now_ms, address = self._tx, self._now_ms, row.address
        holders = self._holders[address]
        wanted = self._waiting.get(address, set()) | holders
        seated = dict(self._seated.get(address, {}))
        leaving = [one for one in seated if one not in wanted]
        if wanted - seated.keys() and len(seated) - len(leaving) >= row.shares:
            idle_ms = now_ms - IDLE_SEAT_MS
            leaving += [
                one
                for one, since_ms in seated.items()
                if one in wanted and one not in holders and since_ms < idle_ms
            ]
        address_rules.remove_seats(tx, address, leaving)
        for one in leaving:
            del seated[one]
        shares = self._shares(row, len(wanted | seated.keys()), wanted, len(seated))
        if shares != row.shares:
            number = address_rules.newest_number(tx) + 1
            address_rules.put(tx, address, shares=shares, number=number, changed_ms=now_ms)
            return True
        entering: list[int] = []
        if all(self._has_heard(one, row.number) for one in seated):
            entering = [
                one
                for one in sorted(wanted - seated.keys())
                if self._has_heard(one, row.number) and one not in leaving
            ][: shares - len(seated)]
            address_rules.set_seats(tx, address, entering, now_ms)
        return bool(leaving or entering)

    def _shares(self, row: AddressRule, agents_there: int, wanted: set[int], seated: int) -> int:
        """Return by how many agents the rate of an address is to be divided."""
        target = min(max(1, agents_there), self._most(row, wanted))
        if target > row.shares:
            return target
        is_steady = self._now_ms - (row.changed_ms or 0) >= STEADY_MS
        return max(target, seated, 1) if is_steady else row.shares

    def _most(self, row: AddressRule, wanted: set[int]) -> int:
        """Return how many agents may share an address, with those that cannot hear of shares."""
        most = len(self._heard) + len(wanted)
        unaware = wanted - self._heard.keys()
        for agent in agents.by_ids(self._tx, unaware).values():
            said = capacity_of(agent)
            interval_s = said.interval_ms / 1000
            if interval_s and said.burst:
                shortest_s = interval_s * FASTEST_SHARE / said.burst
                floor_s = row.least_ms / 1000
                most = min(most, most_agents(shortest_s, interval_s, row.domains, floor_s))
            elif interval_s:
                most = 1
        return max(1, most)

    def _has_heard(self, agent_id: int, number: int) -> bool:
        return self._heard.get(agent_id, number) >= number
