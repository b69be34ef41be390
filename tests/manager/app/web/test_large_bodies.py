"""Every entrance that takes a body: how large it may be, who may send it, and who reads it.

The entrances are those of the application, so a new one is tested with the others. Hostile bodies
are of the largest size that an entrance takes, and costly to refuse.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from manager.api.access import csrf_of
from manager.app.web.web import ROUTES, STRANGERS
from manager.console.routes import PAGES
from manager.intake.messages.message_models import LargeMessage
from manager.intake.messages.messages import DIRECT_BYTES, FEW_FIELDS_BYTES
from manager.operations.people.clients import issue_token, register_client
from manager.operations.people.users import add_user
from tests.manager.console.browser import FORM, Browser
from tests.manager.console.filled import PASSWORD
from tests.manager.running import LOCAL, Running, running

REQUEST_BYTES = 100_000
SYNC_BYTES = 150_000
SYNC = "/api/v1/sync"

STREAMS = {
    "/servlets/record": "a worker process reads it, in turns by agent",
    "/servlets/submitlog": "a worker process reads it, in turns by agent",
    "/api/v1/uploads": "its body is not read",
    "/api/v1/uploads/{key}": "goes to the disk in pieces of 1 MB, and is parsed by nobody",
    "/api/v1/hosts/import": "a worker process checks it, a thread enters it line by line",
    "/api/v1/hosts/resolutions": "a worker process checks it, a thread enters it line by line",
    "/api/v1/lists/import": "a worker process checks it, a thread enters it line by line",
    "/api/v1/releases/bundles": "goes to the disk in pieces of 1 MB, and is parsed by nobody",
}
"""Bodies that are not gathered in memory. A new one needs a word here, and its reader a test."""


@dataclass(frozen=True)
class Entrance:
    """A route for JSON. most_bytes: the largest body that it takes."""

    path: str
    most_bytes: int

    @property
    def address(self) -> str:
        """Return an address of it."""
        return re.sub(r"{[^}]+}", "1", self.path)


def entrances() -> list[Entrance]:
    """Return all routes that take JSON."""
    found = [Entrance(SYNC, SYNC_BYTES)]
    for route in ROUTES:
        if isinstance(route, APIRoute) and route.body_field is not None:
            model = route.body_field.field_info.annotation
            is_large = isinstance(model, type) and issubclass(model, LargeMessage)
            most_bytes = REQUEST_BYTES if is_large else FEW_FIELDS_BYTES
            found.append(Entrance(route.path, most_bytes))
    return found


KNOWN = [one for one in entrances() if one.path not in STRANGERS]
EACH = pytest.mark.parametrize("entrance", KNOWN, ids=lambda one: one.path)
FORMS = [page for page in PAGES if page.method == "POST"]
EACH_FORM = pytest.mark.parametrize("page", FORMS, ids=lambda page: page.path)


@dataclass
class HeldReader:
    """A reader of bodies that waits until it may go on. calls: sizes of what it was given."""

    calls: list[int] = field(default_factory=list)
    asked: asyncio.Event | None = None
    may_go_on: asyncio.Event | None = None

    async def __call__(self, function: Callable[[Any], Any], job: Any) -> Any:
        """Do a job when it may be done."""
        self.calls.append(len(job.body))
        if self.asked is not None and self.may_go_on is not None:
            self.asked.set()
            await self.may_go_on.wait()
        return function(job)


@pytest.fixture(scope="module")
def reader() -> HeldReader:
    """Return who reads bodies for the manager."""
    return HeldReader()


@pytest.fixture(scope="module")
def prsm(tmp_path_factory: pytest.TempPathFactory, reader: HeldReader) -> Iterator[Running]:
    """Return a manager with an administrator, an agent and a third party."""
    limits = (f"limits.request_bytes={REQUEST_BYTES}", f"limits.sync_bytes={SYNC_BYTES}")
    with running(tmp_path_factory.mktemp("bodies"), *limits, read=reader) as opened:
        yield opened


@pytest.fixture(scope="module")
def headers(prsm: Running) -> dict[str, dict[str, str]]:
    """Return what an agent shows, a third party, and a person with a browser."""
    db, now_ms = prsm.manager.db, prsm.clock()
    add_user(db, "admin", PASSWORD, "admin", LOCAL, now_ms)
    browser = Browser(prsm.public)
    browser.log_in("admin")
    register_client(db, "library", "a@library.example", "research", LOCAL, now_ms)
    token = issue_token(db, "library", LOCAL, now_ms).token
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    return {
        "agent": prsm.agent(kind="sync").call.headers,
        "client": {"Authorization": f"Bearer {token}"},
        "person": {"Cookie": cookies, "X-CSRF-Token": csrf_of(browser.cookies["prsm"])},
    }


def hostile(size: int) -> bytes:
    """Return JSON of a size that has a mistake in each few bytes."""
    begin, each, end = b'{"agent":"a","units":[', b'{"a":[]},', b'{"a":[]}]}'
    body = begin + each * ((size - len(begin) - len(end)) // len(each)) + end
    return body + b" " * (size - len(body))


def shown(headers: dict[str, dict[str, str]], path: str) -> dict[str, str]:
    """Return what the known sender of an entrance shows."""
    agents = (SYNC, "/api/v1/key", "/api/v1/collection/o", "/api/v1/update/report")
    if path.startswith(agents) and not path.startswith("/api/v1/collection/orders/{number}/cancel"):
        who = "agent" if path != "/api/v1/collection/orders" else "person"
        return headers[who]
    return headers["client" if path.startswith("/wasapi") else "person"]


async def send(prsm: Running, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
    """Send a body."""
    transport = httpx.ASGITransport(prsm.public, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        kind = {"content-type": "application/json", "sec-fetch-site": "same-origin"}
        return await client.post(path, content=body, headers={**kind, **headers})


async def beside_another(
    prsm: Running, reader: HeldReader, path: str, body: bytes, headers: dict[str, str]
) -> tuple[httpx.Response, bool]:
    """Send a hostile body, and another request when its reader has it.

    Return the answer, and whether the other request was answered before.
    """
    reader.calls.clear()
    reader.asked, reader.may_go_on = asyncio.Event(), asyncio.Event()
    try:
        sending = asyncio.create_task(send(prsm, path, body, headers))
        asked = asyncio.create_task(reader.asked.wait())
        await asyncio.wait({sending, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        transport = httpx.ASGITransport(prsm.public)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            other = await client.get("/healthz")
        before = other.status_code == 200 and not sending.done()
        reader.may_go_on.set()
        return await sending, before
    finally:
        reader.asked = reader.may_go_on = None


def test_each_stream_is_listed() -> None:
    """Whoever adds a route that reads a body by itself says here who reads it."""
    streams = {
        route.path
        for route in ROUTES
        if isinstance(route, APIRoute) and (route.openapi_extra or {}).get("requestBody")
    }
    assert streams == set(STREAMS)


@EACH
def test_the_largest_message_is_read_elsewhere(
    prsm: Running,
    reader: HeldReader,
    headers: dict[str, dict[str, str]],
    entrance: Entrance,
) -> None:
    """While a worker process looks through it, others are answered; then it is refused."""
    answer, before = asyncio.run(
        beside_another(
            prsm, reader, entrance.address, hostile(entrance.most_bytes),
            shown(headers, entrance.path),
        )
    )  # fmt: skip
    assert before, answer.text
    assert reader.calls == [entrance.most_bytes]
    assert answer.status_code == 400, answer.text
    assert answer.headers["x-error-code"] in ("unknown_parameter", "invalid_value")


@EACH
def test_a_message_over_the_limit_is_refused_by_its_size(
    prsm: Running,
    reader: HeldReader,
    headers: dict[str, dict[str, str]],
    entrance: Entrance,
) -> None:
    """413 with the size and the limit, and nobody reads it."""
    reader.calls.clear()
    body = hostile(entrance.most_bytes + 1)
    answer = asyncio.run(send(prsm, entrance.address, body, shown(headers, entrance.path)))
    assert answer.status_code == 413, answer.text
    assert f"the limit is {entrance.most_bytes} bytes" in answer.text
    assert reader.calls == []


@EACH
def test_a_stranger_s_large_message_is_not_read(
    prsm: Running, reader: HeldReader, entrance: Entrance
) -> None:
    """Who shows nothing is told so, by the status of the entrance."""
    reader.calls.clear()
    answer = asyncio.run(send(prsm, entrance.address, hostile(DIRECT_BYTES + 1), {}))
    assert answer.status_code in (401, 403), answer.text
    assert reader.calls == []


@pytest.mark.parametrize("path", sorted(STRANGERS))
def test_who_may_be_a_stranger_sends_little(prsm: Running, reader: HeldReader, path: str) -> None:
    """A login, or a join, is a few fields."""
    reader.calls.clear()
    answer = asyncio.run(send(prsm, path, hostile(DIRECT_BYTES + 1), {}))
    assert answer.status_code == 413
    assert f"the limit is {DIRECT_BYTES} bytes" in answer.json()["detail"]
    assert reader.calls == []


def test_a_stranger_s_undeclared_message_is_not_gathered(prsm: Running) -> None:
    """Of a body without a length at most so much is taken as may be parsed at once."""
    taken = 0

    async def body() -> Any:
        nonlocal taken
        for _ in range(100):
            taken += 4096
            yield b" " * 4096

    async def exchange() -> httpx.Response:
        transport = httpx.ASGITransport(prsm.public)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.post(
                "/api/v1/hosts/pin-many",
                content=body(),
                headers={"content-type": "application/json"},
            )

    answer = asyncio.run(exchange())
    assert answer.status_code == 401


def test_one_sender_has_few_large_messages_under_way(
    prsm: Running, reader: HeldReader, headers: dict[str, dict[str, str]]
) -> None:
    """The fifth is answered 429 with the limit, its setting and when to come again."""

    async def five() -> tuple[list[httpx.Response], httpx.Response]:
        reader.asked, reader.may_go_on = asyncio.Event(), asyncio.Event()
        body = hostile(SYNC_BYTES)
        begun = [asyncio.create_task(send(prsm, SYNC, body, headers["agent"])) for _ in range(4)]
        reader.calls.clear()
        while len(reader.calls) < 4:
            reader.asked.clear()
            await reader.asked.wait()
        fifth = await send(prsm, SYNC, body, headers["agent"])
        reader.may_go_on.set()
        return await asyncio.gather(*begun), fifth

    try:
        answers, fifth = asyncio.run(five())
    finally:
        reader.asked = reader.may_go_on = None
    assert [one.status_code for one in answers] == [400] * 4
    assert fifth.status_code == 429
    assert fifth.headers["retry-after"] == "5"
    told = fifth.json()
    assert told["code"] == "sender_messages"
    assert (told["value"], told["limit"]) == (4, 4)
    assert told["setting"] == "limits.large_messages_per_sender"
    again = asyncio.run(send(prsm, SYNC, hostile(SYNC_BYTES), headers["agent"]))
    assert again.status_code == 400  # its share is free again


@pytest.mark.parametrize("name", ["x" * (DIRECT_BYTES - 20), "units" * 3000])
def test_a_name_as_long_as_a_message_is_told_in_part(prsm: Running, name: str) -> None:
    """Neither compared with known names at its length, nor sent back."""
    answer = prsm.local.post("/api/v1/hosts/pin-many", json={name: 1})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_parameter")
    assert len(answer.content) < 1000


def form(size: int) -> bytes:
    """Return a form of a size with an escape in each few bytes."""
    begin = b"text="
    return begin + b"%61" * ((size - len(begin)) // 3) + b"b" * ((size - len(begin)) % 3)


@EACH_FORM
def test_the_largest_form_is_read_elsewhere(
    prsm: Running, reader: HeldReader, headers: dict[str, dict[str, str]], page: Any
) -> None:
    """While a worker process reads it, others are answered. What strangers may send is small."""
    address = "/console" + re.sub(r"{[^}]+}", "1", page.path)
    shows = {**headers["person"], "content-type": FORM}
    if page.role is None:
        answer = asyncio.run(send(prsm, address, form(DIRECT_BYTES + 1), shows))
        assert answer.status_code == 413
        return
    most_bytes = FEW_FIELDS_BYTES if address.startswith("/console/login") else REQUEST_BYTES
    answer, before = asyncio.run(beside_another(prsm, reader, address, form(most_bytes), shows))
    assert before, answer.text
    assert reader.calls == [most_bytes]
    assert answer.status_code in (303, 403)  # it has not the session's token


def test_a_large_form_of_a_session_that_is_over_is_not_read(
    prsm: Running, reader: HeldReader
) -> None:
    """The page says what to do, so that nothing is lost that was typed."""
    reader.calls.clear()
    answer = asyncio.run(
        send(
            prsm,
            next("/console" + page.path for page in FORMS if "block" in page.path),
            form(50_000),
            {"content-type": FORM},
        )
    )
    assert answer.status_code == 401
    assert "log in in another tab" in answer.text
    assert reader.calls == []


def test_a_message_that_is_right_is_done(prsm: Running) -> None:
    """Also a large one: the route has it after the worker process."""
    units = [f"http://h{number}.example/" for number in range(2_000)]
    answer = prsm.local.post("/api/v1/hosts/unpin", json={"units": units})
    assert answer.status_code in (200, 404), answer.text
    assert len(json.dumps(units)) > DIRECT_BYTES


def test_a_worker_process_can_import_each_model() -> None:
    """By its name; those of large messages without a web framework, which costs it seconds."""
    models = [
        route.body_field.field_info.annotation
        for route in ROUTES
        if isinstance(route, APIRoute) and route.body_field is not None
    ]
    assert pickle.loads(pickle.dumps(models)) == models
    code = (
        "import sys, manager.intake.messages.message_models\n"
        "import manager.intake.messages.message_check\n"
        "assert not {'fastapi', 'starlette', 'sqlalchemy'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
