"""Search over all subjects for one person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from manager.db.engine import Database, Transaction
from manager.operations.health.alert_views import AlertDesk, current_alerts
from manager.operations.people.users import ROLES
from manager.operations.search import subjects
from manager.operations.search.archive_pages import find_pages
from manager.operations.search.hits import (
    HITS_MOST,
    KINDS,
    ConsolePage,
    Hit,
    HitGroup,
    Kind,
    Match,
    SearchResult,
)
from manager.operations.search.query import Query, read_query
from manager.settings import Settings, setting_lines
from manager.store import Layout
from shared.errors import Fault, FormatError

__all__ = ["Search"]

ADMIN: Final = "admin"


class Search:
    """Looks for what people type. There is one of it for console and API."""

    def __init__(
        self,
        db: Database,
        layout: Layout,
        settings: Settings,
        desk: AlertDesk,
        pages: Sequence[ConsolePage],
    ) -> None:
        self._db = db
        self._layout = layout
        self._settings = settings
        self._desk = desk
        self._pages = pages

    def find(
        self,
        text: str,
        user: str,
        role: str,
        now_ms: int,
        *,
        kinds: Sequence[str] = (),
        limit: int = 10,
    ) -> SearchResult:
        """Return what is found for a user of a role, at most `limit` hits of each kind.

        kinds: none: all. Raises FormatError for a kind that there is not.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise FormatError(
                    "general.unknown_choice",
                    Fault.INVALID_VALUE,
                    name="kind",
                    value=kind[:40],
                    known=KINDS,
                )
        query, limit = read_query(text), max(1, min(limit, HITS_MOST))
        if not query.text:
            return SearchResult("", "", [], None)
        looks = self._looks(query, user, role, now_ms, limit)
        found = {kind: look() for kind, look in looks.items() if not kinds or kind in kinds}
        _part_host_and_page(found, query.host.url)
        groups = [
            HitGroup(kind, found[kind][:limit], len(found[kind]) > limit)
            for kind in KINDS
            if found.get(kind)
        ]
        return SearchResult(query.text, query.host.url, groups, _only_exact(groups))

    def _looks(
        self, query: Query, user: str, role: str, now_ms: int, limit: int
    ) -> dict[Kind, Callable[[], list[Hit]]]:
        """Return how each kind that a role may see is looked for."""
        db = self._db

        def in_transaction(look: Callable[[Transaction], list[Hit]]) -> Callable[[], list[Hit]]:
            def read() -> list[Hit]:
                with db.read() as tx:
                    return look(tx)

            return read

        whose = None if role == ADMIN else user
        looks: dict[Kind, Callable[[], list[Hit]]] = {
            "host": in_transaction(lambda tx: subjects.find_hosts(db, tx, query, limit)),
            "page": lambda: find_pages(db, self._layout, query),
            "agent": in_transaction(lambda tx: subjects.find_agents(tx, query, limit)),
            "round": in_transaction(lambda tx: subjects.find_rounds(tx, query)),
            "plan": in_transaction(lambda tx: subjects.find_plans(tx, query)),
            "client": in_transaction(lambda tx: subjects.find_clients(tx, query, limit)),
            "token": in_transaction(lambda tx: subjects.find_tokens(tx, query, limit, user=whose)),
            "alert": lambda: subjects.ranked(self._alerts(query, now_ms), limit),
            "round-schedule": in_transaction(
                lambda tx: subjects.find_round_schedules(tx, query, limit)
            ),
            "collection-schedule": in_transaction(
                lambda tx: subjects.find_collection_schedules(tx, query, limit)
            ),
            "release": in_transaction(lambda tx: subjects.find_releases(tx, query, limit)),
            "setting": lambda: subjects.ranked(self._setting_hits(query), limit),
            "console": lambda: subjects.ranked(self._page_hits(query, role), limit),
            "audit": in_transaction(lambda tx: subjects.find_audit(tx, query, limit)),
        }
        if role == ADMIN:
            looks["user"] = in_transaction(lambda tx: subjects.find_users(tx, query, limit))
        return looks

    def _alerts(self, query: Query, now_ms: int) -> Iterable[Hit]:
        for one in current_alerts(self._db, self._desk, now_ms).troubles:
            match = query.match(one.key)
            if match or query.match(str(one.text)):
                state = "silent" if one.silence else ""
                yield Hit(
                    kind="alert",
                    key=one.key,
                    match=match or "part",
                    state=state,
                    about=one.text,
                    at_ms=one.since_ms,
                )

    def _setting_hits(self, query: Query) -> Iterable[Hit]:
        for line in setting_lines(self._settings):
            if match := query.match(line.name):
                about = "" if line.secret else line.value
                yield Hit("setting", line.name, match, about=about)

    def _page_hits(self, query: Query, role: str) -> Iterable[Hit]:
        for page in self._pages:
            match = query.match(*page.names)
            if match and ROLES.index(page.role) <= ROLES.index(role):
                yield Hit("console", page.path, match, about=page.names[0])


def _part_host_and_page(found: dict[Kind, list[Hit]], url: str) -> None:
    """Leave one of a host and its page exact, where a typed URL is both: that which was meant.

    `https://example.jp/` means the host, which has a front page; any other URL means its page.
    """
    hosts, pages = found.get("host", []), found.get("page", [])
    if not pages or not any(hit.match == "exact" for hit in hosts):
        return
    is_front = url.count("/") == 3 and url.endswith("/")
    kind: Kind = "page" if is_front else "host"
    match: Match = "front" if is_front else "site"
    found[kind] = [
        replace(hit, match=match) if hit.match == "exact" else hit for hit in found[kind]
    ]


def _only_exact(groups: Sequence[HitGroup]) -> Hit | None:
    """Return the one hit that equals the typed text; None of several."""
    exact = [hit for group in groups for hit in group.hits if hit.match == "exact"]
    return exact[0] if len(exact) == 1 else None
