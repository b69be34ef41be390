"""The paper's guarantee, against any order of events: see `tests.agent.judge`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.agent.fakes import Page
from tests.agent.modules.frontier.lives import UNITS, AnyOrder, live


@pytest.mark.parametrize(
    "examples", [60, pytest.param(3000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_any_order_of_events_keeps_the_guarantee(examples: int) -> None:
    """Whatever happens, an address is never asked too soon, nothing is lost, all gets done."""
    run_state_machine_as_test(
        AnyOrder,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_unit_that_joins_a_host_between_two_kills_is_crawled() -> None:
    """Its host begins again with the other's address, while its own look-up is under way."""
    directory, host = "http://e.example:80/x/", "http://e.example:80/"
    life = AnyOrder()
    life.begin(two=False, seed=0, burst=1, times_last=0.0)
    life.new_list({directory}, set(), False)
    life.some_is_done(1, "answered")
    life.commit()
    life.crash(0.0)
    life.new_list({directory, host}, {host}, False)
    life.commit()
    life.crash(0.0)
    life.teardown()


@pytest.mark.parametrize("seed", range(4))
def test_an_outage_amid_a_crawl_keeps_the_guarantee(seed: int) -> None:
    """Nothing is lost, nobody is asked too soon, and all gets done when the network is back."""
    life = AnyOrder()
    life.begin(two=False, seed=seed, burst=1, times_last=10.0)
    life.new_list(set(UNITS), set(), False)
    for _ in range(3):
        life.all_goes_well(12 + seed, 20.0, 0.0)
        life.our_network_fails(30)
    life.teardown()


@pytest.mark.parametrize("seed", range(16))
def test_long_lives_keep_the_guarantee(seed: int) -> None:
    """The same with long lives of a busy agent: most short ones never come to a second page."""
    live(seed, in_memory=(5000, 0, 1)[seed % 3]).teardown()


def test_a_page_found_before_its_directory_was_a_unit_is_fetched() -> None:
    """The host's job found it, so that job fetches it, though the new unit is done before."""
    host, directory = "http://e.example:80/", "http://e.example:80/x/"
    first, late = "http://e.example/p0", "http://e.example/x/late"
    life = AnyOrder()
    life.begin(two=False, seed=0, burst=1, times_last=0.0)
    pages = [f"http://e.example/p{number}" for number in range(6)]
    life.web["http://e.example/robots.txt"] = Page(status=404)
    life.web |= {"http://e.example/": Page((*pages, late)), late: Page()}
    life.web |= {page: Page() for page in (*pages, "http://e.example/x/")}
    life.new_list({host}, set(), False)
    while first not in life.ledger.captures:
        life.all_goes_well(1, 20.0, 0.0)
    assert late not in life.ledger.captures
    life.new_list({host, directory}, set(), False)
    while directory not in life.crawl.scope.finished:
        life.all_goes_well(1, 20.0, 0.0)
    assert late not in life.ledger.captures
    life.teardown()
    assert late in [url for _, _, url in life.judge.started]


def test_a_probe_that_a_crawl_may_continue_stays_in_its_round() -> None:
    """Its unit leaves the list and may come back to be crawled; in the next round it is gone."""
    host = "http://a.example:80/"
    life = AnyOrder()
    life.begin(two=False, seed=0, burst=1, times_last=0.0)
    life.new_list({host}, {host}, False)
    life.all_goes_well(22, 10.0, 0.0)
    life.new_list(set(), set(), False)
    assert [job.unit for job in life.crawl.scope.jobs.values()] == [host]
    life.new_list(set(), set(), True)
    assert not life.crawl.scope.jobs
    life.teardown()
