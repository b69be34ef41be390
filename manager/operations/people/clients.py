"""Third parties: who may take captures, by which token, and how much.

A token is 256 random bits, shown once; its SHA-256 is kept. It has scopes, an end, a daily number
of bytes and a number of requests a minute. Invariant: a token that is revoked or over, or whose
owner is disabled, opens nothing from the next question on; downloads under way ask again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, get_args

from manager.db.engine import Database, Transaction
from manager.db.people import clients
from manager.db.people.clients import ClientRow, NewToken, TokenRow, UsageRow
from manager.errors import ConflictError, ForbiddenError, NotFoundError, UnknownKeyError
from manager.operations.actor import Actor, note
from shared.errors import FormatError
from shared.frozen import frozen
from shared.wire.names import hash_of_key, new_key

__all__ = [
    "DAY_MS",
    "SCOPES",
    "SHOWN_DAYS",
    "Client",
    "ClientDetail",
    "IssuedToken",
    "Scope",
    "UsageRow",
    "authenticate_client",
    "issue_token",
    "list_clients",
    "register_client",
    "revoke_token",
    "set_client_disabled",
    "still_valid",
    "take_usage",
]

Scope = Literal["segments", "pages", "index", "changes"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
DAY_MS: Final = 86_400_000
MOST_DAYS: Final = 3660
SHOWN_DAYS: Final = 31

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@frozen
class Client:
    """A third party as its token shows it. Made by `authenticate_client`.

    daily_bytes: 0: no limit; taken_bytes: today so far, as recorded.
    """

    id: int
    name: str
    token_id: int
    scopes: frozenset[str]
    daily_bytes: int
    requests_per_minute: int
    taken_bytes: int

    def actor(self, request_id: str) -> Actor:
        """Return the third party as the actor, for the audit."""
        return Actor("client", self.name, request_id)

    def require(self, scope: Scope) -> None:
        """Raise ForbiddenError where the token has not this scope."""
        if scope not in self.scopes:
            raise ForbiddenError(
                "people.token_scope_missing", scopes=sorted(self.scopes), scope=scope
            )


@frozen
class IssuedToken:
    """A token to hand over. It is shown once and kept nowhere."""

    id: int
    client: str
    token: str
    scopes: list[str]
    expires_ms: int
    daily_bytes: int
    requests_per_minute: int


@frozen
class ClientDetail:
    """A third party, its tokens, newest first, and what it took of each day of the last month."""

    client: ClientRow
    tokens: list[TokenRow]
    usage: list[UsageRow]


def register_client(
    db: Database, name: str, contact: str, purpose: str, actor: Actor, now_ms: int
) -> ClientRow:
    """Register a third party; raises FormatError, ConflictError."""
    if not _NAME.fullmatch(name):
        raise FormatError("people.client_bad_name", name=name[:80]).about("name")
    if not contact.strip():
        raise FormatError("people.contact_missing").about("contact")
    with db.write() as tx:
        if clients.client_by_name(tx, name) is not None:
            raise ConflictError("people.client_exists", client=name).about("name")
        row = clients.add_client(tx, name, contact.strip(), purpose.strip(), actor.name, now_ms)
        note(tx, now_ms, actor, "client.register", name, contact=contact, purpose=purpose)
        return row


def list_clients(db: Database, now_ms: int) -> list[ClientDetail]:
    """Return all third parties by name."""
    since = now_ms // DAY_MS - SHOWN_DAYS
    with db.read() as tx:
        return [
            ClientDetail(row, clients.tokens_of(tx, row.id), clients.usage_since(tx, row.id, since))
            for row in clients.all_clients(tx)
        ]


def set_client_disabled(
    db: Database, name: str, actor: Actor, now_ms: int, *, disabled: bool
) -> None:
    """Disable a third party, and with it all its tokens, or enable it again."""
    with db.write() as tx:
        row = _client(tx, name)
        clients.set_disabled(tx, row.id, now_ms if disabled else None)
        note(tx, now_ms, actor, "client.disable" if disabled else "client.enable", name)


def issue_token(
    db: Database,
    name: str,
    actor: Actor,
    now_ms: int,
    *,
    scopes: Sequence[str] = SCOPES,
    days: int = 365,
    daily_bytes: int = 0,
    requests_per_minute: int = 600,
) -> IssuedToken:
    """Make a token for a third party; raises NotFoundError, FormatError."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise FormatError("people.token_scopes", unknown=", ".join(unknown)[:80], scopes=SCOPES)
    if not 1 <= days <= MOST_DAYS:
        raise FormatError("people.token_days_of_client", days=days, most=MOST_DAYS).about("days")
    if daily_bytes < 0 or not 1 <= requests_per_minute <= 1_000_000:
        wrong = "daily" if daily_bytes < 0 else "requests_per_minute"
        raise FormatError(
            "people.daily_and_minute_limits",
            daily_bytes=daily_bytes,
            requests_per_minute=requests_per_minute,
        ).about(wrong)
    token = new_key()
    kept = sorted(set(scopes))
    with db.write() as tx:
        row = _client(tx, name)
        expires_ms = now_ms + days * DAY_MS
        number = clients.add_token(
            tx,
            NewToken(
                client_id=row.id,
                scopes=" ".join(kept),
                daily_bytes=daily_bytes,
                requests_per_minute=requests_per_minute,
                issued_by=actor.name,
                issued_ms=now_ms,
                expires_ms=expires_ms,
            ),
            hash_of_key(token),
        )
        note(tx, now_ms, actor, "client.create-token", name, token=number, scopes=kept, days=days)
    return IssuedToken(number, name, token, kept, expires_ms, daily_bytes, requests_per_minute)


