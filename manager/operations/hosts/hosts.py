"""Hosts, as people act on them: import, exclude, include. How they are shown is in `host_views`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database, Transaction
from manager.db.hosts import hosts
from manager.db.hosts.hosts import HostRow
from manager.db.ownership import assignments, rights
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.db.segments import withdrawals
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note, note_alone
from manager.operations.hosts.crawl_scope import close_outside, rules_in_force
from manager.operations.hosts.lists.host_lines import Imported, Tally, batches, parsed, store
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.messages import Message
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = ["Imported", "exclude_host", "import_hosts", "include_host"]

EXCLUDED: Final = Message("ownership.host_excluded")


def import_hosts(
    db: Database,
    lines: Iterable[tuple[int, str]],
    actor: Actor,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> Imported:
    """Add hosts from a list as operators write it: a URL a line, perhaps a tab and a referer.

    lines: (number, text), any number of them. `http://` is put before names; empty lines and
    comments are skipped. A URL that is no host's top is kept as a start page.
    """
    tally = Tally()
    with db.read() as tx:
        rules = rules_in_force(tx)
    try:
        for batch in batches(parsed(_urls(lines), tally, rules)):
            with db.write() as tx:
                store(tx, batch, None, len(batch) * 2, policy.start_pages_per_unit, now_ms, tally)
    finally:
        # What a broken upload brought before it broke is there, and is noted.
        note_alone(
            db,
            now_ms,
            actor,
            "host.import",
            "",
            new=tally.new,
            start_pages=tally.start_pages,
            known=tally.known,
            refused=tally.refused_count,
        )
    return tally.outcome()


def _urls(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str | None]]:
    for number, text in lines:
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        url, tab, referer = line.partition("\t")
        # A scheme that we do not crawl is refused by name; `http://` before it would hide it.
        yield number, url if "://" in url else complete_line(url), referer if tab else None


def exclude_host(db: Database, key: str, reason: str, actor: Actor, now_ms: int) -> None:
    """Take a host out of the crawl: no agent owns it or is sent to it from now on.

    An agent that fetches it now stops when it takes its next list. Captures of it in the archive
    are not distributed from now on, and their segments are rewritten without it. Excluding again
    changes the reason. Raises NotFoundError, UrlError.
    """
    with db.write() as tx:
        host, unit_ids = _host_and_units(tx, key)
        _exclude(tx, host, unit_ids, reason, actor, now_ms)
        twin = hosts.by_key(tx, _with_dot(host.key))
        if twin is not None:
            units = [unit.id for unit in hosts.units_of_hosts(tx, [twin.key])]
            _exclude(tx, twin, units, reason, actor, now_ms)


def _exclude(
    tx: Transaction, host: HostRow, unit_ids: list[int], reason: str, actor: Actor, now_ms: int
) -> None:
    hosts.set_excluded(tx, host.id, now_ms, reason)
    hosts.set_unit_state(tx, unit_ids, "excluded")
    assignments.close(tx, unit_ids, now_ms, EXCLUDED)
    probes.fail(tx, EXCLUDED, unit_ids=unit_ids)
    for number in rounds.live_numbers(tx):
        round_units.cancel_units(tx, number, EXCLUDED, unit_ids)
    rights.withdraw(tx, now_ms, EXCLUDED, unit_ids=unit_ids)
    segments, results = archive_withdrawals.withdraw(tx, host.id, now_ms)
    withdrawals.add(tx, host.id, now_ms)
    note(
        tx,
        now_ms,
        actor,
        "host.exclude",
        host.key,
        reason=reason,
        segments=segments,
        results=results,
    )


def include_host(db: Database, key: str, actor: Actor, now_ms: int) -> None:
    """Include a host again; it is probed and placed like a new one.

    One that is outside of the scope of the crawl stays closed by that, and one that is not excluded
    stays unchanged. Raises NotFoundError, UrlError.
    """
    with db.write() as tx:
        host, unit_ids = _host_and_units(tx, key)
        if host.excluded_ms is None:
            return
        hosts.set_excluded(tx, host.id, None, "")
        hosts.set_unit_state(tx, unit_ids, "new" if host.group_id is None else "idle")
        close_outside(tx, unit_ids, now_ms)
        note(tx, now_ms, actor, "host.include", host.key)


def _host_and_units(tx: Transaction, text: str) -> tuple[HostRow, list[int]]:
    key = host_key(complete_line(text))
    host = hosts.by_key(tx, key) or hosts.by_key(tx, _with_dot(key))
    if host is None:
        raise NotFoundError("hosts.unknown", host=key)
    return host, [unit.id for unit in hosts.units_of_hosts(tx, [host.key])]


def _with_dot(key: str) -> str:
    """Return the key that a host with a dot at the end of its name had in older versions."""
    name, colon, port = key.rpartition(":")
    return f"{name}.{colon}{port}"
