"""Selections of third parties: hosts by an expression, captures by conditions.

Invariant: an expression is matched against the hosts that lie in public segments, in linear time;
never against captures. A host that is excluded while a selection runs is left out from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from manager.db.archive import archive_hosts
from manager.db.archive.archive_hosts import HeldHost
from manager.db.engine import Database
from manager.operations.archive.host_expression import compile_host_expression, matches_host
from manager.store import Layout
from manager.store.captures.capture_selection import Conditions
from shared.errors import FormatError, UrlError
from shared.frozen import frozen
from shared.urls import canonical, host_of, name_and_port

__all__ = [
    "HeldPage",
    "HostFiles",
    "NamedHost",
    "Selection",
    "checked_selection",
    "held_page",
    "hosts_of",
    "total_of",
]

HOSTS_AT_ONCE: Final = 2_000


@frozen
class Selection:
    """A selection request, made by `checked_selection`. host: RE2, "": every host."""

    host: str
    conditions: Conditions


@frozen
class HostFiles:
    """One host (a name and port) and where its captures lie. ids, keys: of its schemes."""

    name: str
    ids: tuple[int, ...]
    keys: tuple[str, ...]
    captures: int
    indexes: tuple[Path, ...]
    segments: dict[str, str]  # name to key in the store


def checked_selection(host: str, conditions: Conditions) -> Selection:
    """Return a selection; raises FormatError, UrlError for what cannot be asked."""
    if not host and not conditions.url:
        raise FormatError("archive.no_conditions")
    compile_host_expression(host)
    if conditions.url and conditions.url != canonical(conditions.url):
        raise UrlError(
            "archive.not_canonical",
            url=conditions.url[:200],
            canonical=canonical(conditions.url)[:200],
        )
    if conditions.since_ms >= conditions.until_ms:
        raise FormatError(
            "archive.empty_period", since=conditions.since_ms, until=conditions.until_ms
        )
    return Selection(host, conditions)


def hosts_of(db: Database, layout: Layout, asked: Selection) -> Iterator[HostFiles]:
    """Yield the hosts that match and lie in public segments, in the order of their numbers.

    Each is read when it is asked for, so what is withdrawn in the meantime does not come.
    """
    for name, found in _named(db, asked):
        with db.read() as tx:
            files = archive_hosts.segments_of(tx, [host.id for host in found])
        if files:
            yield HostFiles(
                name,
                tuple(host.id for host in found),
                tuple(host.key for host in found),
                sum(host.captures for host in found),
                tuple(layout.index_file(file.key) for file in files),
                {file.name: file.key for file in files},
            )


@frozen
class NamedHost:
    """A host as third parties list it. Times: of its first and last capture."""

    host: str
    captures: int
    bytes: int
    first_ms: int
    last_ms: int


@frozen
class HeldPage:
    """Some hosts, and after which number the next ones come; None: these were the last."""

    hosts: list[NamedHost]
    next: int | None


def held_page(db: Database, asked: Selection, after_id: int, limit: int) -> HeldPage:
    """Return the next hosts that match."""
    shown: list[NamedHost] = []
    for name, found in _named(db, asked, after_id):
        if len(shown) == limit:
            return HeldPage(shown, after_id)
        after_id = found[0].id
        shown.append(
            NamedHost(
                name,
                sum(host.captures for host in found),
                sum(host.bytes for host in found),
                min(host.first_ms for host in found),
                max(host.last_ms for host in found),
            )
        )
    return HeldPage(shown, None)


def total_of(db: Database, asked: Selection) -> tuple[int, int]:
    """Return how many hosts match, and how many captures they have at most."""
    hosts = captures = 0
    for _, found in _named(db, asked):
        hosts += 1
        captures += sum(host.captures for host in found)
    return hosts, captures


def _named(db: Database, asked: Selection, after: int = 0) -> Iterator[tuple[str, list[HeldHost]]]:
    """Yield the hosts that match by name and port; http and https of one port are one name."""
    expression = compile_host_expression(asked.host)
    home = host_of(asked.conditions.url) if asked.conditions.url else ""
    while True:
        with db.read() as tx:
            batch = archive_hosts.held_hosts(tx, after, HOSTS_AT_ONCE, only=home)
            fit = [host for host in batch if matches_host(host.key, expression)]
            twins = archive_hosts.held_by_key(tx, [_twin(host.key) for host in fit])
        for host in fit:
            twin = None if home else twins.get(_twin(host.key))
            if twin is None or host.id < twin.id:
                yield name_and_port(host.key), [host] if twin is None else [host, twin]
        if len(batch) < HOSTS_AT_ONCE:
            return
        after = batch[-1].id


def _twin(key: str) -> str:
    """Return the host of the same name and port by the other scheme."""
    return f"http{key[5:]}" if key.startswith("https") else f"https{key[4:]}"
