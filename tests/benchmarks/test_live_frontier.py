"""Figures of bench-frontier's live part: first requests, first pages, politeness."""

from __future__ import annotations

from benchmarks.crawl.measure import Cost
from benchmarks.crawl.nginx import Logged
from benchmarks.crawl.politeness import judge
from benchmarks.frontier.live import Live, figures_of

LIVE = Live(hosts=3, interval_s=5.0, seconds=20.0, in_memory=1)
COST = Cost(124, 2.0, 20.0, 10**8, 4.0, busiest_cpu_s=1.0, busiest_waited_s=0.5)


def request(start_s: float, address: str, path: str = "/", took_s: float = 0.1) -> Logged:
    return Logged(start_s, start_s + took_s, address, 200, address, path, "text/html")


def test_a_gap_counts_from_the_end_of_a_request() -> None:
    found = judge([request(0, "a"), request(5.0, "a"), request(2.0, "b"), request(10.2, "a")], 5.0)
    assert found.violations == 1
    assert found.least_gap_s == 4.9


def test_requests_that_overlap_are_too_close() -> None:
    long = request(0, "a", took_s=9.0)
    assert judge([request(1.0, "a"), long, request(12.0, "a")], 3.0).violations == 1
    assert judge([request(1.0, "a")], 3.0).least_gap_s is None


def test_each_host_has_its_first_request_and_its_first_page_in_time() -> None:
    log = [request(100 + n, name, "/robots.txt") for n, name in enumerate(("a", "b"))]
    log += [request(106, "a"), request(112.5, "b"), request(109, "c", "/robots.txt")]
    found = figures_of(LIVE, log, COST)
    assert found["live_ideal_s"] == 5.0  # a rate of 3.3 a second is enough for three hosts
    assert found["live_turns_per_s"] == 2  # 2.5
    assert found["live_loop_turns_per_s"] == 5
    assert found["live_first_request_last_host_s"] == 9.0
    assert found["live_first_page_last_host_s"] == 12.5
    assert found["live_late_first_requests"] == 1
    assert found["live_late_first_pages"] == 1
    assert found["live_without_page"] == 1
    assert found["live_violations"] == 0
    assert found["live_waited_for_cpu"] == 0.03
