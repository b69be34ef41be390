"""What the manager must learn is handed on, and the log never loses a line."""

from __future__ import annotations

import pytest

from agent.modules.counts import StopCounts
from agent.modules.report import Report
from agent.pipeline.messages.hosts import HostFound
from agent.pipeline.messages.jobs import UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Outside
from agent.pipeline.messages.requests import Denied, FetchAnswer, Tick
from shared.host_failures import LOOK_UP_FAILURES, HostFailure
from tests.agent.fakes import FakeLedger, FakeReports
from tests.agent.modules.answers import due_of, ended, kept

HOST = "http://a.example:80/"


def line(number: int) -> FetchAnswer:
    return ended(due_of(f"http://a.example/{number}"))


def desk() -> tuple[FakeLedger, FakeReports, StopCounts, Report]:
    ledger, reports, denied = FakeLedger(), FakeReports(), StopCounts()
    return ledger, reports, denied, Report(ledger, reports, denied)


def test_everything_is_handed_on() -> None:
    """Finished and closed units, found hosts and pages, outside links reach the reports."""
    _, reports, _, report = desk()
    finished = UnitFinished(1, HOST, HOST, "crawl", 1, 3, 900)
    closed, page = UnitClosed(1, HOST, HOST), kept()
    report.handle_finished([finished])
    report.handle_closed([closed])
    report.handle_kept([page])
    report.handle_outside([Outside("http://b.example/", None)])
    report.handle_found([HostFound(HOST, ("192.0.2.1",))])
    assert (reports.units, reports.quiet, reports.pages) == ([finished], [closed], [page])
    assert reports.found == [Outside("http://b.example/", None)]
    assert reports.hosts == {HOST: ("192.0.2.1",)}


def test_names_that_a_proxy_looks_up_are_no_addresses() -> None:
    """The manager is told where hosts lead, or that they lead nowhere; not what is not known."""
    _, reports, _, report = desk()
    report.handle_found([HostFound(HOST, ("//a.example",)), HostFound("http://b:80/", ())])
    assert reports.hosts == {"http://b:80/": ()}


def test_lines_wait_for_room() -> None:
    """When the disk is full, lines are held and written in order when there is room."""
    ledger, reports, _, report = desk()
    report.handle_ended([line(1)])
    ledger.full = True
    report.handle_ended([line(2)])
    assert str(report.paused).startswith("disk full")
    report.handle_tick([Tick(1.0, 1, False)])
    ledger.full = False
    report.handle_tick([Tick(2.0, 2, False)])
    assert report.paused is None
    assert ledger.log == [line(1), line(2)]
    assert reports.requests == [line(1), line(2)]


def test_what_robots_txt_forbids_is_counted() -> None:
    """A denied URL counts; one that was only put back does not."""
    _, _, denied, report = desk()
    due = due_of("http://a.example/x")
    report.handle_denied([Denied(due, HOST, "192.0.2.1", "Disallow: /")])
    report.handle_denied([Denied(due, HOST, "192.0.2.1", "")])
    assert denied.count("robots.txt") == 1
    assert denied.by_reason["robots.txt"].examples == ["http://a.example/x"]


@pytest.mark.parametrize("failure", sorted(LOOK_UP_FAILURES))
def test_a_unit_without_an_address_has_a_line_in_the_log(failure: HostFailure) -> None:
    """No bytes were sent, none came, and the outcome is the failure: somebody tried."""
    ledger, reports, _, report = desk()
    unit = UnitFinished(1, HOST, HOST, "probe", 4, 0, 0, "unreachable: no", failure)
    report.handle_finished([unit])
    (one,) = ledger.log
    assert (one.request.url, one.outcome) == (HOST, failure.value)
    assert (one.request_bytes, one.response_bytes, one.elapsed_ms, one.status) == (0, 0, 0.0, 0)
    assert (one.due.round, one.due.kind) == (4, "probe")
    assert reports.units == [unit]
    assert reports.requests == [], "no request left this machine"


def test_only_units_without_an_address_get_such_a_line() -> None:
    """Of the others each request has its own; one of which pages came had an address."""
    ledger, _, _, report = desk()
    gone, dead = HostFailure.NO_SUCH_NAME, HostFailure.UNREACHABLE
    units = [
        UnitFinished(1, HOST, HOST, "crawl", 1, 3, 900),
        UnitFinished(2, HOST, HOST, "crawl", 1, 3, 0, "unreachable: refused", dead),
        UnitFinished(3, HOST, HOST, "crawl", 1, 3, 900, "unreachable: it moved away", gone),
    ]
    report.handle_finished(units)
    assert ledger.log == []


def test_such_a_line_waits_for_room() -> None:
    """As those of requests do."""
    ledger, _, _, report = desk()
    ledger.full = True
    gone = UnitFinished(1, HOST, HOST, "crawl", 1, 0, 0, "unreachable", HostFailure.NO_SUCH_NAME)
    report.handle_finished([gone])
    assert str(report.paused).startswith("disk full")
    ledger.full = False
    report.handle_tick([Tick(2.0, 2, False)])
    assert [one.outcome for one in ledger.log] == ["no_such_name"]