def revoke_token(db: Database, name: str, token_id: int, actor: Actor, now_ms: int) -> None:
    """End a token; downloads by it end too. Again changes nothing."""
    with db.write() as tx:
        row = _client(tx, name)
        token = clients.token_by_id(tx, token_id)
        if token is None or token.client_id != row.id:
            raise NotFoundError("people.token_of_client_unknown", number=token_id, client=name)
        clients.revoke(tx, token_id, now_ms)
        note(tx, now_ms, actor, "client.revoke-token", name, token=token_id)


def authenticate_client(db: Database, token: str, now_ms: int) -> Client:
    """Return whose token this is; raises UnknownKeyError, ForbiddenError."""
    with db.read() as tx:
        row = clients.token_by_hash(tx, hash_of_key(token))
        if row is None:
            raise UnknownKeyError("people.token_wrong_or_missing")
        owner = clients.client_by_id(tx, row.client_id)
        assert owner is not None, "a foreign key"
        _check(row, owner, now_ms)
        return Client(
            id=owner.id,
            name=owner.name,
            token_id=row.id,
            scopes=frozenset(row.scopes.split()),
            daily_bytes=row.daily_bytes,
            requests_per_minute=row.requests_per_minute,
            taken_bytes=clients.usage_of_day(tx, row.id, now_ms // DAY_MS),
        )


def still_valid(db: Database, client: Client, now_ms: int) -> bool:
    """Return whether a download that began with a token may continue."""
    with db.read() as tx:
        row = clients.token_by_id(tx, client.token_id)
        owner = clients.client_by_id(tx, client.id)
    try:
        assert row is not None
        assert owner is not None, "rows are kept"
        _check(row, owner, now_ms)
    except ForbiddenError:
        return False
    return True


def take_usage(db: Database, usage: Sequence[UsageRow], now_ms: int) -> None:
    """Write down what tokens took since the last time."""
    if usage:
        with db.write() as tx:
            clients.add_usage(tx, usage, now_ms)


def _client(tx: Transaction, name: str) -> ClientRow:
    row = clients.client_by_name(tx, name)
    if row is None:
        raise NotFoundError("people.client_unknown", client=name[:80], see="clients")
    return row


def _check(row: TokenRow, owner: ClientRow, now_ms: int) -> None:
    if row.revoked_ms is not None:
        raise ForbiddenError("people.token_of_client_revoked")
    if now_ms >= row.expires_ms:
        raise ForbiddenError("people.token_of_client_expired")
    if owner.disabled_ms is not None:
        raise ForbiddenError("people.client_disabled", client=owner.name)
