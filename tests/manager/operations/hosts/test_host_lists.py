"""Lists of hosts are the same however they are found: few put in order, or many walked over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from manager.db.engine import Database, Transaction
from manager.db.hosts import host_order, host_views
from manager.db.tables import agents, assignments, hosts, units
from manager.operations.hosts import host_views as host_operations
from manager.operations.hosts.host_views import (
    HostFilter,
    HostPage,
    count_hosts,
    every_host,
    list_hosts,
)

HOSTS = 60
FILTERS = (
    HostFilter(),
    HostFilter(owner="a1.example"),
    HostFilter(state="placed"),
    HostFilter(state="excluded"),
    HostFilter(domain="d1.example"),
    HostFilter(text="h1"),
    HostFilter(domain="d0.example", owner="a2.example", state="placed"),
)


# A directory of a host that is split: no host of its own, though it has an owner and a size.
PIECE = {
    "id": 1001,
    "host_id": 5,
    "path": "/a/",
    "key": "http://h5.d2.example:80/a/",
    "state": "placed",
    "volume_kb": 99.0,
    "pages": 99,
}


@pytest.fixture
def listed(database: Database) -> Database:
    """Return a database with hosts of three domains, two agents and nobody."""
    numbers = range(1, HOSTS + 1)
    with database.write() as tx:
        tx.insert(
            agents,
            [{"id": at, "name": f"a{at}.example", "kind": "sync", "joined_ms": 1} for at in (1, 2)],
        )
        tx.insert(
            hosts,
            [
                {
                    "id": n,
                    "key": f"http://h{n}.d{n % 3}.example:80/",
                    "reversed_key": f"example,d{n % 3},h{n})/",
                    "first_seen_ms": n * 10,
                    "resolution": "resolved",
                }
                for n in numbers
            ],
        )
        tx.insert(
            units,
            [
                {
                    "id": n,
                    "host_id": n,
                    "path": "/",
                    "key": f"http://h{n}.d{n % 3}.example:80/",
                    "state": "excluded" if n % 10 == 0 else "placed",
                    "volume_kb": None if n % 7 == 0 else float(n * 37 % 50),
                    "pages": None if n % 7 == 0 else n * 37 % 11,
                }
                for n in numbers
            ]
            + [PIECE],
        )
        tx.insert(
            assignments,
            [
                {"unit_id": n, "agent_id": n % 2 + 1, "epoch": 1, "since_ms": 5}
                for n in [*numbers, PIECE["id"]]
                if n % 10
            ],
        )
    return database


def _pages(db: Database, where: HostFilter, sort: str) -> list[HostPage]:
    return [list_hosts(db, where, sort=sort, limit=7, offset=at) for at in (0, 7, 14, 49, 56, 63)]


@pytest.mark.parametrize("sort", sorted(host_views.SORTS))
def test_many_are_walked_over_as_few_are_put_in_order(
    listed: Database, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages hold the same hosts in the same order, whether all that match were counted or not."""
    for where in FILTERS:
        for order in (sort, f"-{sort}"):
            few = _pages(listed, where, order)
            with monkeypatch.context() as patched:
                patched.setattr(host_views, "COUNTED_MOST", 2)
                patched.setattr(host_order, "SIZED_AT_ONCE", 1)
                many = _pages(listed, where, order)
            assert [page.hosts for page in few] == [page.hosts for page in many]
            assert {page.matching for page in many} == {min(2, few[0].matching)}


def test_every_host_that_matches_is_on_one_page(listed: Database) -> None:
    """Pages one after the other are the whole list."""
    for where, expected in (
        (HostFilter(), HOSTS),
        (HostFilter(state="excluded"), 6),
        (HostFilter(owner="a1.example"), 24),
        (HostFilter(domain="d1.example"), 20),
        (HostFilter(owner="nobody.example"), 0),
    ):
        first = list_hosts(listed, where, sort="-volume", limit=1000)
        assert (first.matching, len(first.hosts)) == (expected, expected)
        volumes = [line.volume_kb or 0.0 for line in first.hosts]
        assert volumes == sorted(volumes, reverse=True)
        assert len({line.id for line in first.hosts}) == expected


