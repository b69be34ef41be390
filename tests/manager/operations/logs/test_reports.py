"""Crawl logs, once they are sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from manager.db.engine import Database
from manager.distance.line_sums import DirectorySum
from manager.errors import ConflictError
from manager.operations.hosts.host_views import host_detail
from manager.operations.logs.log_entry import accept_log, known_report
from manager.operations.logs.log_summary import LogSummary
from manager.operations.logs.reports import held_during, list_reports
from tests.manager.log_sums import unit_sum
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.world import World

H1 = "http://h1.jp:80/"
UNIT = replace(unit_sum(H1, 1, "crawl", 10, 100_000, 5000), pages=9, errors=1)
LOG = LogSummary(
    name="a.202601010000",
    sha256="aa" * 32,
    size_bytes=500,
    lines=12,
    quarantined=2,
    since_ms=10,
    until_ms=20,
    path="logs/1/aa",
    units=(UNIT,),
)


def test_a_repeat_is_answered_as_done(database: Database) -> None:
    """The same body again changes nothing, under any name."""
    world = crawling(database, "a")
    agent = world.agents["a"].identity
    assert known_report(database, agent, LOG.sha256, LOG.name) is None
    assert not accept_log(database, agent, LOG, world.now_ms).repeated
    for log in (LOG, replace(LOG, name="a.202601010001")):
        again = accept_log(database, agent, log, world.now_ms)
        assert (again.repeated, again.lines, again.quarantined) == (True, 12, 2)
    known = known_report(database, agent, LOG.sha256, LOG.name)
    assert known is not None
    assert known.repeated
    assert len(list_reports(database)) == 1
    assert host_detail(database, "h1.jp").sums[0].requests == 10


def test_another_body_under_a_name_is_refused(database: Database) -> None:
    """A name is one report; what came second is not taken, nor does it change anything."""
    world = crawling(database, "a", "b")
    agent = world.agents["a"].identity
    accept_log(database, agent, LOG, world.now_ms)
    other = replace(LOG, sha256="bb" * 32)
    with pytest.raises(ConflictError, match="another body arrived under this name"):
        accept_log(database, agent, other, world.now_ms)
    with pytest.raises(ConflictError):
        known_report(database, agent, other.sha256, other.name)
    accept_log(database, world.agents["b"].identity, other, world.now_ms)


def test_logs_of_a_round_add_up(database: Database) -> None:
    """Several logs of one unit and round are one measurement."""
    world = crawling(database, "a")
    agent = world.agents["a"].identity
    accept_log(database, agent, LOG, world.now_ms)
    more = replace(UNIT, requests=5, response_bytes=50_000, ms=1000)
    accept_log(
        database,
        agent,
        replace(LOG, name="a.202601020000", sha256="cc" * 32, units=(more,)),
        world.now_ms,
    )
    detail = host_detail(database, "h1.jp")
    assert (detail.sums[0].requests, detail.sums[0].response_bytes) == (15, 150_000)
    assert detail.distances[0].ms_per_kb == pytest.approx(6000 / 150)
    assert detail.distances[0].lines == 15


def test_the_newest_measurement_is_the_distance(database: Database) -> None:
    """In whatever order logs arrive: the newest round counts, of one round the crawl."""
    sums = [
        unit_sum(H1, 1, "probe", 50, 10_000, 100),
        unit_sum(H1, 1, "crawl", 50, 10_000, 200),
        unit_sum(H1, 2, "probe", 50, 10_000, 300),
    ]
    world = crawling(database, "a", "b", "c", "d", "e", "f")
    for name, order in zip("abcdef", permutations(sums), strict=True):
        agent = world.agents[name].identity
        for number, one in enumerate(order):
            log = replace(LOG, name=f"{name}.{number}", sha256=f"{number}" * 64, units=(one,))
            accept_log(database, agent, log, world.now_ms)
    assert {row.ms_per_kb for row in host_detail(database, "h1.jp").distances} == {30.0}


def test_nothing_came_back_is_unreachable(database: Database) -> None:
    """Lines without a byte of answer are a measurement too."""
    world = crawling(database, "a")
    silent = replace(UNIT, response_bytes=0, pages=0)
    log = replace(LOG, units=(silent,))
    accept_log(database, world.agents["a"].identity, log, world.now_ms)
    assert host_detail(database, "h1.jp").distances[0].ms_per_kb is None


@pytest.mark.parametrize("log_first", [True, False])
def test_the_finisher_s_log_makes_the_volume(database: Database, log_first: bool) -> None:
    """Whether the log or the news of the finished unit comes first decides nothing."""
    world = crawling(database, "a")
    world.fetch("a", H1, kbytes=70)
    if log_first:
        world.report("a")
        world.sync("a")
    else:
        world.sync("a")
        world.report("a")
    unit = host_detail(database, "h1.jp").units[0]
    assert (unit.volume_kb, unit.pages, unit.volume_round) == (70, 70, 1)


def test_lines_of_others_make_no_volume(database: Database) -> None:
    """Who did not finish the unit may have a distance to it, but its bytes are not the volume."""
    world = crawling(database, "a", "b")
    owner = next(name for name in "ab" if world.agents[name].fetchable(world.true_ms))
    other = "b" if owner == "a" else "a"
    accept_log(database, world.agents[other].identity, LOG, world.now_ms)
    assert host_detail(database, "h1.jp").units[0].volume_kb is None
    world.fetch(owner, H1, kbytes=70)
    world.report(owner)
    world.sync(owner)
    assert host_detail(database, "h1.jp").units[0].volume_kb == 70


def test_directories_are_kept_by_host(database: Database) -> None:
    """What a big host could be split by is there for people; unknown hosts are left out."""
    world = crawling(database, "a")
    known = DirectorySum(
        H1,
        path="/~koji/",
        round=1,
        kind="crawl",
        requests=5,
        pages=5,
        errors=0,
        request_bytes=1,
        response_bytes=4000,
        ms=30,
    )
    unknown = replace(known, host="http://nowhere.jp:80/")
    log = replace(LOG, directories=(known, unknown))
    accept_log(database, world.agents["a"].identity, log, world.now_ms)
    rows = host_detail(database, "h1.jp").directories
    assert [(row.path, row.response_bytes) for row in rows] == [("/~koji/", 4000)]


def test_what_was_held_is_known_afterwards(database: Database) -> None:
    """A log is judged by what its agent held then, also when it is another's by now."""
    world = crawling(database, "a")
    granted = world.now_ms
    world.wait(100)
    world.tick()  # what happens is dated from the last one
    world.fetch("a", H1)
    world.sync("a")
    ended = world.now_ms
    agent = world.agents["a"].identity
    held = held_during(database, agent, granted, ended)
    assert [(one.unit, one.kind, one.round) for one in held.held] == [(H1, "crawl", 1)]
    assert (held.round, held.kind, held.since_ms) == (1, "crawl", granted)
    assert held.held[0].until_ms == ended
    assert held_during(database, agent, ended + 1, ended + 2).held == ()
    accept_log(database, agent, replace(LOG, until_ms=ended), world.now_ms)
    assert held_during(database, agent, granted, ended).since_ms == ended


