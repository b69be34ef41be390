"""Work for a request ends with its client."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from manager.intake.client_disconnect import gone_client, while_connected
from manager.intake.logs.log_job import LogJob
from manager.operations.logs.reports import list_reports
from shared.wire.crawl_log import LogLine
from tests.manager.running import log_body, running
from tools.pace import polls

LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")


class Client:
    """A client that goes away when it is told to."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.request = Request({"type": "http", "headers": []}, self.receive)

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def test_work_is_cancelled_when_the_client_goes() -> None:
    """It is over when the caller hears of it."""

    async def steps() -> None:
        client, ended = Client(), []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append(True)

        waiting = asyncio.ensure_future(while_connected(client.request, work()))
        await asyncio.sleep(0)
        client.gone.set()
        with pytest.raises(ClientDisconnect):
            await waiting
        assert ended == [True]

    asyncio.run(steps())


def test_who_stays_hears_what_came_of_it() -> None:
    """A result, or the error."""

    async def steps() -> None:
        client = Client()

        async def work(fails: bool) -> int:
            if fails:
                raise ValueError("bad")
            return 7

        assert await while_connected(client.request, work(False)) == 7
        with pytest.raises(ValueError, match="bad"):
            await while_connected(client.request, work(True))

    asyncio.run(steps())


def test_a_thread_can_ask_whether_the_client_is_there() -> None:
    """Nothing is said while it is; an error ends the thread's work when it has gone."""

    async def steps() -> None:
        client = Client()
        async with gone_client(client.request) as check:
            check()
            client.gone.set()
            await asyncio.sleep(0.01)
            with pytest.raises(ClientDisconnect):
                check()

    asyncio.run(steps())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/servlets/submitlog", log_body("a.example", [LINE])),
        ("/servlets/record", gzip.compress(b"http://found.example/\n")),
    ],
)
def test_nothing_stays_of_who_left_behind_its_body(tmp_path: Path, path: str, body: bytes) -> None:
    """The reading is cancelled, nothing is entered, and the same is taken when it comes again."""
    held: list[object] = []

    async def steps() -> None:
        begun, gone, cancelled = asyncio.Event(), asyncio.Event(), []

        async def read(function: object, job: object) -> None:
            held.append(job)
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(job)
                raise

        reader[0] = read
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        answers: list[Message] = []

        async def receive() -> Message:
            if parts:
                return parts.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            answers.append(message)

        said = {**agent.call.headers, "Host": "127.0.0.1"}
        headers = [(name.lower().encode(), value.encode()) for name, value in said.items()]
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
            "query_string": b"", "headers": headers, "scheme": "http", "http_version": "1.1",
            "client": ("127.0.0.1", 5), "server": ("x", 80),
        }  # fmt: skip
        serving = asyncio.ensure_future(prsm.public(scope, receive, send))
        waiting = asyncio.ensure_future(begun.wait())
        await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
        assert begun.is_set(), answers
        gone.set()
        await asyncio.wait_for(serving, 30)
        assert cancelled == held
        assert answers[0]["status"] == 400
        await asyncio.to_thread(wait_for_no_files)  # a thread removes the spooled body

    def wait_for_no_files() -> None:
        for _ in polls(20, 0.05):
            left = [*prsm.files("spool"), *prsm.files("logs"), *prsm.files("rejected")]
            if not left:
                return
        assert left == []

    async def dispatch(function: object, job: object) -> object:
        return await reader[0](function, job)  # type: ignore[operator]

    reader: list[object] = [None]
    with running(tmp_path, read=dispatch) as prsm:  # type: ignore[arg-type]
        agent = prsm.agent()
        asyncio.run(steps())
        assert list_reports(prsm.manager.db) == []

        async def here(function: object, job: object) -> object:
            return function(job)  # type: ignore[operator]

        reader[0] = here
        assert agent.call.post(path, body).status_code == 200
    assert isinstance(held[0], LogJob) == path.endswith("submitlog")


def test_a_large_sync_is_looked_through_elsewhere(tmp_path: Path) -> None:
    """A worker process says what is wrong; a small one is read at once."""
    asked: list[object] = []

    async def noted(function: object, job: object) -> object:
        asked.append(job)
        return function(job)  # type: ignore[operator]

    good = {"agent": "s.example", "boot_id": "b", "sequence": 1, "version": "1", "clock_ms": 5,
            "state": "starting"}  # fmt: skip
    many = [{"host": "http://a.example:80/", "addresses": []}] * 3000
    with running(tmp_path, read=noted) as prsm:  # type: ignore[arg-type]
        agent = prsm.agent("s.example", kind="sync")
        assert agent.call.post("/api/v1/sync", json=good).status_code == 200
        assert asked == []
        large = agent.call.post("/api/v1/sync", json={**good, "sequence": 2, "addresses": many})
        assert large.status_code == 200
        bad = agent.call.post("/api/v1/sync", json={**good, "rests": [{"host": 1}] * 9000})
        assert bad.status_code == 400
        assert "rests.0.host" in bad.text
        assert len(bad.text) < 2000
        assert len(asked) == 2
