"""Joining, proving who one is, changing keys."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, ForbiddenError, NotFoundError, UnknownKeyError
from manager.operations.actor import Actor
from manager.operations.identity.enrolment import (
    authenticate,
    enrol,
    issue_join_token,
    replace_key,
    revoke_join_token,
)
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError
from shared.wire.names import hash_of_key

ADMIN = Actor("user", "hana", "request-1")
DAY_MS = 86_400_000
KEY, OTHER = hash_of_key("a key"), hash_of_key("another key")


def test_a_token_lets_one_key_in(database: Database) -> None:
    """An agent with a token joins, and is then known by its key."""
    token = issue_join_token(database, "waseda", ADMIN, 1000)
    assert token.expires_ms == 1000 + 3 * DAY_MS
    enrolled = enrol(database, "waseda", token.token, KEY, 2000)
    assert not enrolled.repeated
    assert authenticate(database, [KEY, OTHER]) == {KEY: enrolled.agent}


def test_the_same_pair_succeeds_again(database: Database) -> None:
    """A lost answer costs nothing: the same token and key are accepted again, unchanged."""
    token = issue_join_token(database, "waseda", ADMIN, 1000).token
    first = enrol(database, "waseda", token, KEY, 2000)
    again = enrol(database, "waseda", token, KEY, 9 * DAY_MS)
    assert again.repeated
    assert again.agent == first.agent
    assert len(audit_page(database, action="agent.enrol")) == 1


def test_a_used_token_with_another_key_is_an_alert(database: Database) -> None:
    """Who comes second with a stolen token is refused, and somebody is told."""
    token = issue_join_token(database, "waseda", ADMIN, 1000).token
    enrol(database, "waseda", token, KEY, 2000)
    with pytest.raises(ConflictError, match="was used with another key"):
        enrol(database, "waseda", token, OTHER, 3000)
    alert, *others = audit_page(database, alerts=True)
    assert not others
    assert (alert.action, alert.subject) == ("agent.reuse-token", "waseda")
    assert not authenticate(database, [OTHER])


def test_an_expired_token_is_refused_with_the_remedy(database: Database) -> None:
    """After 72 hours a forgotten token is dead."""
    token = issue_join_token(database, "waseda", ADMIN, 0).token
    with pytest.raises(
        ForbiddenError, match=r"expired at 1970-01-04 00:00 UTC; ask the administrator"
    ):
        enrol(database, "waseda", token, KEY, 3 * DAY_MS)


def test_a_token_is_bound_to_a_name(database: Database) -> None:
    """A token for one name lets no other name in, and does not say whose it is."""
    token = issue_join_token(database, "waseda", ADMIN, 0).token
    with pytest.raises(UnknownKeyError, match="join token for etl: unknown"):
        enrol(database, "etl", token, KEY, 1)
    with pytest.raises(UnknownKeyError):
        enrol(database, "waseda", "guessed", KEY, 1)


def test_a_new_token_voids_the_unused_one(database: Database) -> None:
    """Only the newest unused token of a name is good."""
    old = issue_join_token(database, "waseda", ADMIN, 0).token
    new = issue_join_token(database, "waseda", ADMIN, 1).token
    with pytest.raises(UnknownKeyError):
        enrol(database, "waseda", old, KEY, 2)
    assert not enrol(database, "waseda", new, KEY, 2).repeated


def test_a_token_is_revoked_before_it_is_used(database: Database) -> None:
    """It lets nobody in; another one does. One that was used, or is over, cannot be revoked."""
    old = issue_join_token(database, "waseda", ADMIN, 0).token
    revoke_join_token(database, "waseda", ADMIN, 1)
    (row,) = audit_page(database, action="agent.revoke-token")
    assert (row.subject, row.actor_name) == ("waseda", "hana")
    said = "was revoked at 1970-01-01 00:00 UTC by hana; ask the administrator for a new one"
    with pytest.raises(ForbiddenError, match=said):
        enrol(database, "waseda", old, KEY, 2)
    with pytest.raises(NotFoundError, match="no unused one"):
        revoke_join_token(database, "waseda", ADMIN, 3)
    new = issue_join_token(database, "waseda", ADMIN, 4).token
    enrol(database, "waseda", new, KEY, 5)
    with pytest.raises(NotFoundError, match="no unused one"):
        revoke_join_token(database, "waseda", ADMIN, 6)
    assert enrol(database, "waseda", new, KEY, 7).repeated


def test_names_and_hashes_are_checked(database: Database) -> None:
    """What is no name or no hash is refused before anything is looked up."""
    with pytest.raises(FormatError, match="agent name"):
        issue_join_token(database, "../etc", ADMIN, 0)
    with pytest.raises(FormatError, match="key hash"):
        enrol(database, "waseda", "token", "not a hash", 0)


def test_a_key_is_replaced_by_who_has_it(database: Database) -> None:
    """Rotation: the new key is good, the old one is not; a repeat changes nothing."""
    token = issue_join_token(database, "waseda", ADMIN, 0).token
    agent = enrol(database, "waseda", token, KEY, 1).agent
    replace_key(database, agent, OTHER, 2)
    replace_key(database, agent, OTHER, 3)
    assert authenticate(database, [KEY, OTHER]) == {OTHER: agent}
    assert len(audit_page(database, action="agent.change-key")) == 1


def test_two_agents_cannot_have_one_key(database: Database) -> None:
    """An agent is its key, so a key is one agent."""
    for name, key in (("waseda", KEY), ("etl", OTHER)):
        token = issue_join_token(database, name, ADMIN, 0).token
        agent = enrol(database, name, token, key, 1).agent
    with pytest.raises(ConflictError, match="belongs to another agent"):
        replace_key(database, agent, KEY, 2)
    token = issue_join_token(database, "nara", ADMIN, 0).token
    with pytest.raises(ConflictError, match="belongs to agent etl"):
        enrol(database, "nara", token, OTHER, 3)


def test_the_audit_says_who_asked_and_by_which_request(database: Database) -> None:
    """Each action leaves a row with actor and request."""
    issue_join_token(database, "waseda", ADMIN, 5)
    row = audit_page(database)[0]
    assert (row.at_ms, row.actor_kind, row.actor_name) == (5, "user", "hana")
    assert (row.action, row.subject, row.request_id) == (
        "agent.create-token",
        "waseda",
        "request-1",
    )
