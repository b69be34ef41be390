"""The store of start pages: bounded, counted, the most referred first."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manager.db.engine import Database
from manager.db.hosts import hosts, start_pages
from manager.db.hosts.hosts import NewHost
from manager.db.hosts.start_pages import NewStartPage

LIMIT = 4
REPORTS = st.lists(
    st.tuples(st.integers(1, 3), st.sets(st.integers(0, 7), max_size=8).map(sorted)), max_size=12
)


def _unit(database: Database, name: str) -> int:
    key = f"http://{name}:80/"
    with database.write() as tx:
        hosts.add_hosts(tx, [NewHost(key, name, None, None)], 1)
        return hosts.ids_of_units(tx, [key])[key]


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(reports=REPORTS, number=st.integers(0, 10**9))
def test_any_reports_leave_a_bounded_and_counted_store(
    database: Database, reports: list[tuple[int, list[int]]], number: int
) -> None:
    """What is new is returned once; what is over the limit is counted; the rest is in order."""
    unit = _unit(database, f"h{number}.jp")
    with database.read() as tx:
        before = hosts.units_by_id(tx, [unit])[0].dropped_pages
        kept = [page.url for page in start_pages.start_pages_of(tx, [unit])]
    if kept or before:
        return  # the same name was drawn before
    model: dict[str, int] = {}
    last: dict[str, int] = {}
    dropped: dict[int, int] = defaultdict(int)
    for agent, pages in reports:
        new = []
        named_pages = [f"http://h{number}.jp:80/{one}/" for one in pages]
        for page in model.keys() & set(named_pages):
            model[page] += last[page] != agent
            last[page] = agent
        for page in named_pages:
            if page in model:
                continue
            of_sender = sum(one == agent for one in last.values())
            if len(model) < LIMIT and of_sender < LIMIT // 2:
                model[page] = 1
                new.append(page)
                last[page] = agent
            else:
                dropped[unit] += 1
        named = [
            NewStartPage(unit, f"http://h{number}.jp:80/{one}/", None, None, agent) for one in pages
        ]
        with database.write() as tx:
            added = start_pages.add_start_pages(tx, named, LIMIT, 5)
        assert [page.url for page in added] == new
    with database.read() as tx:
        row = hosts.units_by_id(tx, [unit])[0]
        found = start_pages.start_pages_of(tx, [unit])
    assert (row.start_pages, row.dropped_pages) == (len(model), dropped[unit])
    assert {page.url: page.referrers for page in found} == model
    assert [page.referrers for page in found] == sorted(model.values(), reverse=True)
