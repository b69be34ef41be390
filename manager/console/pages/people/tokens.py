"""Tokens for scripts: one's own, made here and shown once; to administrators those of everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Question, Visit, link
from manager.errors import NotFoundError
from manager.operations.people.api_tokens import (
    MOST_DAYS,
    Holder,
    NewToken,
    TokenRow,
    list_tokens,
    make_token,
    revoke_token,
)
from manager.operations.people.users import ROLES
from shared.errors import FormatError

__all__ = ["PAGES"]

FILTERS: Final = ("q", "state")
STATES: Final = ("good", "expired", "revoked")
DAYS: Final = (7, 30, 90, 365)
KEYS: Final[dict[str, Callable[[TokenRow], Any]]] = {
    "name": lambda row: (row.name, row.id),
    "user": lambda row: (row.user, row.name),
    "role": lambda row: (ROLES.index(row.role), row.name),
    "made": lambda row: row.created_ms,
    "until": lambda row: row.expires_ms,
    "used": lambda row: row.last_used_ms,
}
HEADER: Final = (
    "number",
    "user",
    "name",
    "role",
    "state",
    "made (UTC)",
    "until (UTC)",
    "last used (UTC)",
    "revoked (UTC)",
)


def _holder(visit: Visit) -> Holder:
    assert visit.user is not None, "pages of tokens are for people who have logged in"
    return Holder("user", visit.user.name, visit.user.role, "")


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/tokens",
        visit.query,
        filters=FILTERS,
        sorts=tuple(KEYS),
        default_sort="-made",
    )


def _state(row: TokenRow, now_ms: int) -> str:
    if row.revoked_ms is not None:
        return "revoked"
    return "expired" if row.expires_ms <= now_ms else "good"


def _rows(visit: Visit, listing: Listing) -> list[TokenRow]:
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    rows = [
        row
        for row in list_tokens(visit.db, _holder(visit))
        if text in f"{row.user}/{row.name}".lower() and state in ("", _state(row, visit.now_ms))
    ]
    return listing.sorted(rows, KEYS)


def show(visit: Visit) -> Response:
    """Show tokens, and the form for another one."""
    return _page(visit)


def _page(visit: Visit, *, status: int = 200, made: NewToken | None = None) -> Response:
    assert visit.user is not None, "pages of tokens are for people who have logged in"
    listing = _listing(visit)
    cut = listing.cut(_rows(visit, listing))
    return visit.page(
        "tokens.html",
        status=status,
        listing=listing,
        cut=cut,
        states=STATES,
        state_of={row.id: _state(row, visit.now_ms) for row in cut.rows},
        roles=ROLES[: ROLES.index(visit.user.role) + 1] if visit.user.role in ROLES else (),
        days=DAYS,
        most_days=MOST_DAYS,
        made=made,
    )


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    rows = _rows(visit, _listing(visit))
    return csv_response("tokens", HEADER, (_cells(row, visit.now_ms) for row in rows))


def _cells(row: TokenRow, now_ms: int) -> list[Cell]:
    return [
        row.id,
        row.user,
        row.name,
        row.role,
        _state(row, now_ms),
        figures.iso(row.created_ms),
        figures.iso(row.expires_ms),
        None if row.last_used_ms is None else figures.iso(row.last_used_ms),
        None if row.revoked_ms is None else figures.iso(row.revoked_ms),
    ]


def make(visit: Visit) -> Response:
    """Make a token and show it, this once."""
    form = visit.form
    made = make_token(
        visit.db,
        _holder(visit),
        form.get("name", "").strip(),
        form.get("role", ""),
        _days(form.get("days", "")),
        visit.actor,
        visit.now_ms,
    )
    return _page(visit, status=201, made=made)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise FormatError("console.token_days", value=text[:20], most=MOST_DAYS).about("days")
    return int(text)


def revoke(visit: Visit) -> Response:
    """End a token; ask once."""
    number, here = visit.form.get("number", ""), link("tokens")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise FormatError("console.whole_number", name="number", value=number[:20])
    row = next(
        (row for row in list_tokens(visit.db, _holder(visit)) if row.id == int(number)), None
    )
    if row is None:
        raise NotFoundError("people.token_unknown", number=number, see="tokens")
    if not visit.is_confirmed:
        used = figures.ago(row.last_used_ms, visit.now_ms) if row.last_used_ms else _("never")
        return visit.ask(
            Question(
                _("Revoke %(token)s of %(user)s?", token=row.name, user=row.user),
                (
                    _("It was last used: %(when)s.", when=used),
                    _("The script with this token is refused from its next request on."),
                    _("This cannot be undone; you can make another token."),
                ),
                _("Revoke"),
                "/console/tokens/revoke",
                here,
                {"number": number},
            )
        )
    revoke_token(visit.db, _holder(visit), row.id, visit.actor, visit.now_ms)
    said = _("%(token)s of %(user)s is revoked.", token=row.name, user=row.user)
    return visit.go(here, done=said)


PAGES: Final = (
    Page("GET", "/tokens", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/tokens.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/tokens", "viewer", make),
    Page("POST", "/tokens/revoke", "viewer", revoke),
)
