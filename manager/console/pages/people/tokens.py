"""Tokens for scripts: one's own, made here and shown once; to administrators those of everybody."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy
from manager.console.listing import is_whole, whole
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import choice_filter, text_filter
from manager.console.tables.kinds import AGO, ID, MOMENT, STATE, WORD
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
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
from shared.frozen import frozen

__all__ = ["PAGES", "TOKENS", "token_state"]

STATES: Final = ("good", "expired", "revoked")
DAYS: Final = (7, 30, 90, 365)


@frozen
class Token:
    """A token with its state now, one of `STATES`."""

    row: TokenRow
    state: str


def _holder(visit: Visit) -> Holder:
    assert visit.user is not None, "pages of tokens are for people who have logged in"
    return Holder("user", visit.user.name, visit.user.role, "")


def token_state(revoked_ms: int | None, expires_ms: int, now_ms: int) -> str:
    """Return the state of a token now, one of `STATES`."""
    if revoked_ms is not None:
        return "revoked"
    return "expired" if expires_ms <= now_ms else "good"


def _rows(visit: Visit) -> list[Token]:
    rows = list_tokens(visit.db, _holder(visit))
    return [Token(row, token_state(row.revoked_ms, row.expires_ms, visit.now_ms)) for row in rows]


TOKENS: Final[Table[Token]] = Table(
    "/tokens",
    "Tokens for scripts",
    InMemory(_rows),
    (
        Column("number", lambda one: one.row.id, kind=ID),
        Column(
            "user",
            lambda one: one.row.user,
            lazy("User"),
            sort_by=lambda one: (one.row.user, one.row.name),
        ),
        Column(
            "name",
            lambda one: one.row.name,
            lazy("Token"),
            sort_by=lambda one: (one.row.name, one.row.id),
        ),
        Column(
            "role",
            lambda one: one.row.role,
            lazy("Role"),
            WORD,
            sort_by=lambda one: (ROLES.index(one.row.role), one.row.name),
        ),
        Column("state", lambda one: one.state, lazy("State"), STATE),
        Column("made", lambda one: one.row.created_ms, lazy("Made"), MOMENT, sort=True),
        Column("until", lambda one: one.row.expires_ms, lazy("Until"), MOMENT, sort=True),
        Column(
            "used",
            lambda one: one.row.last_used_ms,
            lazy("Last used"),
            AGO,
            "last used (UTC)",
            True,
        ),
        Column("revoked", lambda one: one.row.revoked_ms, kind=MOMENT),
        BUTTONS,
    ),
    page_columns=("name", "user", "role", "state", "used", "until", "made", "actions"),
    filters=(
        text_filter(
            lazy("Name"), lazy("part of a name"), lambda one: f"{one.row.user}/{one.row.name}"
        ),
        choice_filter("state", lazy("State"), STATES, lambda one: one.state),
    ),
    default_sort="-made",
)


def show(visit: Visit, *, status: int = 200, made: NewToken | None = None) -> Response:
    """Show tokens, and the form for another one."""
    assert visit.user is not None, "pages of tokens are for people who have logged in"
    return visit.page(
        "tokens.html",
        status=status,
        list=TOKENS.view(visit),
        roles=ROLES[: ROLES.index(visit.user.role) + 1] if visit.user.role in ROLES else (),
        days=DAYS,
        most_days=MOST_DAYS,
        made=made,
    )


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
    return show(visit, status=201, made=made)


def _days(text: str) -> int:
    if not is_whole(text, 8):
        raise FormatError("console.token_days", value=text[:20], most=MOST_DAYS).about("days")
    return int(text)


def revoke(visit: Visit) -> Response:
    """End a token; ask once."""
    number, here = visit.form.get("number", ""), link("tokens")
    wanted = whole(number, "number", 18)
    row = next((row for row in list_tokens(visit.db, _holder(visit)) if row.id == wanted), None)
    if row is None:
        raise NotFoundError("people.token_unknown", number=number, see="tokens")
    if not visit.is_confirmed:
        used = figures.ago(row.last_used_ms, visit.now_ms) if row.last_used_ms else _("never")
        return visit.ask(
            _("Revoke %(token)s of %(user)s?", token=row.name, user=row.user),
            _("It was last used: %(when)s.", when=used),
            _("The script with this token is refused from its next request on."),
            _("This cannot be undone; you can make another token."),
            button=_("Revoke"),
            back=here,
            fields={"number": number},
        )
    revoke_token(visit.db, _holder(visit), row.id, visit.actor, visit.now_ms)
    said = _("%(token)s of %(user)s is revoked.", token=row.name, user=row.user)
    return visit.go(here, done=said)


PAGES: Final = (
    *TOKENS.pages(show),
    Page("POST", "/tokens", "viewer", make, form="/tokens"),
    Page("POST", "/tokens/revoke", "viewer", revoke, form="/tokens"),
)
