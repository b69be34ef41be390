"""One third party: its tokens, what it took, and what can be done."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy
from manager.console.listing import is_whole
from manager.console.pages.archive.archive import party_of
from manager.console.pages.archive.downloads import DOWNLOADS, JOBS
from manager.console.pages.people.tokens import token_state
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.kinds import AGO, BYTES, ID, MOMENT, NUMBER, STATE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.db.people.clients import TokenRow
from manager.errors import NotFoundError
from manager.operations.archive.downloads import list_downloads
from manager.operations.archive.selection_jobs import list_jobs
from manager.operations.people.clients import (
    DAY_MS,
    SCOPES,
    SHOWN_DAYS,
    ClientDetail,
    issue_token,
    list_clients,
    revoke_token,
    set_client_disabled,
)
from shared.errors import FormatError, about_field
from shared.frozen import frozen

__all__ = ["PAGES", "TOKENS"]

SHOWN: Final = 10
SCOPE_WORDS: Final = {
    "segments": lazy("whole segments, and the list of them (WASAPI)"),
    "pages": lazy("selections by host, time and change, and jobs"),
    "index": lazy("the index of captures as Parquet and CDXJ"),
    "changes": lazy("the list of created and deleted segments, and daily files"),
}
assert set(SCOPE_WORDS) == set(SCOPES)
UNITS: Final = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
TALL: Final = 60


@frozen
class Token:
    """A token with its state now: good, expired or revoked."""

    row: TokenRow
    state: str


@frozen
class DayBar:
    """The bar of a day's downloads. height: of `TALL`.

    is_known: it was registered then. is_over: the day has passed.
    """

    day: str
    bytes: int
    requests: int
    height: int
    is_known: bool
    is_over: bool


def _detail(visit: Visit, name: str) -> ClientDetail:
    for detail in list_clients(visit.db, visit.now_ms):
        if detail.client.name == name:
            return detail
    raise NotFoundError("people.client_unknown", client=name[:80], see="clients")


def _tokens(detail: ClientDetail, now_ms: int) -> list[Token]:
    return [
        Token(one, token_state(one.revoked_ms, one.expires_ms, now_ms)) for one in detail.tokens
    ]


TOKENS: Final[Table[Token]] = Table(
    "/client/tokens",
    "Tokens of a third party",
    InMemory(lambda visit: _tokens(_detail(visit, visit.query.get("name", "")), visit.now_ms)),
    (
        Column(
            "token", lambda one: one.row.id, lazy("Token"), ID, style="numbered", about="number"
        ),
        Column("state", lambda one: one.state, lazy("State"), STATE),
        Column("opens", lambda one: one.row.scopes, lazy("Scopes"), lang="en"),
        Column(
            "a_day",
            lambda one: one.row.daily_bytes or None,
            lazy("Per day"),
            BYTES,
            about="most that it may take in a day; empty: no limit",
        ),
        Column(
            "requests_a_minute",
            lambda one: one.row.requests_per_minute,
            lazy("Requests per minute"),
            NUMBER,
        ),
        Column("issued_by", lambda one: one.row.issued_by),
        Column("issued", lambda one: one.row.issued_ms, lazy("Issued"), MOMENT),
        Column("until", lambda one: one.row.expires_ms, lazy("Until"), MOMENT),
        Column("revoked", lambda one: one.row.revoked_ms, kind=MOMENT),
        Column("last_used", lambda one: one.row.last_used_ms, lazy("Last used"), AGO),
        BUTTONS,
    ),
    parameters=("name",),
)


def _bars(detail: ClientDetail, now_ms: int) -> list[DayBar]:
    first, last = detail.client.registered_ms // DAY_MS, now_ms // DAY_MS
    days = range(last - SHOWN_DAYS + 1, last + 1)
    taken = {day: [0, 0] for day in days}
    for row in detail.usage:
        if row.day in taken:
            taken[row.day][0] += row.bytes
            taken[row.day][1] += row.requests
    most = max(1, *(size for size, _ in taken.values()))
    return [
        DayBar(
            figures.iso(day * DAY_MS)[:10],
            size,
            requests,
            max(2, size * TALL // most) if size else 0,
            day >= first,
            day < last,
        )
        for day, (size, requests) in taken.items()
    ]


def show(visit: Visit) -> Response:
    """Show a third party."""
    detail = _detail(visit, visit.query.get("name", ""))
    name = detail.client.name
    return visit.page(
        "client.html",
        party=party_of(detail, visit.now_ms),
        client=detail.client,
        tokens=TOKENS.part(visit, _tokens(detail, visit.now_ms)),
        bars=_bars(detail, visit.now_ms),
        downloads=DOWNLOADS.part(
            visit,
            list_downloads(visit.db, visit.now_ms, client=name, limit=SHOWN),
            without=("client",),
        ),
        jobs=JOBS.part(visit, list_jobs(visit.db, client=name, limit=SHOWN), without=("client",)),
        scopes=SCOPE_WORDS,
        units=tuple(UNITS),
    )


def issue(visit: Visit) -> Response:
    """Make a token and show it, this once; this once."""
    name = visit.form.get("name", "")
    token = issue_token(
        visit.db,
        name,
        visit.actor,
        visit.now_ms,
        scopes=[scope for scope in SCOPES if visit.form.get(f"scope {scope}") == "yes"],
        days=_field(visit, "days"),
        daily_bytes=_daily_bytes(visit),
        requests_per_minute=_field(visit, "requests_per_minute"),
    )
    return visit.page("client_token.html", status=201, token=token)


def _daily_bytes(visit: Visit) -> int:
    amount = visit.form.get("daily", "").strip()
    if not amount:
        return 0
    unit = visit.form.get("unit", "GB")
    if unit not in UNITS:
        raise FormatError(
            "general.unknown_choice", name="unit", value=unit[:20], known=tuple(UNITS)
        ).about("unit")
    return _field(visit, "daily") * UNITS[unit]


def _field(visit: Visit, name: str) -> int:
    with about_field(name):
        return _whole(visit.form.get(name, ""), name)


def _whole(text: str, name: str) -> int:
    text = text.strip().replace(",", "")
    if not is_whole(text, 9):
        raise FormatError("console.short_whole_number", name=name, value=text[:20])
    return int(text)


def revoke(visit: Visit) -> Response:
    """End a token; ask once."""
    name, number = visit.form.get("name", ""), visit.form.get("token", "")
    here = link("client", name=name)
    if not visit.is_confirmed:
        return visit.ask(
            _("Revoke token %(number)s of %(client)s?", number=number, client=name),
            _("It stops working, and its downloads end within seconds."),
            _("This cannot be undone; you can issue another token."),
            button=_("Revoke"),
            back=here,
            fields={"name": name, "token": number},
        )
    revoke_token(visit.db, name, _whole(number, "token"), visit.actor, visit.now_ms)
    return visit.go(
        here, done=_("Token %(number)s of %(client)s is revoked.", number=number, client=name)
    )


def disable(visit: Visit) -> Response:
    """Keep a third party out; ask once."""
    name = visit.form.get("name", "")
    here = link("client", name=name)
    if not visit.is_confirmed:
        return visit.ask(
            _("Disable %(name)s?", name=name),
            _("None of its tokens works, and its downloads end within seconds."),
            _("It can be enabled again at any time, with the same tokens."),
            button=_("Disable"),
            back=here,
            fields={"name": name},
        )
    set_client_disabled(visit.db, name, visit.actor, visit.now_ms, disabled=True)
    return visit.go(here, done=_("%(name)s is disabled.", name=name))


def enable(visit: Visit) -> Response:
    """Enable a third party again."""
    name = visit.form.get("name", "")
    set_client_disabled(visit.db, name, visit.actor, visit.now_ms, disabled=False)
    return visit.go(link("client", name=name), done=_("%(name)s is enabled again.", name=name))


PAGES: Final = (
    Page("GET", "/client", "viewer", show, query=("name",)),
    *TOKENS.file_pages(),
    Page("POST", "/client/token", "admin", issue, form="/client?name={name}"),
    Page("POST", "/client/revoke", "admin", revoke, form="/client?name={name}"),
    Page("POST", "/client/disable", "admin", disable, form="/client?name={name}"),
    Page("POST", "/client/enable", "admin", enable, form="/client?name={name}"),
)
