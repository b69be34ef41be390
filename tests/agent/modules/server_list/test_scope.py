"""What the agent holds, packed: it answers as plain sets and dicts of the same units would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.modules.server_list.scope as scope_module
from agent.modules.server_list.scope import UnitsHeld, scope_of, scope_of_jobs
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
    assert [units.unit_of(page) for page in PAGES] == [plain.unit_of(page) for page in PAGES]
    for host in HOSTS:
        assert set(units.of_host(host)) == {one for one in held if host_of(one) == host}
    assert {unit: units.number(unit) for unit in UNITS} == {
        unit: numbers.get(unit) for unit in UNITS
    }
    assert {unit for unit in UNITS if units.is_finished(unit)} == held & done
    assert (len(units), units.finished) == (len(held), len(held & done))


@given(
    held=st.sets(st.sampled_from(UNITS)),
    then=st.lists(st.tuples(st.sampled_from(UNITS), st.sampled_from(["begin", "end", "finish"]))),
    packed=st.integers(1, 4),
)
def test_units_come_and_go(held: set[str], then: list[tuple[str, str]], packed: int) -> None:
    """In any order, packed or not: what is left answers as if it had been there alone."""
    number = 100
    jobs = {unit: place for place, unit in enumerate(sorted(held), 5)}
    done: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scope_module, "PACKED", packed)
        units = UnitsHeld((place, unit, False) for unit, place in jobs.items())
        for unit, what in then:
            if what == "begin" and unit not in jobs:
                number += 1
                jobs[unit] = number
                units.begin(number, unit)
            elif what == "end":
                jobs.pop(unit, None)
                done.discard(unit)
                units.end(unit)
            elif what == "finish":
                done |= {unit} & jobs.keys()
                units.finish(unit)
    plain = UnitIndex(jobs)
    assert [units.unit_of(page) for page in PAGES] == [plain.unit_of(page) for page in PAGES]
    for host in HOSTS:
        assert set(units.of_host(host)) == {one for one in jobs if host_of(one) == host}
    assert {unit: units.number(unit) for unit in UNITS} == {unit: jobs.get(unit) for unit in UNITS}
    assert {unit for unit in UNITS if units.is_finished(unit)} == done
    assert (len(units), units.finished) == (len(jobs), len(done))


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
