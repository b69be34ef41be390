"""How long an address rests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.frontier.crawl_delay import Pace
from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.limits import Politeness
from agent.pipeline.messages.requests import FetchAnswer, Outcome
from tests.agent.modules import answers

HOST, ADDRESS = "http://a.example:80/", "192.0.2.1"


def ended(
    outcome: Outcome = "answered",
    status: int = 200,
    size: int = 1000,
    elapsed_ms: float = 100.0,
    retry_after_s: float | None = None,
    kept_alive: bool = False,
) -> FetchAnswer:
    return answers.ended(
        None,
        outcome,
        status,
        response_bytes=size,
        elapsed_ms=elapsed_ms,
        retry_after_s=retry_after_s,
        kept_alive=kept_alive,
    )


def host_at(address: AddressQueue, name: str = HOST) -> HostQueue:
    return HostQueue(name, address)


def rest(pace: Pace, *ends: FetchAnswer) -> float:
    address = AddressQueue(ADDRESS)
    host = host_at(address)
    for end in ends:
        pace.measure(host, end)
        rest_s = max(pace.backoff_s(address, host, end), pace.asked_s(end))
    return rest_s


def base_s(pace: Pace, bytes_per_ms: float) -> float:
    """Return the base interval of a host that answers at a speed."""
    host = host_at(AddressQueue(ADDRESS))
    host.total_bytes, host.total_ms = round(bytes_per_ms * 100), 100.0
    return pace.base_s(host)


def test_twenty_seconds_and_ten_for_fast_hosts() -> None:
    """A host that gives 14 bytes a millisecond or more has room to spare (seed 004, 5.1.4)."""
    pace = Pace(Politeness())
    assert rest(pace, ended(size=1399)) == 20.0
    assert rest(pace, ended(size=1400)) == 10.0


def test_fast_never_means_slower() -> None:
    """A site that asks for a short interval gets no longer one for fast hosts."""
    assert rest(Pace(Politeness(interval_s=2.0)), ended(size=9999)) == 2.0
    assert rest(Pace(Politeness(interval_s=0.0, times_last=0)), ended(size=9999)) == 0.0


def test_the_fastest_fifth_counts_once_enough_are_measured() -> None:
    """After 50 hosts, the 80th percentile of our own measurements decides."""
    pace = Pace(Politeness())
    address = AddressQueue(ADDRESS)
    for number in range(1, 101):
        host = host_at(address, f"http://h{number}.example:80/")
        pace.measure(host, ended(size=number * 100_000))  # 1000 to 100,000 bytes/ms
        if number < 50:
            assert base_s(pace, 13.9) == 20.0
            assert base_s(pace, 14.0) == 10.0
    assert base_s(pace, 39_999) == 20.0
    assert base_s(pace, 81_000) == 10.0
    slow, fast = host_at(address), host_at(address)
    pace.measure(slow, ended(size=3_900_000))
    pace.measure(fast, ended(size=9_900_000))
    assert pace.base_s(slow) == 20.0
    assert pace.base_s(fast) == 10.0


def test_ten_times_the_last_fetch() -> None:
    """A slow answer is a loaded server; a setting turns this off."""
    assert rest(Pace(Politeness()), ended(elapsed_ms=5000.0)) == 50.0
    assert rest(Pace(Politeness(times_last=0)), ended(elapsed_ms=5000.0)) == 20.0


@pytest.mark.parametrize(
    "strike",
    [ended("timeout", 0), ended("refused", 0), ended(status=429), ended(status=503)],
)
def test_errors_double_and_successes_halve(strike: FetchAnswer) -> None:
    """Each error doubles the rest, each success after it halves it again."""
    pace = Pace(Politeness())
    good = ended()
    assert rest(pace, strike) == 40.0
    assert rest(pace, strike, strike, strike) == 160.0
    assert rest(pace, strike, strike, strike, good) == 80.0
    assert rest(pace, strike, good, good) == 20.0


def test_other_errors_of_a_page_are_no_strike() -> None:
    """What the page will say later, too (404, 501), says nothing about the load of its server."""
    assert rest(Pace(Politeness()), ended(status=501), ended(status=404)) == 20.0


@pytest.mark.parametrize("status", [502, 504, 522])
def test_errors_of_a_host_double_from_the_second_in_a_row_on(status: int) -> None:
    """The first one may be of its page; it is forgotten with the next answer."""
    pace, broken, good = Pace(Politeness()), ended(status=status), ended()
    assert rest(pace, broken) == 20.0
    assert rest(pace, broken, good, broken, good, broken) == 20.0
    assert rest(pace, broken, broken) == 40.0
    assert rest(pace, *[broken] * 4) == 160.0
    assert rest(pace, *[broken] * 40) == 3600.0
    assert rest(pace, broken, good) == 20.0


def test_a_broken_part_of_a_site_does_not_hold_up_the_others() -> None:
    """500 alone makes a rest four times as long at most; it takes nothing back of other errors."""
    pace, broken, silent = Pace(Politeness()), ended(status=500), ended("timeout", 0)
    assert rest(pace, broken) == 20.0
    assert rest(pace, *[broken] * 40) == 80.0
    assert rest(pace, *[silent] * 6, broken) == 640.0


def test_rests_are_capped() -> None:
    """However often a server fails, it is asked again within an hour, and 0 doubles too."""
    many = [ended("timeout", 0)] * 40
    assert rest(Pace(Politeness()), *many) == 3600.0
    eager = Politeness(interval_s=0.0, times_last=0)
    assert rest(Pace(eager), ended("timeout", 0)) == 2.0
    assert rest(Pace(replace(eager, interval_s=7200.0)), *many) == 7200.0


def test_retry_after_is_kept_up_to_a_day() -> None:
    """What a server asks for is granted, on any status, but not beyond a day."""
    pace = Pace(Politeness())
    assert rest(pace, ended(retry_after_s=500.0)) == 500.0
    assert rest(pace, ended(status=503, retry_after_s=5.0)) == 40.0
    assert rest(pace, ended(status=503, retry_after_s=1e9)) == 86400.0


def test_a_connection_that_is_open_may_be_used_again() -> None:
    """A burst of n allows n requests in a row, 0 any number; trouble and delays end it."""
    address = AddressQueue(ADDRESS, in_a_row=1)
    open_still = ended(kept_alive=True)
    assert not Pace(Politeness()).may_go_on(address, 0.0, open_still)
    assert Pace(Politeness(burst=2)).may_go_on(address, 0.0, open_still)
    assert Pace(Politeness(burst=0)).may_go_on(address, 0.0, open_still)
    assert not Pace(Politeness(burst=2)).may_go_on(address, 0.0, ended())
    address.in_a_row = 2
    assert not Pace(Politeness(burst=2)).may_go_on(address, 0.0, open_still)
    endless = Pace(Politeness(burst=0))
    waits = ended(kept_alive=True, retry_after_s=1.0)
    assert not endless.may_go_on(address, 0.0, waits)
    assert not endless.may_go_on(address, 1.0, open_still)
    address.strikes = 1
    assert not endless.may_go_on(address, 0.0, open_still)
