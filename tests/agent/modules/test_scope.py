"""What the agent holds, packed: it answers as plain sets and dicts of the same units would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.modules.scope import UnitsHeld, scope_of, scope_of_jobs
from agent.pipeline.messages import Job
from shared.units import UnitIndex
from shared.urls import host_of
from tests.agent.fakes import FakeLedger

HOSTS = [f"http://{name}.example:80/" for name in "abc"]
UNITS = [host + path for host in HOSTS for path in ("", "x/", "x/y/", "z/")]
PAGES = [unit.replace(":80", "") + name for unit in UNITS for name in ("", "p.html", "q/r?s=/x/")]


@given(held=st.sets(st.sampled_from(UNITS)), done=st.sets(st.sampled_from(UNITS)))
def test_it_answers_as_plain_texts_do(held: set[str], done: set[str]) -> None:
    """Whole hosts, split ones, and both at once."""
    numbers = {unit: number for number, unit in enumerate(sorted(held), 5)}
    units = UnitsHeld((number, unit, unit in done) for unit, number in numbers.items())
    plain = UnitIndex(held)
    assert [units.holding(page) for page in PAGES] == [plain.holding(page) for page in PAGES]
    for host in HOSTS:
        assert set(units.of_host(host)) == {one for one in held if host_of(one) == host}
    assert {unit: units.number(unit) for unit in UNITS} == {
        unit: numbers.get(unit) for unit in UNITS
    }
    assert {unit for unit in UNITS if units.is_finished(unit)} == held & done
    assert (len(units), units.finished) == (len(held), len(held & done))
    assert units.numbers() == set(numbers.values())


@given(held=st.sets(st.sampled_from(UNITS)), done=st.lists(st.sampled_from(UNITS)))
def test_what_is_finished_grows(held: set[str], done: list[str]) -> None:
    """One after the other, some twice, some that are not held."""
    scope = scope_of_jobs(Job(number, unit, "crawl", 1) for number, unit in enumerate(held, 1))
    for unit in done:
        scope.units.finish(unit)
    assert set(scope.finished) == held & set(done)
    assert len(scope.finished) == len(held & set(done))
    assert scope.finished - {UNITS[0]} == held & set(done) - {UNITS[0]}
    assert all((unit in scope.finished) == (unit in done and unit in held) for unit in UNITS)


def test_orders_come_from_the_ledger() -> None:
    """They are read when they are asked for; a job that left the ledger is not there any more."""
    ledger = FakeLedger()
    jobs = [Job(ledger.new_job_number(), unit, "crawl", 1) for unit in UNITS]
    for job in jobs:
        ledger.open_job(job)
    ledger.finish_job(2)
    scope = scope_of(ledger)
    assert scope.job_of("http://a.example/x/y/p") == jobs[2]
    assert scope.jobs.numbered(7) == jobs[6]
    assert list(scope.jobs) == UNITS
    assert set(scope.finished) == {UNITS[1]}
    ledger.drop_job(4)
    assert scope.jobs.get(UNITS[3]) is None
    assert scope.jobs.numbered(99) is None
    assert scope.jobs.get("http://other.example:80/") is None
