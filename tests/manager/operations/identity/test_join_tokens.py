"""What became of a join token, as its maker is told."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.operations.actor import Actor
from manager.operations.fleet.contact import subscribe
from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.operations.identity.join_tokens import JoinTokenStatus, join_token_status
from shared.errors import FormatError
from shared.wire.names import hash_of_key

ADMIN = Actor("user", "hana", "request-1")
KEY, OTHER = hash_of_key("a key"), hash_of_key("another key")
NAME = "waseda"


def _issue(db: Database, at_ms: int) -> tuple[str, str]:
    token = issue_join_token(db, NAME, ADMIN, at_ms, 10).token
    return token, hash_of_key(token)


def test_a_token_waits_until_it_is_used_or_over(database: Database) -> None:
    """Before, at and after its end."""
    _, mark = _issue(database, 1000)
    assert join_token_status(database, NAME, mark, 2000) == JoinTokenStatus(
        NAME, mark, "waiting", 11_000
    )
    assert join_token_status(database, NAME, mark, 11_000) == JoinTokenStatus(
        NAME, mark, "expired", 11_000
    )


def test_who_joined_and_called_is_told(database: Database) -> None:
    """When it joined; then when it called. A contact by the key before does not count."""
    token, mark = _issue(database, 1000)
    first = enrol(database, NAME, token, KEY, 2000, "plain").agent
    joined = join_token_status(database, NAME, mark, 99_000)
    assert (joined.state, joined.joined_ms, joined.called_ms) == ("joined", 2000, None)
    subscribe(database, first, 3000)
    assert join_token_status(database, NAME, mark, 99_000).called_ms == 3000
    token, mark = _issue(database, 4000)
    again = enrol(database, NAME, token, OTHER, 5000, "plain").agent
    assert join_token_status(database, NAME, mark, 99_000).called_ms is None
    subscribe(database, again, 6000)
    assert join_token_status(database, NAME, mark, 99_000).called_ms == 6000


def test_a_token_that_another_one_replaced_is_void(database: Database) -> None:
    """So is one of another name, and one that never was."""
    _, old = _issue(database, 1000)
    _, new = _issue(database, 2000)
    assert join_token_status(database, NAME, old, 3000).state == "void"
    assert join_token_status(database, NAME, new, 3000).state == "waiting"
    assert join_token_status(database, "keio", new, 3000).state == "void"
    assert join_token_status(database, NAME, "", 3000).state == "void"
    with pytest.raises(FormatError, match="agent name"):
        join_token_status(database, "a b", new, 3000)
