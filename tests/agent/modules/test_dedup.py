"""A URL goes through once in each job, and is on disk from then on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.counts import StopCounts
from agent.modules.dedup import Dedup
from agent.modules.limits import CrawlLimits, SeenUrls
from agent.modules.seen import STRUCTURES, Filter, Flags, Keys, Seen
from agent.modules.seen.bloom import mixed
from agent.modules.seen.lru import Layered
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.pages import Candidate
from tests.agent.fakes import FakeLedger

HOST = "http://a.example:80/"


def candidate(number: int, job: int = 1) -> Candidate:
    return Candidate(f"http://a.example/{number}", HOST, job, 1, 0, "http://a.example/")


def gate(limits: CrawlLimits | None = None) -> tuple[FakeLedger, Dedup, StopCounts]:
    ledger, stopped = FakeLedger(), StopCounts()
    for number in (1, 2):
        ledger.open_job(Job(number, HOST, "crawl", 1))
    return ledger, Dedup(ledger, limits or CrawlLimits(), stopped), stopped


@pytest.mark.parametrize("seen_by", STRUCTURES)
@given(
    batches=st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 2)), max_size=8)),
    remembered=st.integers(2, 8),
)
def test_each_url_passes_once_in_its_job(
    seen_by: str, batches: list[list[tuple[int, int]]], remembered: int
) -> None:
    """However little a memory holds, the exact set lets a URL of a job through once."""
    limits = replace(CrawlLimits(), seen=SeenUrls(seen_by, remembered))
    ledger, dedup, _ = gate(limits)
    passed: list[tuple[int, str]] = []
    for batch in batches:
        for port, one in dedup.handle_candidates([candidate(*pair) for pair in batch]):
            assert port == "new"
            assert isinstance(one, Candidate)
            passed.append((one.job, one.url))
    wanted = {(job, f"http://a.example/{number}") for batch in batches for number, job in batch}
    assert sorted(passed) == sorted(wanted)
    for job in (1, 2):
        queued = [item.url for item in ledger.take(job, 0, 100)]
        assert queued == [url for one, url in passed if one == job]


class OftenWrong:
    """A filter that takes every tenth key for known."""

    def knows(self, keys: Keys) -> Flags:
        wrong: Flags = mixed(keys) % np.uint64(10) == 0
        return wrong

    def add(self, keys: Keys) -> None:
        pass


def test_a_page_that_a_filter_hides_is_found_in_the_next_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A false positive holds for one job; the next round's job has another key for the same URL."""
    often_wrong: Filter = OftenWrong()

    def make(asked: SeenUrls) -> Seen:
        return Layered(asked.urls, often_wrong)

    monkeypatch.setattr("agent.modules.dedup.make_seen", make)
    ledger, dedup, _ = gate()
    pages, found = range(400), set[str]()
    for job in range(1, 13):
        ledger.open_job(Job(job, HOST, "crawl", job))
        for _ in range(2):  # the same mistake is made as often as the link comes
            passed = list(dedup.handle_candidates([candidate(page, job) for page in pages]))
            found |= {one.url for _, one in passed if isinstance(one, Candidate)}
        if job == 1:
            assert 200 < len(found) < 400
    assert len(found) == 400


def test_a_new_url_is_queued_in_the_same_step() -> None:
    """Whatever a commit finds known it finds queued too: no crash can part the two."""
    ledger, dedup, _ = gate()
    list(dedup.handle_candidates([candidate(1)]))
    ledger.commit()
    after = ledger.after_crash()
    assert after.add_new(1, ["http://a.example/1"]) == [False]
    (item,) = after.take(1, 0, 9)
    assert (item.url, item.depth, item.referer) == ("http://a.example/1", 1, "http://a.example/")


def test_a_full_queue_takes_no_more_for_now() -> None:
    """No more is queued than a host may have pages; what was cut may come again."""
    ledger, dedup, stopped = gate(replace(CrawlLimits(), pages_per_host=3))
    list(dedup.handle_candidates([candidate(number) for number in range(5)]))
    assert ledger.queued(1) == 3
    assert stopped.count("queue holds as many pages as a host may have") == 2
    ledger.remove(1, ledger.take(1, 0, 1)[0].position)
    assert [one for _, one in dedup.handle_candidates([candidate(4)])] == [candidate(4)]


def test_jobs_that_are_gone_take_nothing() -> None:
    """A late link into a job that left the list leads nowhere."""
    ledger, dedup, _ = gate()
    ledger.drop_job(1)
    assert list(dedup.handle_candidates([candidate(1)])) == []
