"""What all agents keep to: they hear of it, and nothing is taken that they would not understand."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.block_list import add_blocked, remove_blocked, try_url
from manager.operations.fleet.fleet_rules import LimitsRow, fleet_rules_of, set_limits
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError, UrlError
from tests.manager.operations.world import ADMIN, World


def test_all_agents_hear_of_lines_and_limits(database: Database) -> None:
    """With each sync until they are taken back; each change is in the audit."""
    world = World(database)
    world.join("a", "b")
    assert world.sync("a").settings.blocked is None
    text = "# what the partner asked for\n/private/\n\n^http://old[.]example[.]jp:?\n/private/"
    assert add_blocked(database, text, "asked for", ADMIN, world.now_ms) == 2
    assert add_blocked(database, "/private/", "again", ADMIN, world.now_ms) == 0
    set_limits(database, LimitsRow(interval_s=30.0, bytes_per_s=10**6), ADMIN, world.now_ms)
    for name in ("a", "b"):
        heard = world.sync(name).settings
        assert heard.blocked == ("/private/", "^http://old[.]example[.]jp:?")
        assert (heard.interval_s, heard.bytes_per_s, heard.parallel_hosts) == (30.0, 10**6, None)
    first = fleet_rules_of(database).blocked[0]
    remove_blocked(database, first.id, ADMIN, world.now_ms)
    set_limits(database, LimitsRow(), ADMIN, world.now_ms)
    heard = world.sync("a").settings
    assert (heard.blocked, heard.interval_s) == (("^http://old[.]example[.]jp:?",), None)
    with pytest.raises(NotFoundError, match="no line of this number"):
        remove_blocked(database, first.id, ADMIN, world.now_ms)
    assert [row.action for row in audit_page(database, limit=4)] == [
        "fleet.set-limits", "fleet.unblock", "fleet.set-limits", "fleet.block",
    ]  # fmt: skip


def test_the_line_that_blocks_is_said(database: Database) -> None:
    """A URL is compared as agents write it; a host alone is its top page."""
    now_ms = World(database).now_ms
    add_blocked(database, "/private/\n[.]example[.]jp/", "", ADMIN, now_ms)
    found = try_url(database, "HTTP://www.EXAMPLE.jp:80/private/x#here")
    assert found.url == "http://www.example.jp/private/x"
    assert [row.pattern for row in found.blocked_by] == ["/private/", "[.]example[.]jp/"]
    assert try_url(database, "www.example.org").blocked_by == []
    assert try_url(database, "www.example.org", "org/$").blocked_by[0].pattern == "org/$"
    with pytest.raises(UrlError):
        try_url(database, "ftp://example.org/")
    with pytest.raises(FormatError, match="is no RE2"):
        try_url(database, "example.org", "(")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/a\n(b", r"line 2: '\(b' is no RE2: missing \): .*brackets come in pairs"),
        ("(?=x)y", "line 1: .*invalid perl operator.*no look-ahead"),
        ("a**", "bad repetition operator.*stand behind"),
        ("[z-a]", "invalid character class range.*smaller"),
        ("\\", "trailing.*comes d, w"),
        ("(?<n", "named capture"),
        (".*", "matches every URL"),
        ("x" * 1001, "1001 characters; at most 1000"),
        ("# nothing\n\n", "no expression was given"),
    ],
)
def test_what_is_no_expression_is_refused_with_place_and_remedy(
    database: Database, text: str, said: str
) -> None:
    """And nothing of the text is taken."""
    with pytest.raises(FormatError, match=said):
        add_blocked(database, text, "", ADMIN, World(database).now_ms)
    assert fleet_rules_of(database).blocked == []


def test_the_list_stays_small_enough_for_each_sync(database: Database) -> None:
    """Too many lines, and too many bytes, are refused with the limit."""
    now_ms = World(database).now_ms
    with pytest.raises(ConflictError, match="at most 500"):
        add_blocked(database, "\n".join(f"/{n}/" for n in range(501)), "", ADMIN, now_ms)
    long = "\n".join(f"{n:03}" + "x" * 900 for n in range(100))
    with pytest.raises(ConflictError, match="at most 64,000"):
        add_blocked(database, long, "", ADMIN, now_ms)


@pytest.mark.parametrize(
    "wrong",
    [
        LimitsRow(interval_s=-1),
        LimitsRow(interval_s=float("nan")),
        LimitsRow(interval_s=4000),
        LimitsRow(parallel_hosts=0),
        LimitsRow(bytes_per_s=9_999),
    ],
)
def test_what_is_no_limit_is_refused(database: Database, wrong: LimitsRow) -> None:
    """With what would be one."""
    with pytest.raises(FormatError, match="must be"):
        set_limits(database, wrong, ADMIN, World(database).now_ms)