@pytest.mark.parametrize("most", [2, 10_000])
@pytest.mark.parametrize("sort", sorted(host_views.SORTS))
def test_names_that_only_begin_like_a_domain_are_not_below_it(
    listed: Database, sort: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The domain itself comes first, then the names below it, then itself with other ports."""
    names = ("d1)/", "d1,a:81)/", "d1:8080)/", "d1-x)/", "d10)/", "d1.x)/", "d1;x)/")
    rows = [(200 + at, f"example,{name}") for at, name in enumerate(names)]
    with listed.write() as tx:
        tx.insert(
            hosts,
            [
                {
                    "id": n,
                    "key": f"http://other{n}/",
                    "reversed_key": key,
                    "first_seen_ms": 1,
                    "resolution": "resolved",
                }
                for n, key in rows
            ],
        )
        tx.insert(
            units,
            [
                {"id": n, "host_id": n, "path": "/", "key": f"http://other{n}/", "state": "new"}
                for n, _ in rows
            ],
        )  # fmt: skip
    where = HostFilter(domain="d1.example")
    monkeypatch.setattr(host_views, "COUNTED_MOST", most)
    for order in (sort, f"-{sort}"):
        shown = list_hosts(listed, where, sort=order, limit=1000).hosts
        assert sorted(line.id for line in shown) == [*range(1, HOSTS + 1, 3), 200, 201, 202]
        assert [line.id for line in every_host(listed, where, sort=order)] == [
            line.id for line in shown
        ]
    in_order = [line.id for line in list_hosts(listed, where, sort="domain", limit=1000).hosts]
    assert (in_order[0], in_order[1], in_order[-1]) == (200, 201, 202)


def test_the_end_of_a_list_is_found_from_its_end(
    listed: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by passing by all that comes before."""
    monkeypatch.setattr(host_views, "COUNTED_MOST", 2)
    asked: list[object] = []
    for sort in sorted(host_views.SORTS):
        whole = list_hosts(listed, sort=sort, limit=1000).hosts
        with _parameters(listed, asked):
            assert list_hosts(listed, sort=sort, limit=8, offset=55).hosts == whole[55:]
            assert list_hosts(listed, sort=sort, limit=8, offset=51).hosts == whole[51:59]
            assert list_hosts(listed, sort=sort, limit=8, offset=60).hosts == []
    assert not {51, 55, 60} & set(asked)


@pytest.mark.parametrize(("offset", "agents_counted"), [(0, 0), (7, 1), (29, 1), (31, 2)])
def test_hosts_are_counted_of_as_many_agents_as_come_before(
    listed: Database, offset: int, agents_counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By owner, the hosts of nobody come first, then the 24 of the first agent."""
    monkeypatch.setattr(host_order, "SIZED_AT_ONCE", 1)
    counted: list[int] = []
    owned = host_order._owned

    def noted(tx: Transaction, numbers: list[int]) -> dict[int, int]:
        counted.extend(numbers)
        return owned(tx, numbers)

    monkeypatch.setattr(host_order, "_owned", noted)
    assert len(list_hosts(listed, sort="owner", limit=1, offset=offset).hosts) == 1
    assert len(counted) == agents_counted


@contextmanager
def _parameters(db: Database, asked: list[object]) -> Iterator[None]:
    """Note the parameters of queries that pass rows by."""

    def note(_c: object, _cursor: object, statement: str, given: Any, *_: object) -> None:
        if "OFFSET" in statement:
            asked.extend(given.values() if isinstance(given, dict) else given)

    sa.event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        sa.event.remove(db.engine, "before_cursor_execute", note)


@pytest.mark.parametrize("most", [2, 10_000])
def test_all_hosts_at_once_are_the_pages_one_after_the_other(
    listed: Database, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent as CSV has the order of the list, and each host once."""
    monkeypatch.setattr(host_views, "COUNTED_MOST", most)
    monkeypatch.setattr(host_operations, "LINES_AT_ONCE", 7)
    for where in FILTERS:
        for sort in sorted(host_views.SORTS):
            pages = list_hosts(listed, where, sort=f"-{sort}", limit=1000)
            assert list(every_host(listed, where, sort=f"-{sort}")) == pages.hosts


def test_hosts_are_counted_by_state(listed: Database) -> None:
    """All of them, however many; states that none is in too."""
    counted = {"new": 0, "idle": 0, "probing": 0, "placed": 54, "excluded": 6}
    assert count_hosts(listed) == counted
