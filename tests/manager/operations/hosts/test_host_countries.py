"""Scope rules by country close and open units as soon as addresses are known."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.hosts import host_countries
from manager.db.hosts.addresses import MANAGER
from manager.errors import ConflictError
from manager.operations.hosts.addresses import record_addresses
from manager.operations.hosts.crawl_scope import (
    preview_scope,
    scope_of_crawl,
    set_scope,
    try_scope,
)
from manager.operations.hosts.host_countries import (
    CountryFileFacts,
    country_alerts,
    record_file,
    settle_all,
    settle_hosts,
)
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.rounds.rounds import start_round
from shared.errors import FormatError, LineError
from shared.messages import Message
from tests.manager.operations.hosts.test_crawl_scope import COM, JP, _states
from tests.manager.operations.hosts.test_host_split import HOST, crawled, owners
from tests.manager.operations.world import ADMIN, World

GOAL = "include *.jp\ninclude country:JP"
FILE = CountryFileFacts("/var/lib/GeoIP/Country.mmdb", "1", "Test-Country", 1_000, None)
BROKEN = Message("naming.mmdb_damaged")


class Atlas:
    """What a file says of addresses."""

    def __init__(self, db: Database, facts: CountryFileFacts = FILE) -> None:
        self.db = db
        self.by_address: dict[str, str] = {}
        record_file(db, facts, 0)

    def country_of(self, address: str) -> str:
        """Return the country of an address; those that are not named are in the US."""
        return self.by_address.get(address, "US")

    def settle(self, world: World, *keys: str) -> int:
        """Look hosts up, as behind a look-up of their names."""
        ids = [host_detail(self.db, key).host.id for key in keys]
        return settle_hosts(self.db, self.country_of, ids, world.now_ms)

    def replace(self, world: World, identity: str, **by_address: str) -> int:
        """Put another file in place, and look all hosts up."""
        self.by_address = {name.replace("_", "."): code for name, code in by_address.items()}
        facts = CountryFileFacts(FILE.path, identity, "Test-Country", 2_000, None)
        record_file(self.db, facts, world.now_ms)
        return settle_all(self.db, self.country_of, world.now_ms)


def test_a_host_is_closed_when_its_address_is_known_to_be_elsewhere(database: Database) -> None:
    """Until then it may be anywhere; a domain before the rule is not asked."""
    world, atlas = World(database), Atlas(database)
    world.join("a")
    set_scope(database, GOAL, "", ADMIN, world.now_ms)
    world.hosts("a.example.jp", "a.example.com")
    assert _states(database) == {JP: "idle", COM: "idle"}
    assert try_scope(database, COM).depends_on == ["country"]
    assert try_scope(database, COM).is_inside
    assert atlas.settle(world, JP, COM) == 2
    assert _states(database) == {JP: "idle", COM: "excluded"}
    tried = try_scope(database, COM)
    assert (tried.is_inside, tried.is_host_inside, tried.countries) == (False, False, ["US"])
    assert tried.depends_on == []
    assert host_detail(database, COM).units[0].state == "excluded"
    assert atlas.settle(world, JP, COM) == 0, "the same again changes nothing"


def test_a_host_that_moves_leaves_the_crawl_and_comes_back(database: Database) -> None:
    """In mid-crawl, as its name is looked up again, or as the file is replaced."""
    world, atlas = World(database), Atlas(database)
    world.join("a")
    world.hosts("a.example.jp", "a.example.com")
    address = world.address[COM][0]
    atlas.by_address[address] = "JP"
    atlas.settle(world, COM)
    set_scope(database, "include country:JP", "", ADMIN, world.now_ms)
    start_round(database, "tree", ADMIN, world.now_ms, probe=False)
    for _ in range(4):
        world.tick()
        world.call("a")
    assert COM in world.agents["a"].listed
    atlas.by_address[address] = "KR"
    assert atlas.settle(world, COM) == 1
    world.tick()
    world.call("a")
    assert COM not in world.agents["a"].listed
    assert atlas.replace(world, "2", **{address.replace(".", "_"): "JP"}) >= 1
    assert _states(database)[COM] in ("idle", "placed")


def test_each_of_several_addresses_counts(database: Database) -> None:
    """Those of the manager's look-up; an agent may see others of the same service."""
    world, atlas = World(database), Atlas(database)
    world.address[COM] = ("192.0.2.1", "192.0.2.2")
    atlas.by_address = {"192.0.2.1": "JP", "192.0.2.2": "DE"}
    world.hosts("a.example.jp")
    world.hosts("a.example.com", address="192.0.2.1")
    world.address[COM] = ("192.0.2.1", "192.0.2.2")
    with database.write() as tx:
        host = host_detail(database, COM).host.id
        record_addresses(tx, MANAGER, {host: world.address[COM]}, world.now_ms)
        record_addresses(tx, 7, {host: ("192.0.2.3",)}, world.now_ms)
    atlas.settle(world, COM)
    assert try_scope(database, COM).countries == ["DE", "JP"]
    set_scope(database, "exclude country:US\ninclude country:JP", "", ADMIN, world.now_ms)
    assert _states(database)[COM] == "idle"
    set_scope(database, "exclude country:DE\ninclude *", "", ADMIN, world.now_ms)
    assert _states(database)[COM] == "excluded"


