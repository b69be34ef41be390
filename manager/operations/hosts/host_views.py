"""Look at hosts: a table that is searched, sorted and paged; all that is known of one host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import (
    address_rules,
    addresses,
    crawl_delays,
    directories,
    host_views,
    hosts,
)
from manager.db.hosts import start_pages as starting
from manager.db.hosts.address_rules import AddressRule
from manager.db.hosts.crawl_delays import CrawlDelayRow
from manager.db.hosts.directories import DirectoryRow
from manager.db.hosts.host_views import COUNTED_MOST, STATES, HostLine, HostWanted
from manager.db.hosts.hosts import HostRow, UnitRow
from manager.db.hosts.start_pages import StartPageRow
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.db.ownership import assignments, pins, rights
from manager.db.ownership.assignments import AssignmentRow
from manager.db.ownership.pins import Ban
from manager.db.ownership.rights import RightRow
from manager.db.planning import probes
from manager.db.planning.probes import OrderRow
from manager.db.sorted_rows import check_sort
from manager.db.transaction import chunks
from manager.operations.hosts.idle_hosts import host_named
from manager.operations.hosts.typed_hosts import reversed_domain, typed_host
from manager.operations.ownership.pins import Pin, pins_shown
from manager.operations.planning.distance_views import DistanceView, distances_of
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import Fault, FormatError, check_choice
from shared.frozen import frozen

__all__ = [
    "COUNTED_MOST",
    "DIRECTORIES_MOST",
    "HostDetail",
    "HostFilter",
    "HostLine",
    "HostPage",
    "Reading",
    "count_hosts",
    "directories_of_host",
    "every_host",
    "host_detail",
    "hosts_beside",
    "list_hosts",
    "start_pages_of_host",
]

PAGE_MOST: Final = 1_000
LINES_AT_ONCE: Final = 500
DIRECTORIES_MOST: Final = 100
"""Of a host among all that is known of it; `directories_of_host` returns all."""

BESIDE_MOST: Final = 100
START_PAGES_MOST: Final = 100
"""The same, and `hosts_beside` and `start_pages_of_host` return all."""


Reading = Literal["", "domain", "part"]
"""The meaning of `HostFilter.search` by which hosts were found."""


@frozen
class HostFilter:
    """domain: `example.jp` finds it and all names below it. text: anywhere in the key. owner: an
    agent's name. state: of the unit `/`, one of new, idle, probing, placed, excluded. search: a
    domain, or where no host matches that, any part of an address."""

    domain: str = ""
    text: str = ""
    owner: str = ""
    state: str = ""
    search: str = ""


@frozen
class HostPage:
    """A page of hosts. matching: how many there are; counted up to 10,000.

    found_by: how `search` was read: as a domain with all below it, or as any part of an address.
    """

    matching: int
    hosts: list[HostLine]
    found_by: Reading = ""


@frozen
class HostDetail:
    """All that is known of a host. agents: names by number, for the rows.

    units: those that were merged again too. addresses: (source, address), source 0 is the manager,
    others are agents. group: hosts that share its address, itself too, the first of `group_size`;
    start_pages: the first of `start_page_count`. pins, bans: of this host. permits: until when its
    owners may fetch, in ms since 1970, by number. address_rules: of its addresses that many sites
    share, or of which a person decided; the others are one clock each. crawl_delays: of its
    robots.txt, as agents read it; of an agent that read none there is no row.
    """

    host: HostRow
    units: list[UnitRow]
    owners: list[AssignmentRow]
    rights: list[RightRow]
    distances: list[DistanceView]
    orders: list[OrderRow]
    sums: list[SumRow]
    directories: list[DirectoryRow]
    addresses: list[tuple[int, str]]
    group: list[str]
    group_size: int
    start_pages: list[StartPageRow]
    start_page_count: int
    pins: list[Pin]
    bans: list[Ban]
    agents: dict[int, str]
    permits: dict[int, int]
    address_rules: list[AddressRule]
    crawl_delays: list[CrawlDelayRow]


def list_hosts(
    db: Database,
    where: HostFilter | None = None,
    *,
    sort: str = "domain",
    limit: int = 50,
    offset: int = 0,
) -> HostPage:
    """Return a page of the hosts that match, sorted.

    sort: domain, first_seen, volume, pages, owner or state; with `-` before it, descending.
    Raises FormatError for another sort or state.
    """
    readings, column = _readings(where or HostFilter()), _column(sort)
    with db.read() as tx:
        for wanted, found_by in readings:
            matching, lines = host_views.page(
                tx,
                db.host_names,
                wanted,
                column,
                descending=sort.startswith("-"),
                limit=max(1, min(limit, PAGE_MOST)),
                offset=max(0, offset),
            )
            page = HostPage(matching, lines, found_by)
            if matching:
                break
    return page


def every_host(db: Database, where: HostFilter, *, sort: str = "domain") -> Iterator[HostLine]:
    """Yield all hosts that match, in their present order, each read when its turn comes.

    Only their numbers are held, so a reader may be slow. Raises FormatError as `list_hosts`, before
    the first.
    """
    readings, column = _readings(where), _column(sort)
    return _every_host(db, [wanted for wanted, _ in readings], column, sort.startswith("-"))


def _every_host(
    db: Database, readings: Sequence[HostWanted], column: str, descending: bool
) -> Iterator[HostLine]:
    with db.read() as tx:
        for wanted in readings:
            numbers = host_views.numbers(tx, db.host_names, wanted, column, descending=descending)
            if numbers:
                break
    for at in range(0, len(numbers), LINES_AT_ONCE):
        with db.read() as tx:
            lines = host_views.lines(tx, numbers[at : at + LINES_AT_ONCE].tolist())
        yield from lines


def _column(sort: str) -> str:
    check_sort(sort, host_views.SORTS)
    return sort.removeprefix("-")


def _readings(where: HostFilter) -> list[tuple[HostWanted, Reading]]:
    """Return the meanings of a filter, the first that finds a host counts; at least one."""
    if where.state:
        check_choice("state", where.state, STATES)
    given = HostWanted(_reversed_prefix(where.domain), where.text, where.owner, where.state)
    if not where.search:
        return [(given, "")]
    if where.domain or where.text:
        raise FormatError("hosts.search_with_filter", Fault.INVALID_VALUE)
    typed = typed_host(where.search)
    readings: list[tuple[HostWanted, Reading]] = [
        (replace(given, text=part), "part") for part in typed.parts
    ]
    if typed.reversed_name:
        domain = replace(given, reversed_prefix=typed.reversed_name)
        readings.insert(len(readings) if typed.is_precise else 0, (domain, "domain"))
    return readings


def count_hosts(db: Database) -> dict[str, int]:
    """Return how many hosts are in each state, 0 too; may be a cached figure."""
    counted = db.figure("hosts by state", host_views.count_by_state)
    return {state: counted.get(state, 0) for state in STATES}


def _reversed_prefix(domain: str) -> str:
    """Return what the reversed keys of a domain's hosts begin with, the domain's own included."""
    if not domain:
        return ""
    reversed_name = reversed_domain(domain)
    if not reversed_name:
        raise FormatError("hosts.bad_domain", value=domain[:80])
    return reversed_name


def host_detail(db: Database, key: str, policy: Policy = DEFAULT_POLICY) -> HostDetail:
    """Return all that is known of a host, by its key or any URL on it. Raises NotFoundError."""
    with db.read() as tx:
        host = host_named(tx, key)
        key = host.key
        units = hosts.units_of_hosts(tx, [key], merged=True)
        unit_ids = [unit.id for unit in units]
        owners = assignments.history(tx, unit_ids)
        owning = agents.by_ids(tx, {row.agent_id for row in owners if row.until_ms is None})
        return HostDetail(
            host=host,
            units=units,
            owners=owners,
            rights=rights.of_units(tx, unit_ids),
            distances=distances_of(tx, unit_ids, policy),
            orders=[order for unit in unit_ids for order in probes.of_unit(tx, unit)],
            sums=measurements.sums_of_units(tx, unit_ids),
            directories=directories.largest(tx, host.id, DIRECTORIES_MOST),
            addresses=addresses.addresses_of(tx, host.id),
            group=addresses.hosts_of_group(tx, host.group_id, BESIDE_MOST),
            group_size=addresses.count_of_group(tx, host.group_id),
            start_pages=starting.start_pages_of(tx, unit_ids)[:START_PAGES_MOST],
            start_page_count=starting.count_start_pages(tx, unit_ids),
            pins=pins_shown(tx, pins.pins_of_units(tx, unit_ids)),
            bans=pins.bans_of_host(tx, host.id),
            agents=agents.names(tx),
            permits={number: row.permit_until_ms for number, row in owning.items()},
            address_rules=_rules_of(tx, host.id),
            crawl_delays=crawl_delays.delays_of_host(tx, host.id),
        )


def _rules_of(tx: Transaction, host_id: int) -> list[AddressRule]:
    seen = {address for _, address in addresses.addresses_of(tx, host_id)}
    return sorted(address_rules.of_addresses(tx, seen).values(), key=lambda rule: rule.address)


def directories_of_host(db: Database, key: str) -> list[DirectoryRow]:
    """Return the measurements of each directory of a host, as long as they are kept.

    Of the newest round and the largest first. Raises NotFoundError.
    """
    with db.read() as tx:
        return directories.largest(tx, host_named(tx, key).id, None)


def hosts_beside(db: Database, key: str) -> list[HostLine]:
    """Return all other hosts that share a host's address, by key. Raises NotFoundError."""
    with db.read() as tx:
        host = host_named(tx, key)
        numbers = addresses.numbers_of_group(tx, host.group_id)
        lines = [line for part in chunks(numbers) for line in host_views.lines(tx, part)]
    return [line for line in lines if line.key != host.key]


def start_pages_of_host(db: Database, key: str) -> list[tuple[str, StartPageRow]]:
    """Return all start pages of a host, each behind its unit's key. Raises NotFoundError."""
    with db.read() as tx:
        found = hosts.units_of_hosts(tx, [host_named(tx, key).key], merged=True)
        key_of = {unit.id: unit.key for unit in found}
        pages = starting.start_pages_of(tx, list(key_of))
    return [(key_of[page.unit_id], page) for page in pages]
