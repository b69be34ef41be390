"""Hosts: importing, leaving out, looking at them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manager.db.engine import Database
from manager.db.hosts.hosts import NewHost, add_hosts
from manager.errors import NotFoundError
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import HostFilter, host_detail, list_hosts
from manager.operations.hosts.hosts import exclude_host, import_hosts, include_host
from manager.operations.people.audit_log import audit_page
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import round_detail, start_round
from shared.errors import FormatError, UrlError
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.world import ADMIN, World


def test_a_list_by_hand_is_understood(database: Database) -> None:
    """Names without scheme, tabs with referers, comments, empty lines, pages, repeats."""
    lines = [
        "# our hosts",
        "",
        "www.a.jp",
        "http://WWW.a.jp:80/\thttp://ref.jp/",
        "https://b.jp",
        "http://c.jp:8080/x/y.html",
        "ftp://d.jp/",
        "http://e.jp:99999/",
    ]
    brought = import_hosts(database, enumerate(lines, 1), ADMIN, 5)
    assert (brought.new, brought.start_pages, brought.known, brought.refused_count) == (3, 1, 1, 2)
    assert [line for line, _ in brought.refused] == [7, 8]
    assert "only http and https" in str(brought.refused[0][1])
    assert [line.key for line in list_hosts(database).hosts] == [
        "http://www.a.jp:80/",
        "https://b.jp:443/",
        "http://c.jp:8080/",
    ]
    detail = host_detail(database, "c.jp:8080")
    assert [page.url for page in detail.start_pages] == ["http://c.jp:8080/x/y.html"]
    assert len(audit_page(database, action="host.import")) == 1


@pytest.mark.parametrize("port", [25, 6667, 10080])
def test_ports_of_other_protocols_are_refused(database: Database, port: int) -> None:
    """An import says which line names one, and why no crawler goes there."""
    brought = import_hosts(database, [(4, f"http://a.jp:{port}/x")], ADMIN, 5)
    assert (brought.new, brought.refused_count) == (0, 1)
    ((line, reason),) = brought.refused
    assert line == 4
    (refused,) = brought.refused_lines
    assert (refused.code, refused.text) == ("port", f"http://a.jp:{port}/x")
    assert f"port {port} belongs to another protocol" in str(reason)


def test_a_dot_at_the_end_of_a_name_makes_no_other_host(database: Database) -> None:
    """Imported with it or without, it is one host, and excluded in both spellings."""
    lines = ["http://www.a.jp./x.html", "http://www.a.jp/", "www.a.jp.", "http://www.a.jp.:80/"]
    assert import_hosts(database, enumerate(lines, 1), ADMIN, 5).new == 1
    exclude_host(database, "http://www.a.jp./", "asked to", ADMIN, 6)
    (host,) = list_hosts(database, HostFilter(state="excluded")).hosts
    assert host.key == "http://www.a.jp:80/"
    assert host_detail(database, "www.a.jp.").host.excluded_reason == "asked to"


def test_a_host_of_an_older_version_is_excluded_in_both_spellings(database: Database) -> None:
    """A row whose name still ends with a dot is the same host, and goes with it."""
    import_hosts(database, [(1, "a.jp"), (2, "b.jp")], ADMIN, 5)
    with database.write() as tx:
        new = [NewHost(f"http://{name}.jp.:80/", f"jp,{name})/", None, None) for name in "ac"]
        add_hosts(tx, new, 5)
    exclude_host(database, "http://a.jp/", "asked to", ADMIN, 6)
    exclude_host(database, "http://c.jp./", "asked to", ADMIN, 6)
    excluded = {host.key for host in list_hosts(database, HostFilter(state="excluded")).hosts}
    assert excluded == {"http://a.jp:80/", "http://a.jp.:80/", "http://c.jp.:80/"}


def test_importing_again_changes_nothing(database: Database) -> None:
    """The same list twice is the same hosts once."""
    lines = list(enumerate(["a.jp", "b.jp", "http://a.jp/x.html"], 1))
    import_hosts(database, lines, ADMIN, 5)
    again = import_hosts(database, lines, ADMIN, 6)
    assert (again.new, again.start_pages, again.known) == (0, 0, 3)
    assert host_detail(database, "a.jp").host.first_seen_ms == 5


def test_any_number_of_lines_is_taken_in_batches(database: Database) -> None:
    """More lines than a batch, from a stream that is read once."""
    brought = import_hosts(database, ((n, f"h{n}.jp") for n in range(2500)), ADMIN, 5)
    assert brought.new == 2500
    assert list_hosts(database, limit=1).matching == 2500
    assert check(database) == []


def test_what_a_broken_upload_brought_stays_and_is_noted(database: Database) -> None:
    """Whole batches before the break are hosts; the audit says how many."""

    def broken() -> Iterator[tuple[int, str]]:
        for number in range(1500):
            yield number, f"h{number}.jp"
        raise ConnectionError("the line broke")

    with pytest.raises(ConnectionError):
        import_hosts(database, broken(), ADMIN, 5)
    assert list_hosts(database).matching == 1000
    assert '"new": 1000' in audit_page(database, action="host.import")[0].detail


def test_start_pages_of_a_unit_are_capped(database: Database) -> None:
    """No list of one site's pages fills the table: as many as are sent, and as many in reserve."""
    policy = Policy(start_pages_per_unit=3)
    lines = [(number, f"http://a.jp/{number}.html") for number in range(10)]
    brought = import_hosts(database, lines, ADMIN, 5, policy)
    assert (brought.new, brought.start_pages) == (1, 6)
    detail = host_detail(database, "a.jp")
    assert len(detail.start_pages) == 6
    assert detail.units[0].dropped_pages == 4


