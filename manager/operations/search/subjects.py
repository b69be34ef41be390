"""Searches for the typed text, one for each kind of subject.

Each returns at most `limit` hits and one more, the best first. Tables of which a manager has few
rows (agents, users, third parties, tokens, releases, schedules) are read whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import host_lookup, host_views
from manager.db.hosts.host_views import HostLine
from manager.db.people import api_tokens, audit_log, clients, users
from manager.db.people.audit_log import AuditRow
from manager.db.planning import plans
from manager.db.releases import releases
from manager.db.rounds import rounds
from manager.db.rounds.schedules import COLLECTIONS, ROUNDS, Schedule
from manager.operations.search.hits import Hit, Kind, Match
from manager.operations.search.query import Query

__all__ = [
    "find_agents",
    "find_audit",
    "find_clients",
    "find_collection_schedules",
    "find_hosts",
    "find_plans",
    "find_releases",
    "find_round_schedules",
    "find_rounds",
    "find_tokens",
    "find_users",
    "ranked",
]

NEWEST_AUDIT: Final = 10_000
"""Rows of the audit in which a part is looked for, from the newest on."""

LONGEST_IN_AUDIT: Final = 10_000
"""Characters; no row holds a longer text, and SQLite compares none of 50,000 bytes."""

_ORDER: Final[dict[Match, int]] = {
    "exact": 0, "site": 1, "front": 2, "address": 3, "domain": 4, "part": 5,
}  # fmt: skip


def ranked(hits: Iterable[Hit | None], limit: int) -> list[Hit]:
    """Return the best hits, one more than the limit where there are more."""
    found = [hit for hit in hits if hit is not None]
    return sorted(found, key=lambda hit: _ORDER[hit.match])[: limit + 1]


def find_hosts(db: Database, tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return hosts: of the typed name or IP address, below it, and with it anywhere."""
    typed, most = query.host, limit + 1
    found: dict[int, Match] = {}

    def take(numbers: Iterable[int], match: Match) -> None:
        for number in numbers:
            if len(found) <= limit:
                found.setdefault(number, match)

    if typed.reversed_name:
        take(host_lookup.named(tx, typed.reversed_name, most), "exact")
    if typed.address:
        take(host_lookup.at_address(tx, typed.address, most), "address")
    if typed.reversed_name and not typed.is_precise:
        take(host_lookup.below(tx, typed.reversed_name, most), "domain")
    for part in typed.parts:
        if len(found) <= limit:
            take(db.host_names.find(tx, part, most), "part")
    lines = host_views.lines(tx, list(found))
    return ranked((_host(query, line, found[line.id]) for line in lines), limit)


def _host(query: Query, line: HostLine, match: Match) -> Hit:
    if match == "exact" and not _is_meant(query, line.key):
        match = "part"
    return Hit(
        kind="host",
        key=line.key,
        match=match,
        state=line.state,
        about=line.owner or "",
        at_ms=line.first_seen_ms,
    )


def _is_meant(query: Query, key: str) -> bool:
    """Return whether a host of the typed name also has the typed scheme and port."""
    typed = query.host
    if typed.key:
        return key == typed.key
    return not typed.port or key.endswith(f":{typed.port}/")


def find_agents(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return agents by any part of their name."""
    return ranked(
        (
            Hit(
                "agent",
                one.name,
                match,
                "retired" if one.is_retired else "",
                "plain" * one.is_plain,
            )
            for one in agents.named(tx)
            if (match := query.match(one.name))
        ),
        limit,
    )


def find_rounds(tx: Transaction, query: Query) -> list[Hit]:
    """Return the round of a number."""
    row = _numbered(query, "round") and rounds.by_number(tx, query.number or 0)
    if not row:
        return []
    return [
        Hit(
            kind="round",
            key=str(row.number),
            match="exact",
            state=row.state,
            about=row.method,
            at_ms=row.started_ms,
        )
    ]


def find_plans(tx: Transaction, query: Query) -> list[Hit]:
    """Return the plan of a number."""
    row = _numbered(query, "plan") and plans.head_by_id(tx, query.number or 0)
    if not row:
        return []
    state = "" if row.applied_ms is None else "applied"
    return [Hit("plan", str(row.id), "exact", state, row.method, row.made_ms)]


def _numbered(query: Query, kind: Kind) -> bool:
    return query.number is not None and kind in query.numbered


def find_clients(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return third parties by any part of their name or contact."""
    return ranked(
        (
            Hit("client", row.name, match, "disabled" * (row.disabled_ms is not None), row.contact)
            for row in clients.all_clients(tx)
            if (match := query.match(row.name) or _part(query, row.contact))
        ),
        limit,
    )


def find_users(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return users by any part of their name; for administrators only."""
    return ranked(
        (
            Hit("user", row.name, match, "disabled" * (row.disabled_ms is not None), row.role)
            for row in users.all_users(tx)
            if (match := query.match(row.name))
        ),
        limit,
    )


def find_tokens(tx: Transaction, query: Query, limit: int, *, user: str | None) -> list[Hit]:
    """Return tokens by any part of their name. user: whose; None: of everybody."""
    return ranked(
        (
            Hit("token", row.name, match, "revoked" * (row.revoked_ms is not None), row.user)
            for row in api_tokens.all_tokens(tx, user)
            if (match := query.match(row.name))
        ),
        limit,
    )


def find_releases(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return releases by any part of their version."""
    return ranked(
        (
            Hit("release", row.version, match, row.ring, at_ms=row.published_ms)
            for row in releases.all_releases(tx)
            if (match := query.match(row.version))
        ),
        limit,
    )


def find_round_schedules(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return schedules of rounds by number, times, method, or who made them."""
    return ranked(
        (_schedule(query, "round-schedule", row, row.method) for row in ROUNDS.all(tx)), limit
    )


def find_collection_schedules(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return schedules of collection by number, times, agent, or who made them."""
    return ranked(
        (
            _schedule(query, "collection-schedule", row, row.agent or "")
            for row in COLLECTIONS.all(tx)
        ),
        limit,
    )


def _schedule(query: Query, kind: Kind, row: Schedule, use: str) -> Hit | None:
    if _numbered(query, kind) and row.id == query.number:
        match: Match | None = "exact"
    else:
        match = _part(query, row.crontab, row.zone, row.made_by, use)
    if match is None:
        return None
    about = f"{row.crontab} {row.zone}"
    return Hit(kind, str(row.id), match, use, about, row.next_ms)


def _part(query: Query, *names: str) -> Match | None:
    return "part" if query.match(*names) else None


def find_audit(tx: Transaction, query: Query, limit: int) -> list[Hit]:
    """Return rows of the audit: by number, by subject, and with the text among the newest."""
    found: dict[int, Hit] = {}

    def take(rows: Iterable[AuditRow], match: Match) -> None:
        for row in rows:
            about = f"{row.actor_name}: {row.subject}" if row.subject else row.actor_name
            hit = Hit("audit", str(row.id), match, row.action, about, row.at_ms)
            found.setdefault(row.id, hit)

    if len(query.text) > LONGEST_IN_AUDIT:
        return []
    if _numbered(query, "audit"):
        take(audit_log.newest(tx, limit=1, only=query.number), "exact")
    else:
        take(audit_log.newest(tx, limit=limit + 1, subject=query.text), "part")
        take(audit_log.rows_with_text(tx, query.text, among=NEWEST_AUDIT, limit=limit + 1), "part")
    return ranked(found.values(), limit)
