"""Figures of the crawl with agents that come and go."""

from __future__ import annotations

from benchmarks.churn.absences import Absence
from benchmarks.churn.result import Crawl, broken_promises, result_of
from benchmarks.faults.evidence.observations import Request


def asked(*pages: tuple[str, str, float]) -> list[Request]:
    """Return requests of pages of one host. pages: agent, path, second."""
    return [Request(agent, "www.example.jp", path, at_s) for agent, path, at_s in pages]


UNDISTURBED = Crawl(10.0, 2, 0, 0, asked(("a", "/1", 1), ("a", "/2", 2)))


def test_refetches_are_counted_by_who_had_the_page_before() -> None:
    """A page of another agent is asked for again by the new owner, one of its own by itself."""
    requests = asked(("a", "/1", 1), ("b", "/1", 9), ("b", "/2", 10), ("b", "/2", 11))
    found = result_of(UNDISTURBED, Crawl(15.0, 2, 0, 0, requests), in_flight=1)
    assert (found["refetched_by_others"], found["refetched_by_itself"]) == (1, 1)
    assert found["refetched_share"] == 1.0
    assert found["time_ratio"] == 1.5


def test_what_is_fetched_again_after_a_short_absence_is_held_against_the_requests_under_way() -> (
    None
):
    """Only pages that the agent itself asked for before it left count."""
    requests = asked(("a", "/1", 1), ("a", "/2", 2), ("a", "/1", 6), ("a", "/2", 7), ("a", "/3", 8))
    away = [Absence("a", "killed", is_short=True, left_s=3, back_s=5)]
    found = result_of(UNDISTURBED, Crawl(15.0, 3, 0, 0, requests, away), in_flight=1)
    assert found["twice_after_short"] == 2
    assert any("2 pages were fetched again" in one for one in broken_promises(found, []))
    long = [Absence("a", "killed", is_short=False, left_s=3, back_s=5)]
    found = result_of(UNDISTURBED, Crawl(15.0, 3, 0, 0, requests, long), in_flight=1)
    assert not broken_promises(found, [])


def test_lost_pages_and_impolite_requests_are_broken_promises() -> None:
    """So is a crawl in which nobody was away: it shows nothing."""
    found = result_of(UNDISTURBED, Crawl(15.0, 2, 1, 0, asked()), in_flight=1)
    broken = broken_promises(found, ["too early"])
    assert len(broken) == 3
    assert "1 pages have no accepted log line" in broken
