"""Search over all subjects: each leads to what was typed, and a role finds what it may see."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.operations.health.alert_views import AlertDesk
from manager.operations.health.system_figures import system_figures_of
from manager.operations.hosts.hosts import import_hosts
from manager.operations.people.api_tokens import Holder, make_token
from manager.operations.people.clients import register_client
from manager.operations.people.users import add_user
from manager.operations.rounds.round_schedules import add_schedule
from manager.operations.rounds.rounds import make_plan, start_round
from manager.operations.search import ConsolePage, Hit, Match, Search
from manager.settings import read_settings
from manager.store import Layout
from shared.errors import FormatError
from tests.manager.operations.world import ADMIN, World

HOSTS = (
    "http://www.example.jp/",
    "https://www.example.jp/",
    "http://shop.example.jp:8080/",
    "http://日本語.jp/",
    "http://www.日本.example/",
    "http://other.example/",
    "http://www.straße.example/",
    "http://192.0.2.7/",
)
PASSWORD = "correct horse battery"


@pytest.fixture
def world(database: Database) -> World:
    """Return a little fleet with one of everything."""
    made = World(database)
    made.join("kyoto.example.ac.jp")
    made.join("osaka.example.ac.jp")
    import_hosts(database, enumerate(HOSTS, 1), ADMIN, made.now_ms)
    made.hosts("resolved.example")
    for role in ("viewer", "operator", "admin"):
        add_user(database, f"{role}-anna", PASSWORD, role, ADMIN, made.now_ms)
    register_client(database, "library", "books@library.example", "research", ADMIN, made.now_ms)
    add_schedule(database, "30 2 * * *", "Asia/Tokyo", "keep", ADMIN, made.now_ms)
    start_round(database, "random", ADMIN, made.now_ms, probe=False)
    return made


def _search(world: World, folder: Path) -> Search:
    layout = Layout(folder)
    settings = read_settings(folder)
    desk = AlertDesk(
        lambda: system_figures_of(world.db, folder, world.policy, world.now_ms),
        list,
        list,
        settings.alerts,
        (),
    )
    pages = (
        ConsolePage("/console/hosts", ("Hosts", "ホスト"), "viewer"),
        ConsolePage("/console/users", ("Users", "利用者"), "admin"),
    )
    return Search(world.db, layout, settings, desk, pages)


def _find(world: World, folder: Path, text: str, role: str = "admin") -> list[Hit]:
    found = _search(world, folder).find(text, f"{role}-anna", role, world.now_ms)
    return [hit for group in found.groups for hit in group.hits]


def _keys(hits: list[Hit], kind: str, match: Match | None = None) -> list[str]:
    return [hit.key for hit in hits if hit.kind == kind and match in (None, hit.match)]


EXACT = [
    ("shop.example.jp", "host", "http://shop.example.jp:8080/"),
    ("SHOP.example.jp.", "host", "http://shop.example.jp:8080/"),
    ("shop.example.jp:8080", "host", "http://shop.example.jp:8080/"),
    ("https://www.example.jp", "host", "https://www.example.jp:443/"),
    ("https://www.example.jp/a/page.html?q=1", "host", "https://www.example.jp:443/"),
    ("http://www.example.jp:80/", "host", "http://www.example.jp:80/"),
    ("日本語.jp", "host", "http://xn--wgv71a119e.jp:80/"),
    ("<https://www.example.jp/a>", "host", "https://www.example.jp:443/"),
    ("http://anna:secret@www.example.jp/", "host", "http://www.example.jp:80/"),
    ("kyoto.example.ac.jp.", "agent", "kyoto.example.ac.jp"),
    ("日本語。ＪＰ", "host", "http://xn--wgv71a119e.jp:80/"),
    ("xn--wgv71a119e.jp", "host", "http://xn--wgv71a119e.jp:80/"),
    ("192.0.2.7", "host", "http://192.0.2.7:80/"),
    ("Kyoto.Example.ac.jp", "agent", "kyoto.example.ac.jp"),
    ("ｋｙｏｔｏ．example.ac.jp", "agent", "kyoto.example.ac.jp"),
    ("round 1", "round", "1"),
    ("Round #1", "round", "1"),
    ("ラウンド 1", "round", "1"),
    ("schedule 1", "round-schedule", "1"),
    ("audit 1", "audit", "1"),
    ("Library", "client", "library"),
    ("viewer-anna", "user", "viewer-anna"),
    ("server.stop_s", "setting", "server.stop_s"),
    ("hosts", "console", "/console/hosts"),
    ("ホスト", "console", "/console/hosts"),
]
PARTS = [
    ("hop.exam", "host", "http://shop.example.jp:8080/"),
    ("本語", "host", "http://xn--wgv71a119e.jp:80/"),
    ("日本", "host", "http://www.xn--wgv71a.example:80/"),
    (":8080", "host", "http://shop.example.jp:8080/"),
    ("straß", "host", "http://www.xn--strae-oqa.example:80/"),
    ("STRASS", "host", "http://www.xn--strae-oqa.example:80/"),
    ("No. 1", "round", "1"),
    ("第1回", "round", "1"),
    ("yoto", "agent", "kyoto.example.ac.jp"),
    ("libr", "client", "library"),
    ("books@", "client", "library"),
    ("anna", "user", "operator-anna"),
    ("stop_s", "setting", "server.stop_s"),
    ("利用", "console", "/console/users"),
    ("30 2 *", "round-schedule", "1"),
    ("tokyo", "round-schedule", "1"),
    ("round.start", "audit", ""),
    ("viewer-anna", "audit", ""),
]


def test_what_is_typed_exactly_is_led_to(world: World, tmp_path: Path) -> None:
    """Names in any case, width and script, numbers with their kind, URLs of a known host."""
    search = _search(world, tmp_path)
    for text, kind, key in EXACT:
        found = search.find(text, "admin-anna", "admin", world.now_ms).leads_to
        assert found is not None, text
        assert (found.kind, found.key) == (kind, key), text


def test_a_part_is_found(world: World, tmp_path: Path) -> None:
    """Of any name, in any script."""
    for text, kind, key in PARTS:
        keys = _keys(_find(world, tmp_path, text), kind)
        assert key in keys if key else keys, text


def test_a_name_of_several_hosts_finds_them_all(world: World, tmp_path: Path) -> None:
    """A name without scheme and port means both; a domain has its hosts below it."""
    both = _find(world, tmp_path, "www.example.jp")
    assert sorted(_keys(both, "host", "exact")) == [
        "http://www.example.jp:80/",
        "https://www.example.jp:443/",
    ]
    below = _find(world, tmp_path, "example.jp")
    assert len(_keys(below, "host", "domain")) == 3
    one = _find(world, tmp_path, "https://www.example.jp/")
    assert _keys(one, "host", "exact") == ["https://www.example.jp:443/"]


def test_an_ip_address_finds_the_hosts_there(world: World, tmp_path: Path) -> None:
    """Those whose names were looked up as it."""
    (address,) = {
        hit.key: hit for hit in _find(world, tmp_path, "resolved.example") if hit.kind == "host"
    }
    with world.db.read() as tx:
        from manager.db.hosts import addresses, hosts  # noqa: PLC0415

        row = hosts.by_key(tx, address)
        assert row is not None
        ((_, ip),) = addresses.addresses_of(tx, row.id)
    assert _keys(_find(world, tmp_path, ip), "host", "address") == [address]


def test_a_number_alone_is_of_anything(world: World, tmp_path: Path) -> None:
    """Rounds, schedules, audit rows and plans of that number are shown beside each other."""
    plan = make_plan(world.db, "random", ADMIN, world.now_ms)
    hits = _find(world, tmp_path, str(plan))
    assert str(plan) in _keys(hits, "plan", "exact")
    assert {hit.kind for hit in _find(world, tmp_path, "1") if hit.match == "exact"} >= {
        "round",
        "round-schedule",
        "audit",
    }
    assert _find(world, tmp_path, "9" * 18) == []
    assert _find(world, tmp_path, "9" * 40) == []


def test_a_role_finds_what_it_may_see(world: World, tmp_path: Path) -> None:
    """A viewer finds no users, none of others' tokens, and no pages that it may not open."""
    holder = Holder("user", "admin-anna", "admin", "")
    make_token(world.db, holder, "nightly", "viewer", 30, ADMIN, world.now_ms)
    for role, kinds in (("admin", {"user", "token", "console"}), ("viewer", set[str]())):
        found = {
            hit.kind
            for text in ("anna", "nightly", "Users")
            for hit in _find(world, tmp_path, text, role)
            if hit.kind != "audit"
        }
        assert found == kinds, role
    hosts = _keys(_find(world, tmp_path, "Hosts", "viewer"), "console")
    assert hosts == ["/console/hosts"]