def test_hosts_are_sorted_by_domain_and_found_below_it(database: Database) -> None:
    """A domain finds itself and all names below it, and nothing that only looks like it."""
    names = ["www.example.jp", "example.jp", "example2.jp", "a.b.example.jp:8080", "zexample.jp"]
    import_hosts(database, enumerate(names, 1), ADMIN, 5)
    found = list_hosts(database, HostFilter(domain="example.jp"))
    assert found.matching == 3
    assert [line.key for line in found.hosts] == [
        "http://example.jp:80/",
        "http://a.b.example.jp:8080/",
        "http://www.example.jp:80/",
    ]
    assert [line.key for line in list_hosts(database, HostFilter(text="2.jp")).hosts] == [
        "http://example2.jp:80/"
    ]
    assert list_hosts(database, HostFilter(text="%")).matching == 0


@pytest.mark.parametrize("sort", ["domain", "first_seen", "volume", "pages", "owner", "state"])
def test_every_column_sorts_both_ways(database: Database, sort: str) -> None:
    """Descending is ascending from behind, and pages follow each other without gap."""
    world = crawling(database, "a", "b", hosts=tuple(f"h{n}.jp" for n in range(6)))
    for name in ("a", "b"):
        for unit in world.agents[name].fetchable(world.true_ms):
            world.fetch(name, unit, kbytes=10 + int(unit[8]))
        world.report(name)
        world.call(name)
    keys = [line.key for line in list_hosts(database, sort=sort).hosts]
    paged = [
        line.key
        for offset in (0, 2, 4)
        for line in list_hosts(database, sort=sort, limit=2, offset=offset).hosts
    ]
    assert paged == keys
    assert len(set(keys)) == 6
    back = list_hosts(database, sort=f"-{sort}").hosts
    values = [getattr(line, _FIELD[sort]) for line in back]
    assert values == sorted(values, reverse=True)


_FIELD = {
    "domain": "key",
    "first_seen": "first_seen_ms",
    "volume": "volume_kb",
    "pages": "pages",
    "owner": "owner",
    "state": "state",
}


def test_unknown_sorts_and_states_are_refused(database: Database) -> None:
    """A word that is none is told what would be one."""
    with pytest.raises(FormatError, match="must be one of domain"):
        list_hosts(database, sort="; DROP TABLE hosts")
    with pytest.raises(FormatError, match="must be one of new, idle"):
        list_hosts(database, HostFilter(state="lost"))
    with pytest.raises(FormatError, match="must be a name"):
        list_hosts(database, HostFilter(domain="ex ample"))


def test_an_excluded_host_is_out_and_comes_back(database: Database) -> None:
    """Its unit has no owner and no place in the round; included, it is placed again."""
    world = crawling(database, "a", hosts=("h1.jp", "h2.jp"))
    exclude_host(database, "http://h1.jp/any/page", "asked to", ADMIN, world.now_ms)
    assert list_hosts(database, HostFilter(state="excluded")).hosts[0].excluded_reason == "asked to"
    assert round_detail(database, 1).units == {"cancelled": 1, "granted": 1}
    assert check(database) == []
    include_host(database, "h1.jp", ADMIN, world.now_ms)
    include_host(database, "h1.jp", ADMIN, world.now_ms)
    assert len(audit_page(database, action="host.include")) == 1
    world.run()
    assert round_detail(database, 1).units == {"finished": 2}
    assert check(database) == []


def test_an_excluded_host_stays_out_of_the_next_round(database: Database) -> None:
    """No probe, no owner, no list."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    exclude_host(database, "h1.jp", "asked to", ADMIN, world.now_ms)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert round_detail(database, 1).orders == {"done": 2}
    assert host_detail(database, "h1.jp").orders == []
    assert host_detail(database, "h1.jp").owners == []


def test_hosts_that_are_not_there(database: Database) -> None:
    """Acting on an unknown host says what to do; a text that is no host says so."""
    with pytest.raises(NotFoundError, match="import it first"):
        exclude_host(database, "nowhere.jp", "", ADMIN, 0)
    with pytest.raises(NotFoundError):
        host_detail(database, "nowhere.jp")
    with pytest.raises(UrlError):
        include_host(database, "http://[", ADMIN, 0)