def test_another_file_is_asked_about_all_hosts_in_batches(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a restart in the middle."""
    monkeypatch.setattr("manager.operations.hosts.host_countries.BATCH", 2)
    world, atlas = World(database), Atlas(database)
    names = [f"h{number}.example.com" for number in range(7)]
    world.hosts(*names)
    assert settle_all(database, atlas.country_of, world.now_ms, batches=2) == 4
    shown = scope_of_crawl(database).countries
    assert shown is not None
    assert (shown.file, shown.is_applied) == ("Country.mmdb", False)
    assert settle_all(database, atlas.country_of, world.now_ms) == 3
    shown = scope_of_crawl(database).countries
    assert shown is not None
    assert shown.is_applied
    record_file(database, FILE, world.now_ms)
    assert settle_all(database, atlas.country_of, world.now_ms) == 0, "the same file"
    assert atlas.replace(world, "3", **{world.address[f"http://{names[0]}:80/"][0]: "JP"}) == 1


def test_rules_by_country_need_a_file(database: Database) -> None:
    """What, which line, and what to do; the preview says the same."""
    now_ms = World(database).now_ms
    for change in (preview_scope, lambda db, text: set_scope(db, text, "", ADMIN, now_ms)):
        with pytest.raises(
            LineError, match=r"line 2: country:JP: no database.*set dns\.country_file"
        ):
            change(database, "include *.jp\ninclude country:jp")
    never_read = CountryFileFacts(FILE.path, "", "", None, BROKEN)
    record_file(database, never_read, now_ms)
    with pytest.raises(LineError, match=r"Country\.mmdb cannot be read: .*not a whole one"):
        preview_scope(database, "include country:JP")
    assert scope_of_crawl(database).version == 0
    assert country_alerts(database) == [], "no such rule is in force"
    record_file(database, FILE, now_ms)
    assert preview_scope(database, "include country:JP").rules == 1


def test_a_file_that_is_gone_or_broken_is_an_alert_and_closes_nothing(database: Database) -> None:
    """Hosts keep the countries of the file before."""
    world, atlas = World(database), Atlas(database)
    world.hosts("a.example.jp", "a.example.com")
    atlas.by_address[world.address[COM][0]] = "JP"
    atlas.settle(world, JP, COM)
    set_scope(database, "include country:JP", "", ADMIN, world.now_ms)
    assert _states(database) == {JP: "excluded", COM: "idle"}
    assert country_alerts(database) == []
    broken = CountryFileFacts(FILE.path, "1", "Test-Country", 1_000, BROKEN)
    record_file(database, broken, world.now_ms)
    [alert] = country_alerts(database)
    assert "cannot be read" in str(alert.message)
    assert settle_all(database, atlas.country_of, world.now_ms) == 0, "it was asked already"
    record_file(database, None, world.now_ms)
    [alert] = country_alerts(database)
    assert "Set dns.country_file" in str(alert.message)
    assert _states(database) == {JP: "excluded", COM: "idle"}
    assert scope_of_crawl(database).countries is None
    record_file(database, FILE, world.now_ms)
    assert country_alerts(database) == []


def test_pieces_of_a_split_host_have_its_countries(database: Database) -> None:
    """They close and open together."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    pieces, atlas = len(owners(world)), Atlas(database)
    atlas.settle(world, HOST)
    set_scope(database, "exclude country:US", "", ADMIN, world.now_ms)
    assert owners(world) == {}
    assert scope_of_crawl(database).outside == pieces
    atlas.by_address[world.address[HOST][0]] = "JP"
    atlas.settle(world, HOST)
    assert scope_of_crawl(database).outside == 0


def test_a_language_is_tried_with_a_url(database: Database) -> None:
    """Without one the answer says that it may decide otherwise."""
    now_ms = World(database).now_ms
    set_scope(database, "include *.jp\nexclude language:de\ninclude language:ja", "", ADMIN, now_ms)
    unknown = try_scope(database, COM)
    assert (unknown.is_inside, unknown.depends_on) == (True, ["language"])
    assert try_scope(database, JP).depends_on == []
    german = try_scope(database, COM, "DE")
    assert (german.is_inside, german.line, german.language) == (False, 2, "de")
    assert try_scope(database, COM, "und").rule == "default exclude"
    with pytest.raises(FormatError, match="xx1: no language"):
        try_scope(database, COM, "xx1")


def test_a_scope_that_changed_meanwhile_is_refused_with_conditions_too(database: Database) -> None:
    """As any other."""
    now_ms = World(database).now_ms
    set_scope(database, "include language:ja", "", ADMIN, now_ms, 0)
    with pytest.raises(ConflictError):
        set_scope(database, "include language:de", "", ADMIN, now_ms, 0)


def test_no_file_is_written_down_where_none_is_set(database: Database) -> None:
    """Nor is a row changed by each look at the same file."""
    record_file(database, None, 1)
    with database.read() as tx:
        assert host_countries.file_in_use(tx) is None
    record_file(database, FILE, 2)
    record_file(database, FILE, 3)
    with database.read() as tx:
        row = host_countries.file_in_use(tx)
    assert row is not None
    assert row.read_ms == 2
