"""What the manager must learn is handed on, and the log never loses a line."""

from __future__ import annotations

from agent.modules.counts import StopCounts
from agent.modules.report import Report
from agent.pipeline.messages import (
    Candidate,
    Denied,
    Due,
    HostFound,
    Kept,
    Outside,
    Requested,
    Tick,
    UnitClosed,
    UnitFinished,
)
from tests.agent.fakes import FakeLedger, FakeReports

HOST = "http://a.example:80/"


def line(number: int) -> Requested:
    url = f"http://a.example/{number}"
    return Requested(HOST, url, 1, 1, "crawl", "answered", 200, 9, 9, 1.0, b"", 5)


def desk() -> tuple[FakeLedger, FakeReports, StopCounts, Report]:
    ledger, reports, denied = FakeLedger(), FakeReports(), StopCounts()
    return ledger, reports, denied, Report(ledger, reports, denied)


def test_everything_is_handed_on() -> None:
    """Finished and closed units, found hosts and pages, outside links reach the reports."""
    _, reports, _, report = desk()
    finished = UnitFinished(1, HOST, HOST, "crawl", 1, 3, 900)
    closed, kept = UnitClosed(1, HOST, HOST), Kept("http://a.example/", HOST, "192.0.2.1", 1)
    report.handle("finished", [finished])
    report.handle("closed", [closed])
    report.handle("kept", [kept])
    report.handle("outside", [Outside("http://b.example/", None)])
    report.handle("found", [HostFound(HOST, ("192.0.2.1",))])
    assert (reports.units, reports.quiet, reports.pages) == ([finished], [closed], [kept])
    assert reports.found == [Outside("http://b.example/", None)]
    assert reports.hosts == {HOST: ("192.0.2.1",)}


def test_lines_wait_for_room() -> None:
    """When the disk is full, lines are held and written in order when there is room."""
    ledger, reports, _, report = desk()
    report.handle("requests", [line(1)])
    ledger.full = True
    report.handle("requests", [line(2)])
    assert report.paused.startswith("disk full")
    report.handle("tick", [Tick(1.0, 1, False)])
    ledger.full = False
    report.handle("tick", [Tick(2.0, 2, False)])
    assert report.paused == ""
    assert ledger.log == [line(1), line(2)]
    assert reports.requests == [line(1), line(2)]


def test_what_robots_txt_forbids_is_counted() -> None:
    """A denied URL counts; one that was only put back does not."""
    _, _, denied, report = desk()
    candidate = Candidate("http://a.example/x", HOST, 1, 1, 0, None)
    due = Due(candidate, HOST, "192.0.2.1", 1, 1, "crawl")
    report.handle("denied", [Denied(due, HOST, "192.0.2.1", "Disallow: /")])
    report.handle("denied", [Denied(due, HOST, "192.0.2.1", "")])
    assert denied.count("robots.txt") == 1
    assert denied.by_reason["robots.txt"].examples == ["http://a.example/x"]
