"""The ratios of the comparison with other crawlers, whatever the machine does meanwhile."""

from __future__ import annotations

import pytest

from benchmarks.crawl.measure import Cost
from benchmarks.crawl.nginx import Fetched
from benchmarks.crawl.runs import Run, order, over, pages_per_cpu_s


def run(name: str, pages: int, cpu_s: float) -> Run:
    return Run(name, Cost(0, cpu_s, cpu_s, 0, 4.0), Fetched(pages, pages, pages, cpu_s))


def test_ours_runs_before_and_after_each_peer() -> None:
    ours = ["ours", "ours"]
    assert order(["ours", "scrapy", "crawlee"]) == [*ours, "scrapy", *ours, "crawlee", *ours]


def test_who_is_not_asked_for_does_not_run() -> None:
    assert order(["ours"]) == ["ours", "ours"]
    assert order(["scrapy", "crawlee"]) == ["scrapy", "crawlee"]


def test_a_peer_is_held_against_the_runs_beside_it() -> None:
    # The machine becomes half as fast while Scrapy runs, and stays so: Scrapy has 3/4 of its rate.
    runs = [
        run("ours", 1000, 1.0),
        run("ours", 1000, 1.0),
        run("scrapy", 1000, 10 / 0.75),
        run("ours", 1000, 2.0),
        run("ours", 1000, 2.0),
        run("crawlee", 1000, 10.0),
        run("ours", 1000, 2.0),
        run("ours", 1000, 4.0),
    ]
    assert over(runs, "scrapy") == pytest.approx((4000 / 6.0) / 75)
    assert over(runs, "crawlee") == pytest.approx((4000 / 10.0) / 100)


def test_runs_together_count_by_their_pages_and_their_cpu_time() -> None:
    assert pages_per_cpu_s([run("ours", 100, 1.0), run("ours", 300, 1.0)]) == 200