def test_reports_are_listed_by_agent(database: Database) -> None:
    """Newest first, of one agent or of all, page by page."""
    world = World(database)
    world.join("a", "b")
    for number in range(3):
        for name in ("a", "b"):
            log = replace(LOG, name=f"{name}.{number}", sha256=f"{number}" * 64, units=())
            accept_log(database, world.agents[name].identity, log, world.now_ms)
    newest = list_reports(database, limit=2)
    assert [row.name for row in newest] == ["b.2", "a.2"]
    older = list_reports(database, limit=10, before_id=newest[-1].id, agent="a")
    assert [row.name for row in older] == ["a.1", "a.0"]
    assert list_reports(database, agent="nobody") == []


def test_a_distance_comes_with_its_evidence(database: Database) -> None:
    """Its time, how much its lines differ, its failures, and the request that decides it."""
    world = crawling(database, "a")
    agent = world.agents["a"].identity
    first = replace(
        UNIT, failed=2, slowest_ms=4000, slowest_bytes=1000, spread="8:4 16:2", requests=8
    )
    more = replace(
        UNIT, failed=1, slowest_ms=30, slowest_bytes=9, spread="16:1 40:1", requests=3, ms=100
    )
    log = replace(LOG, units=(first,), since_ms=world.now_ms - 9000, until_ms=world.now_ms - 5000)
    accept_log(database, agent, log, world.now_ms)
    later = replace(log, name="a.2", sha256="cc" * 32, units=(more,), since_ms=log.until_ms)
    accept_log(database, agent, replace(later, until_ms=world.now_ms), world.now_ms)
    (distance,) = host_detail(database, "h1.jp").distances
    assert (distance.since_ms, distance.measured_ms) == (log.since_ms, world.now_ms)
    assert (distance.lines, distance.failed) == (11, 3)
    assert distance.median == pytest.approx(2 ** (8.5 / 8))
    assert distance.third_quartile == pytest.approx(2 ** (16.5 / 8))
    assert distance.ms_per_kb == pytest.approx(5100 / 200)
    assert distance.outlier
    assert "one request took 4,000 ms" in str(distance.reason)
    assert "3 of them without an answer" in str(distance.reason)


def test_since_when_it_is_unreachable_is_remembered(database: Database) -> None:
    """From the first measurement in a row that brought nothing, until one brings something."""
    world = crawling(database, "a")
    agent = world.agents["a"].identity
    began_ms = world.now_ms
    for number, size in enumerate((0, 0, 1000, 0)):
        one = replace(UNIT, round=number + 1, response_bytes=size)
        log = replace(
            LOG, name=f"a.{number}", sha256=f"{number}" * 64, units=(one,), until_ms=world.now_ms
        )
        accept_log(database, agent, log, world.now_ms)
        (distance,) = host_detail(database, "h1.jp").distances
        assert distance.unreachable_since_ms == (None if size else began_ms)
        assert distance.state == ("measured" if size else "unreachable")
        world.wait(3600)
        if size:
            began_ms = world.now_ms