def test_secrets_are_not_shown(world: World, tmp_path: Path) -> None:
    """A setting that is secret is found by its name, without its value."""
    (tmp_path / "prsm.toml").write_text('[alerts]\nsmtp_password = "open sesame"\n')
    (tmp_path / "prsm.toml").chmod(0o600)
    hits = _find(world, tmp_path, "smtp_password")
    assert _keys(hits, "setting") == ["alerts.smtp_password"]
    assert "sesame" not in str(hits)


def test_hits_are_bounded(world: World, tmp_path: Path) -> None:
    """At most as many of a kind as were asked for, and a word that there are more."""
    names = [f"h{number}.many.example" for number in range(30)]
    import_hosts(world.db, enumerate(names, 1), ADMIN, world.now_ms)
    search = _search(world, tmp_path)
    for text in ("many.example", "any.exam"):
        found = search.find(text, "a", "admin", world.now_ms, kinds=["host"], limit=7)
        assert [(group.kind, len(group.hits), group.has_more) for group in found.groups] == [
            ("host", 7, True)
        ]
    with pytest.raises(FormatError, match="kind 'colour': must be one of host, page"):
        search.find("x", "a", "admin", world.now_ms, kinds=["colour"])


def test_odd_texts_break_nothing(world: World, tmp_path: Path) -> None:
    """Wild cards of databases are signs like others, and what none keeps is not found."""
    for text in ("", " ", "%", "_", "\\", "\0", "a\nb", "'", "\ud800", "#", "x" * 100_000):
        assert _keys(_find(world, tmp_path, text), "host") == [], text
