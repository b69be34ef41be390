"""A log is entered wholly, once, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from manager.errors import BusyError
from manager.intake.logs import log_intake
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import LogSummary
from manager.operations.logs.reports import list_reports
from shared.wire.crawl_log import Comment, LogLine
from tests.manager.running import START_MS, Job, Result, log_body, read_here, running

LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body


def test_rows_of_a_refused_log_are_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the last transaction fails no file stays, and the same log is taken later."""

    def fails(*_: object) -> object:
        raise BusyError("the database does not answer now")

    with running(tmp_path) as prsm:
        agent = prsm.agent()
        monkeypatch.setattr(log_intake, "accept_log", fails)
        answer = agent.send_log(log_body("a.example", [LINE]))
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert prsm.files("logs") == prsm.files("spool") == prsm.files("rejected") == []
        monkeypatch.undo()
        assert agent.send_log(log_body("a.example", [LINE])).status_code == 200


def test_rows_of_a_report_stay_whatever_was_heard_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the transaction was committed and only its answer lost, the repeat finds all there."""

    def loses_the_answer(*given: object) -> object:
        accept_log(*given)  # type: ignore[arg-type]  # as LogIntake gives them
        raise BusyError("the database does not answer now")

    with running(tmp_path) as prsm:
        agent = prsm.agent()
        monkeypatch.setattr(log_intake, "accept_log", loses_the_answer)
        assert agent.send_log(log_body("a.example", [LINE])).status_code == 503
        assert agent.send_log(log_body("a.example", [LINE])).status_code == 200
        assert len(list_reports(prsm.manager.db)) == len(prsm.files("logs")) == 1


def test_a_dead_reader_takes_nothing_with_it(tmp_path: Path) -> None:
    """When the child process dies the answer is 503, nothing stays, and the next log is read."""
    died: list[object] = []

    async def dies_once(function: Callable[[Job], Result], job: Job) -> Result:
        if not died:
            died.append(job)
            raise BusyError("the process that was to do this died", retry_after_s=60)
        return await read_here(function, job)

    with running(tmp_path, read=dies_once) as prsm:
        agent = prsm.agent()
        answer = agent.send_log(log_body("a.example", [LINE]))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
        assert prsm.files("logs") == prsm.files("spool") == []
        assert agent.send_log(log_body("a.example", [LINE])).status_code == 200


def test_the_same_log_twice_at_once(tmp_path: Path) -> None:
    """Of two connections with one log the first enters it and the second hears that it is done."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        body = log_body("a.example", [LINE])

        async def take() -> log_intake.Receipt:
            logs = prsm.manager.logs
            return await logs.enter(agent.identity, await logs.receive(chunks(body), None))

        async def both() -> list[bool]:
            taken = [take() for _ in range(2)]
            return [receipt.repeated for receipt in await asyncio.gather(*taken)]

        assert sorted(asyncio.run(both())) == [False, True]
        assert len(list_reports(prsm.manager.db)) == len(prsm.files("logs")) == 1


def test_a_log_says_its_own_time(tmp_path: Path) -> None:
    """Times of comments are kept; without them a log begins where the one before ended."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        said: list[LogLine | Comment] = [
            Comment(f"Since={START_MS - 9000}"),
            Comment(f"Until={START_MS - 1000}"),
            LINE,
        ]
        agent.send_log(log_body("a.example", said, "202611211000"))
        prsm.clock.advance(60)
        agent.send_log(log_body("a.example", [LINE], "202611211001"))
        second, first = list_reports(prsm.manager.db)
        assert (first.since_ms, first.until_ms) == (START_MS - 9000, START_MS - 1000)
        assert (second.since_ms, second.until_ms) == (START_MS - 1000, START_MS + 60_000)


def test_what_is_entered_is_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary has the log's name, digest and size, and where its rows lie."""
    seen: list[LogSummary] = []

    def noted(*given: object) -> object:
        seen.append(given[2])  # type: ignore[arg-type]  # the summary
        return accept_log(*given)  # type: ignore[arg-type]  # as LogIntake gives them

    with running(tmp_path) as prsm:
        agent = prsm.agent()
        monkeypatch.setattr(log_intake, "accept_log", noted)
        body = log_body("a.example", [LINE, LINE])
        agent.send_log(body)
        (file,) = prsm.files("logs")
        (summary,) = seen
        assert (summary.name, summary.size_bytes, summary.lines) == (
            "a.example.202611211000", len(body), 2
        )  # fmt: skip
        assert summary.path == f"logs/{agent.identity.id}/{summary.sha256}.parquet"
        assert prsm.manager.layout.data / summary.path == file
