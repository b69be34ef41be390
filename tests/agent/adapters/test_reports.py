"""What the manager must learn, until it knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent.adapters.ledger import SqliteLedger
from agent.adapters.ledger.database import Query
from agent.adapters.reports import DurableReports
from agent.pipeline.messages.jobs import Job, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Outside
from shared.host_failures import HostFailure
from shared.wire.sync import HostAddresses
from tests.agent.adapters.installation import open_ledger
from tests.agent.modules.answers import ended, kept

UNIT = "http://a.example:80/"


def unit(pages: int = 5, name: str = UNIT) -> UnitFinished:
    return UnitFinished(1, name, name, "crawl", 3, pages, 1000, "complete")


def opened(folder: Path) -> tuple[SqliteLedger, DurableReports]:
    ledger = open_ledger(folder)
    return ledger, DurableReports(ledger.database)


def test_a_finished_unit_is_told_until_it_is_acknowledged(tmp_path: Path) -> None:
    """It is shown when it is durable, over restarts, and gone after the acknowledgement."""
    ledger, reports = opened(tmp_path)
    reports.finished(unit())
    assert reports.pending_finished(10) == []
    ledger.commit()
    ledger.abandon()
    ledger, reports = opened(tmp_path)
    [told] = reports.pending_finished(10)
    assert (told.unit, told.kind, told.round, told.pages, told.reason) == (
        UNIT,
        "crawl",
        3,
        5,
        "complete",
    )
    reports.forget_finished([told])
    ledger.commit()
    assert reports.pending_finished(10) == []
    ledger.close()


def test_the_crawl_delay_of_a_host_goes_with_its_units(tmp_path: Path) -> None:
    """As it was read last, over restarts; of a unit without a page nothing was read."""
    ledger, reports = opened(tmp_path)

    def told(seen: UnitFinished) -> list[int | None]:
        reports.finished(seen)
        ledger.commit()
        return [one.crawl_delay_ms for one in reports.pending_finished(10)]

    assert told(unit()) == [0]
    assert told(replace(unit(), crawl_delay_s=1.5)) == [1500]
    ledger.abandon()
    ledger, reports = opened(tmp_path)
    assert told(unit(pages=6)) == [1500]
    assert told(replace(unit(pages=6), unit=UNIT + "deep/", crawl_delay_s=None)) == [1500, 1500]
    assert told(replace(unit(pages=6), crawl_delay_s=0.0)) == [0, 0]
    assert told(unit(pages=0)) == [None, 0]
    ledger.close()


def test_a_crash_takes_back_what_was_not_committed(tmp_path: Path) -> None:
    """A unit whose end was not durable is not finished."""
    ledger, reports = opened(tmp_path)
    reports.finished(unit())
    reports.outside([Outside("http://b.example/", None)])
    reports.addresses(UNIT, ["192.0.2.1"])
    ledger.abandon()
    ledger, reports = opened(tmp_path)
    assert reports.pending_finished(10) == []
    assert reports.take_outside(10) is None
    assert reports.pending_addresses(10) == []
    ledger.close()


def test_what_changed_after_it_was_told_is_told_again(tmp_path: Path) -> None:
    """An acknowledgement forgets what was said, not what is true now."""
    ledger, reports = opened(tmp_path)
    reports.finished(unit(pages=5))
    reports.addresses(UNIT, ["192.0.2.1"])
    ledger.commit()
    finished, addresses = reports.pending_finished(10), reports.pending_addresses(10)
    reports.finished(unit(pages=6))
    reports.addresses(UNIT, ["192.0.2.2"])
    reports.forget_finished(finished)
    reports.forget_addresses(addresses)
    ledger.commit()
    assert [one.pages for one in reports.pending_finished(10)] == [6]
    assert [one.addresses for one in reports.pending_addresses(10)] == [("192.0.2.2",)]
    ledger.close()


def test_addresses_are_told_when_they_change(tmp_path: Path) -> None:
    """The same answer at the next look-up is no news; none at all is."""
    ledger, reports = opened(tmp_path)
    for addresses, news in ((["192.0.2.1"], 1), (["192.0.2.1"], 0), ([], 1), ([], 0)):
        reports.addresses(UNIT, addresses)
        ledger.commit()
        pending = reports.pending_addresses(10)
        assert len(pending) == news
        assert all(one == HostAddresses(host=UNIT, addresses=tuple(addresses)) for one in pending)
        reports.forget_addresses(pending)
        ledger.commit()
    ledger.close()


def test_found_urls_are_taken_in_batches(tmp_path: Path) -> None:
    """A batch is the same until it is forgotten, and its name is never given again."""
    ledger, reports = opened(tmp_path)
    found = [Outside(f"http://h{number}.example/", "http://a.example/") for number in range(5)]
    reports.outside(found)
    assert reports.take_outside(3) is None
    ledger.commit()
    first = reports.take_outside(3)
    assert first is not None
    assert first.urls == tuple(found[:3])
    assert reports.take_outside(3) == first
    reports.forget_outside(first)
    ledger.commit()
    second = reports.take_outside(3)
    assert second is not None
    assert second.urls == tuple(found[3:])
    reports.forget_outside(second)
    ledger.commit()
    assert reports.take_outside(3) is None
    reports.outside([Outside("http://x.example/", None)])
    ledger.commit()
    third = reports.take_outside(3)
    assert third is not None
    assert third.urls == (Outside("http://x.example/", None),)
    assert len({first.key, second.key, third.key}) == 3
    ledger.close()


def test_counts_what_happened(tmp_path: Path) -> None:
    """Counters count from the start of the process; a robots.txt is no page."""
    ledger, reports = opened(tmp_path)
    answered = ended(status=404, response_bytes=500)
    failed = ended(outcome="timeout", status=0, response_bytes=0, header=b"")
    reports.requested([answered, failed])
    reports.kept([kept(job=1), kept(job=0)])
    reports.outside([Outside("http://b.example/", None)])
    counted = reports.counters()
    assert (counted.requests, counted.errors, counted.response_bytes) == (2, 1, 500)
    assert (counted.pages, counted.discovered) == (1, 1)
    ledger.close()


def test_quiet_units_are_told_once(tmp_path: Path) -> None:
    """Whoever asks gets each job once."""
    ledger, reports = opened(tmp_path)
    reports.closed(UnitClosed(7, UNIT, UNIT))
    assert reports.closed_jobs() == [7]
    assert reports.closed_jobs() == []
    ledger.close()


def test_what_was_found_before_a_unit_was_done_has_lower_numbers(tmp_path: Path) -> None:
    """So that who tells of it can wait until all of that is with the manager, restarts included."""
    ledger, reports = opened(tmp_path)
    assert reports.outside_before(UNIT) == 0
    reports.outside([Outside("http://b.example/1", None), Outside("http://b.example/2", None)])
    reports.finished(unit())
    reports.outside([Outside("http://b.example/3", None)])
    ledger.commit()
    assert (reports.oldest_outside(), reports.outside_before(UNIT)) == (1, 2)
    batch = reports.take_outside(2)
    assert batch is not None
    reports.forget_outside(batch)
    ledger.commit()
    oldest = reports.oldest_outside()
    assert oldest == 3
    assert reports.outside_before(UNIT) < oldest
    batch = reports.take_outside(2)
    assert batch is not None
    reports.forget_outside(batch)
    ledger.commit()
    assert reports.oldest_outside() is None
    ledger.abandon()
    ledger, reports = opened(tmp_path)
    assert reports.outside_before(UNIT) == 3  # nobody knows how much of it was before
    ledger.close()


def failed(job: int, name: str, failure: HostFailure = HostFailure.NO_SUCH_NAME) -> UnitFinished:
    return UnitFinished(job, name, name, "crawl", 3, 0, 0, "unreachable: x", failure)


def test_units_that_failed_are_counted_by_reason(tmp_path: Path) -> None:
    """Over restarts, for as long as the list names them; a unit that is tried again counts anew."""
    ledger, reports = opened(tmp_path)
    names = [f"http://{number}.example:80/" for number in range(3)]
    for number, name in enumerate(names, 1):
        ledger.open_job(Job(number, name, "crawl", 3))
    assert reports.failures() == {}
    for number, name in enumerate(names[:2], 1):
        reports.finished(failed(number, name))
        ledger.finish_job(number)
    reports.finished(failed(3, names[2], HostFailure.UNREACHABLE))
    ledger.finish_job(3)
    assert reports.failures() == {"no_such_name": 2, "unreachable": 1}
    assert reports.counters().errors == 2, "requests of the third were counted as they ended"
    ledger.commit()
    assert [one.failure for one in reports.pending_finished(10)] == [
        *["no_such_name"] * 2,
        "unreachable",
    ]
    ledger.close()
    ledger, reports = opened(tmp_path)
    assert reports.failures() == {"no_such_name": 2, "unreachable": 1}
    assert reports.failure_of(3, names[2]) is HostFailure.UNREACHABLE
    assert reports.failure_of(4, names[2]) is None
    ledger.drop_job(1)
    assert reports.failures() == {"no_such_name": 1, "unreachable": 1}
    reports.finished(UnitFinished(2, names[1], names[1], "crawl", 3, 5, 1000))
    assert reports.failures() == {"unreachable": 1}
    ledger.close()


def test_a_failure_is_told_after_its_job_is_gone(tmp_path: Path) -> None:
    """The manager must learn it; then nothing is kept of it."""
    ledger, reports = opened(tmp_path)
    ledger.open_job(Job(1, UNIT, "crawl", 3))
    reports.finished(failed(1, UNIT))
    ledger.drop_job(1)
    ledger.commit()
    ledger.close()
    ledger, reports = opened(tmp_path)
    (told,) = reports.pending_finished(10)
    assert told.failure == "no_such_name"
    reports.forget_finished([told])
    ledger.commit()
    ledger.close()
    ledger, reports = opened(tmp_path)
    assert ledger.database.ask(Query[tuple[int]]("SELECT count(*) FROM failed")) == [(0,)]
    ledger.close()
