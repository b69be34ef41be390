"""Countries of hosts by their addresses, and the database file that names them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import sqlalchemy as sa

from manager.db.hosts.addresses import MANAGER
from manager.db.tables import country_files, host_addresses, hosts, units
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "CountryFileRow",
    "HostCountries",
    "file_in_use",
    "forget_file",
    "hosts_after",
    "hosts_among",
    "set_countries",
    "set_file",
    "set_passed",
    "units_of_hosts",
]

_ONLY = 1


@frozen
class CountryFileRow:
    """The file in use. identity: of the database in memory, "": none.

    passed_ms: None: hosts behind `passed_to` were not looked up in it yet.
    """

    path: str
    identity: str
    kind: str
    built_ms: int | None
    problem: Message | None
    read_ms: int
    passed_to: int
    passed_ms: int | None


@frozen
class HostCountries:
    """A host, its countries as they are stored, and the addresses that the manager resolved."""

    id: int
    countries: str | None
    addresses: tuple[str, ...]


_HOSTS = sa.select(hosts.c.id, hosts.c.countries).order_by(hosts.c.id)


def file_in_use(tx: Transaction) -> CountryFileRow | None:
    """Return the file in use; None: none is set."""
    columns = (country_files.c[name] for name in CountryFileRow.__dataclass_fields__)
    return tx.row(CountryFileRow, sa.select(*columns))


def set_file(tx: Transaction, row: CountryFileRow) -> None:
    """Write down which file is in use."""
    values = {name: getattr(row, name) for name in CountryFileRow.__dataclass_fields__}
    tx.upsert(country_files, [{"id": _ONLY, **values, "problem": row.problem or ""}], ["id"])


def forget_file(tx: Transaction) -> None:
    """Write down that no file is set."""
    tx.execute(country_files.delete())


def set_passed(tx: Transaction, passed_to: int, passed_ms: int | None) -> None:
    """Write down up to which host the file was asked; passed_ms: None: others are left."""
    tx.execute(country_files.update().values(passed_to=passed_to, passed_ms=passed_ms))


def hosts_after(tx: Transaction, after: int, limit: int) -> list[HostCountries]:
    """Return hosts behind a number, in the order of their numbers."""
    found = tx.tuples(_HOSTS.where(hosts.c.id > after).limit(limit))
    return _with_addresses(tx, dict(found))


def hosts_among(tx: Transaction, host_ids: Collection[int]) -> list[HostCountries]:
    """Return some hosts, by number."""
    return _with_addresses(tx, dict(map(tuple, tx.among(_HOSTS, hosts.c.id, host_ids))))


def _with_addresses(tx: Transaction, found: Mapping[int, str | None]) -> list[HostCountries]:
    query = sa.select(host_addresses.c.host_id, host_addresses.c.address)
    of_manager = query.where(host_addresses.c.source == MANAGER)
    addresses: dict[int, list[str]] = defaultdict(list)
    for host, address in tx.among(of_manager, host_addresses.c.host_id, found):
        addresses[host].append(address)
    return [
        HostCountries(host, countries, tuple(sorted(addresses[host])))
        for host, countries in found.items()
    ]


def set_countries(tx: Transaction, countries: Mapping[int, str]) -> None:
    """Set the countries of hosts: codes with a space between them."""
    rows = [{"id": host, "countries": text} for host, text in countries.items()]
    tx.update_each(hosts, ["id"], rows)


def units_of_hosts(tx: Transaction, host_ids: Collection[int]) -> list[int]:
    """Return the units of some hosts."""
    query = sa.select(units.c.id).where(units.c.merged_ms.is_(None))
    return tx.values_among(query, units.c.host_id, host_ids)
