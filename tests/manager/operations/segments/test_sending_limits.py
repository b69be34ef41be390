"""How fast, and in which hours, agents may send."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.errors import ConflictError, NotFoundError
from manager.operations.people.audit_log import audit_page
from manager.operations.segments.sending_limits import (
    ALL_DAY,
    limit_sending,
    limits_for_agent,
    limits_message,
    read_limits,
)
from shared.errors import FormatError
from shared.messages import Message
from tests.manager.operations.world import ADMIN, World


def test_an_agent_hears_of_its_limits(database: Database) -> None:
    """With each sync until they are lifted; both are in the audit."""
    world = World(database)
    world.join("a")
    world.join("b")
    limits = read_limits(2_000_000, ["02:00-08:00"], [ALL_DAY], "Asia/Tokyo")
    limit_sending(database, "a", limits, ADMIN, world.now_ms)
    assert world.sync("a").settings.sending == limits
    assert world.sync("a").settings.sending == limits
    assert world.sync("b").settings.sending is None
    said = "at most 2,000,000 bytes/s; Monday to Friday 02:00-08:00 (Asia/Tokyo)"
    assert str(limits_message(limits)) == said
    assert "rate_and_hours" in audit_page(database, action="collection.set-limits")[0].detail
    limit_sending(database, "a", read_limits(None, [ALL_DAY], [ALL_DAY], ""), ADMIN, world.now_ms)
    assert world.sync("a").settings.sending is None
    assert len(audit_page(database, action="collection.set-limits")) == 2
    with database.read() as tx:
        row = agents.by_name(tx, "a")
    assert row is not None
    assert limits_message(limits_for_agent(row)) == Message("segments.rate_of_site")


@pytest.mark.parametrize(
    ("rate", "weekday", "weekend", "zone", "said"),
    [
        (9_999, [ALL_DAY], [ALL_DAY], "", "must be at least 10000"),
        (-1, [ALL_DAY], [ALL_DAY], "", "must be at least 10000"),
        (None, [], [], "", "nothing would be sent"),
        (None, ["2-8"], [], "", "time of day"),
        (None, ["08:00-08:00"], [], "", "is empty"),
        (None, [ALL_DAY], [ALL_DAY], "Mars/Base", "not known"),
        (None, [ALL_DAY] * 25, [], "", "at most 24"),
    ],
)
def test_what_is_no_limit_is_refused(
    rate: int | None, weekday: list[str], weekend: list[str], zone: str, said: str
) -> None:
    """With what is wrong and what would be right."""
    with pytest.raises(FormatError, match=said):
        read_limits(rate, weekday, weekend, zone)


def test_who_cannot_hear_is_not_told(database: Database) -> None:
    """A plain agent, and one that is not there."""
    world = World(database)
    world.join("plain", kind="plain")
    limits = read_limits(20_000, [ALL_DAY], [], "")
    with pytest.raises(ConflictError, match="five messages"):
        limit_sending(database, "plain", limits, ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        limit_sending(database, "nobody", limits, ADMIN, world.now_ms)
