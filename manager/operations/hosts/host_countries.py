"""Countries of hosts, by which scope rules open and close units.

A host is in the countries of all addresses that the manager's own look-up brought; agents in other
networks may see other machines of the same service. A host that is not looked up yet may be in any.
Which file says it, and reading it, is left to `manager.naming.country_file`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.hosts import host_countries
from manager.db.hosts.host_countries import CountryFileRow, HostCountries
from manager.operations.alert import Alert
from manager.operations.hosts.crawl_scope import rules_in_force, settle_units
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "CountryFileFacts",
    "country_alerts",
    "record_file",
    "settle_all",
    "settle_hosts",
]

BATCH: Final = 2_000
BATCHES_AT_ONCE: Final = 10

CountryOf = Callable[[str], str]
"""Returns the code of an address's country; "": none is known."""


@frozen
class CountryFileFacts:
    """A database file after the last attempt to read it. identity: "": never readable."""

    path: str
    identity: str
    kind: str
    built_ms: int | None
    problem: Message | None


def record_file(db: Database, facts: CountryFileFacts | None, now_ms: int) -> None:
    """Write down which file is in use; of another one all hosts are looked up in it."""
    with db.read() as tx:
        before = host_countries.file_in_use(tx)
    if facts is None:
        if before is not None:
            with db.write() as tx:
                host_countries.forget_file(tx)
        return
    known = before is not None and before.identity == facts.identity and bool(facts.identity)
    if before is not None and known and before.problem == facts.problem:
        return
    if before is not None and not facts.identity and before.problem == facts.problem:
        return
    row = CountryFileRow(
        path=facts.path,
        identity=facts.identity,
        kind=facts.kind,
        built_ms=facts.built_ms,
        problem=facts.problem,
        read_ms=now_ms,
        passed_to=before.passed_to if before is not None and known else 0,
        passed_ms=before.passed_ms if before is not None and known else None,
    )
    with db.write() as tx:
        host_countries.set_file(tx, row)


def settle_hosts(
    db: Database, country_of: CountryOf, host_ids: Collection[int], now_ms: int
) -> int:
    """Look up the countries of some hosts, open and close their units; return how many changed."""
    if not host_ids:
        return 0
    with db.read() as tx:
        changed = _changed(host_countries.hosts_among(tx, host_ids), country_of)
    if changed:
        with db.write() as tx:
            _settle(tx, changed, now_ms)
    return len(changed)


def settle_all(
    db: Database, country_of: CountryOf, now_ms: int, batches: int = BATCHES_AT_ONCE
) -> int:
    """Look up all hosts in a file that is new, some batches of them; return how many changed.

    What is left is done by later calls.
    """
    total = 0
    for _ in range(batches):
        with db.read() as tx:
            row = host_countries.file_in_use(tx)
            if row is None or row.passed_ms is not None:
                break
            part = host_countries.hosts_after(tx, row.passed_to, BATCH)
        changed = _changed(part, country_of)
        with db.write() as tx:
            _settle(tx, changed, now_ms)
            is_last = len(part) < BATCH
            passed_to = part[-1].id if part else row.passed_to
            host_countries.set_passed(tx, passed_to, now_ms if is_last else None)
        total += len(changed)
    return total


def country_alerts(db: Database) -> list[Alert]:
    """Return an alert where rules by country are in force and no file tells countries."""
    with db.read() as tx:
        if not rules_in_force(tx).has_countries:
            return []
        row = host_countries.file_in_use(tx)
    if row is None:
        return [Alert("names:countries", Message("scope.alert_no_country_file"))]
    if row.problem is not None:
        bad = Message("scope.alert_country_file", path=row.path, why=row.problem)
        return [Alert("names:countries", bad)]
    return []


def _changed(found: Sequence[HostCountries], country_of: CountryOf) -> dict[int, str]:
    """Return the countries of hosts that are others than are stored."""
    news: dict[int, str] = {}
    for host in found:
        if host.addresses:
            codes = {country_of(address) for address in host.addresses}
            text = " ".join(sorted(codes - {""}))
            if text != host.countries:
                news[host.id] = text
    return news


def _settle(tx: Transaction, changed: dict[int, str], now_ms: int) -> None:
    if changed:
        host_countries.set_countries(tx, changed)
        settle_units(tx, host_countries.units_of_hosts(tx, changed), now_ms)
