"""The ledger on disk against the one in memory: any order of calls, commits and crashes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.adapters.ledger import SqliteLedger
from agent.pipeline.ledger import JobRow, Ledger, QueuedUrl
from agent.pipeline.messages.jobs import Job
from shared.archive.capture import Capture
from shared.archive.encode import encode_capture
from tests.agent.adapters.installation import TINY, captures_of, lines_of, open_ledger
from tests.agent.fakes import FakeLedger
from tests.agent.modules.answers import due_of, ended

HEADER = b"HTTP/1.1 200 OK\r\n\r\n"
NUMBERS = st.integers(0, 4)
PAGES = st.lists(st.integers(0, 12), max_size=6)


def urls(pages: list[int]) -> list[str]:
    return [f"http://a.example/{page}" for page in pages]


class LedgerMachine(RuleBasedStateMachine):
    """Both ledgers are asked the same; they must answer the same, also after a crash."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.real: SqliteLedger = open_ledger(self.folder, TINY)
        self.model = FakeLedger()
        self.numbers: list[int] = []

    def teardown(self) -> None:
        self.real.abandon()
        shutil.rmtree(self.folder)

    def both(self) -> tuple[Ledger, Ledger]:
        return self.real, self.model

    def number(self, index: int) -> int:
        return self.numbers[index % len(self.numbers)]

    @rule()
    def open_job(self) -> None:
        real, model = (ledger.new_job_number() for ledger in self.both())
        assert real == model
        job = Job(
            real, f"http://h{real}.example:80/", "probe", 2, 50, 700, ("/x/",), (("u", None),)
        )
        for ledger in self.both():
            ledger.open_job(job)
        self.numbers.append(real)

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS, keeps_queue=st.booleans())
    def finish_job(self, index: int, keeps_queue: bool) -> None:
        number = self.number(index)
        row = self.model.job(number)
        if row is None or row.finished:
            return
        for ledger in self.both():
            ledger.finish_job(number, keeps_queue=keeps_queue)
            assert ledger.may_reopen(number) == keeps_queue

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS)
    def reopen_job(self, index: int) -> None:
        number = self.number(index)
        real, model = (ledger.reopen_job(number) for ledger in self.both())
        assert real == model

    @rule(round_number=st.integers(1, 3))
    def count_probe(self, round_number: int) -> None:
        for ledger in self.both():
            ledger.count_probe("http://a.example:80/", round_number)

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS)
    def drop_job(self, index: int) -> None:
        for ledger in self.both():
            ledger.drop_job(self.number(index))

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS, pages=st.integers(0, 9))
    def count_and_place(self, index: int, pages: int) -> None:
        for ledger in self.both():
            ledger.count(self.number(index), pages=pages, kept=1, response_bytes=pages * 10)
            ledger.place_job(self.number(index), "http://h.example:80/", f"192.0.2.{pages}")

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS, pages=PAGES, level=st.integers(0, 2))
    def discover(self, index: int, pages: list[int], level: int) -> None:
        job = self.number(index)
        answers = []
        for ledger in self.both():
            new = ledger.add_new(job, urls(pages))
            ledger.push(
                QueuedUrl(0, url, job, 1, 0, None, level=level)
                for url, is_new in zip(urls(pages), new, strict=True)
                if is_new
            )
            answers.append(new)
        assert answers[0] == answers[1]

    @precondition(lambda self: self.numbers)
    @rule(index=NUMBERS, place=st.integers(0, 5), again=st.booleans(), level=st.integers(0, 2))
    def end(self, index: int, place: int, again: bool, level: int) -> None:
        job = self.number(index)
        for ledger in self.both():
            for item in ledger.take(job, 0, 10, level)[place : place + 1]:
                if again:
                    ledger.retry(job, item.position, item.attempts + 1, 1000 * place)
                else:
                    ledger.remove(job, item.position)

    @rule(page=st.integers(0, 99))
    def keep(self, page: int) -> None:
        url = f"http://a.example/{page}"
        capture = encode_capture(Capture(url, 1_700_000_000_000, b"", HEADER, b"x" * page))
        request = ended(due_of(url, kind="probe" if page % 2 == 0 else "crawl"))
        for ledger in self.both():
            ledger.append_captures([(capture, ("http://b.example/",) if page % 3 else ())])
            ledger.append_log([request])

    @rule()
    def commit(self) -> None:
        for ledger in self.both():
            ledger.commit()

    @rule()
    def crash(self) -> None:
        self.real.abandon()
        self.real = open_ledger(self.folder, TINY)
        self.model = self.model.after_crash()
        assert captures_of(self.folder) == self.model.captures
        logged = [one.request.url for one in self.model.log]
        assert [line.url for line in lines_of(self.folder)] == logged
        self.numbers = [row.job.number for row in self.model.jobs()]

    @rule()
    def seal(self) -> None:
        self.real.seal_segment()
        self.model.commit()

    @invariant()
    def agree(self) -> None:
        assert self.real.waiting() == self.model.waiting()
        rows: list[list[JobRow]] = [list(ledger.each_job()) for ledger in self.both()]
        assert rows[0] == rows[1]
        for number in self.numbers:
            taken = [
                [
                    (item.url, item.attempts, item.level)
                    for level in range(3)
                    for item in ledger.take(number, 0, 20, level)
                ]
                for ledger in self.both()
            ]
            assert taken[0] == taken[1]
            assert self.real.queued(number) == self.model.queued(number) == len(taken[0])


TestLedgerModel = LedgerMachine.TestCase
TestLedgerModel.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
