"""What is known of a connection, and what no client can make the manager believe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from manager.app.web import connection
from manager.app.web.connection import Connection, Entrance
from manager.app.web.statuses import install_error_handlers
from shared.errors import FormatError, LimitError
from tests.manager.asgi import Caller
from tests.manager.running import running


async def facts(request: Request) -> Response:
    state = request.state
    line = state.line
    return JSONResponse({"local": state.local, "private": line.is_private, "client": line.client})


async def body(request: Request) -> Response:
    try:
        return JSONResponse(len(await request.body()))
    except LimitError as error:
        return JSONResponse(str(error), 413)
    except FormatError as error:
        return JSONResponse(str(error), 400)


async def cached(request: Request) -> Response:
    return Response("x", headers={"Cache-Control": "max-age=60"})


def caller(
    entrance: Entrance, address: str = "127.0.0.1", scheme: str = "http", limit: int | None = 1000
) -> Caller:
    app = Starlette(
        routes=[
            Route("/facts", facts), Route("/cached", cached), Route("/body", body, methods=["POST"])
        ]
    )  # fmt: skip
    return Caller(Connection(app, entrance, lambda _: limit), address=address, scheme=scheme)


@pytest.mark.parametrize(
    ("entrance", "address", "scheme", "forwarded", "private"),
    [
        (Entrance(local=False), "127.0.0.1", "http", None, True),
        (Entrance(local=False), "::1", "http", None, True),
        (Entrance(local=False), "192.0.2.7", "http", None, False),
        (Entrance(local=False), "192.0.2.7", "https", None, True),
        (Entrance(local=False), "192.0.2.7", "http", "https", False),
        (Entrance(local=False), "127.0.0.1", "http", "https", False),
        (Entrance(local=False, behind_tls_proxy=True), "127.0.0.1", "http", "https", True),
        (Entrance(local=False, behind_tls_proxy=True), "127.0.0.1", "http", "http", False),
        (Entrance(local=False, behind_tls_proxy=True), "127.0.0.1", "http", "https, http", False),
        (Entrance(local=False, behind_tls_proxy=True), "127.0.0.1", "http", None, False),
        (Entrance(local=False, behind_tls_proxy=True), "192.0.2.7", "http", None, False),
        (Entrance(local=False, behind_tls_proxy=True), "192.0.2.7", "http", "https", False),
        (Entrance(local=True), "192.0.2.7", "http", None, True),
        (Entrance(local=True), "192.0.2.7", "http", "https", False),
    ],
)
def test_who_may_listen(
    entrance: Entrance, address: str, scheme: str, forwarded: str | None, private: bool
) -> None:
    """A line is private by TLS, loopback, or a trusted proxy's word; a header alone is nothing."""
    headers = {} if forwarded is None else {"X-Forwarded-Proto": forwarded}
    answer = caller(entrance, address, scheme).get("/facts", headers=headers)
    assert answer.json()["local"] == (entrance.local and private)
    assert answer.json()["private"] == private


def test_browsers_that_came_over_tls_are_told_to_stay() -> None:
    """Strict-Transport-Security goes over TLS only, also where the proxy ends it; 0: never."""
    name, proxied = "strict-transport-security", {"X-Forwarded-Proto": "https"}
    told = Entrance(local=False, behind_tls_proxy=True, hsts_s=60)
    assert caller(told, scheme="https").get("/facts").headers[name] == "max-age=60"
    assert caller(told).get("/facts", headers=proxied).headers[name] == "max-age=60"
    assert caller(told).get("/nothing", headers=proxied).headers[name] == "max-age=60"
    assert name not in caller(told).get("/facts").headers
    assert name not in caller(Entrance(local=False, hsts_s=60)).get("/facts").headers
    untold = Entrance(local=False, hsts_s=0)
    assert name not in caller(untold, scheme="https").get("/facts").headers


def test_every_answer_is_not_to_be_stored() -> None:
    """Answers carry no-store and a request id, unless a route says otherwise; also when missing."""
    at = caller(Entrance(local=False))
    for path in ("/facts", "/nothing"):
        answer = at.get(path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.headers["x-request-id"]) == 16
    assert at.get("/cached").headers["cache-control"] == "max-age=60"


def test_bodies_are_capped() -> None:
    """A body at the limit is taken; one byte more is refused, declared or not."""

    async def chunks(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x" * 100

    at = caller(Entrance(local=False))
    assert at.post("/body", b"x" * 1000).json() == 1000
    assert at.post("/body", chunks(10)).json() == 1000
    declared = at.post("/body", b"x" * 1001)
    assert declared.status_code == 413
    assert declared.json().startswith("request body of 1001 bytes: the limit is 1000 bytes")
    streamed = at.post("/body", chunks(11))
    assert streamed.status_code == 413
    assert caller(Entrance(local=False), limit=None).post("/body", b"x" * 5000).json() == 5000


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (rb'"a\u0000b"', True),
        (rb'"\\\u0000"', True),
        (b'"' + b"\\\\" * 50 + rb'\u0000"', True),
        (rb'"a\\u0000b"', False),
        (b'"' + b"\\\\" * 50 + b'u0000"', False),
        (rb'"u0000 \u0001 \u000a"', False),
        (r'"a\u0000b"'.encode("utf-16"), True),
        (r'"a\u0000b"'.encode("utf-16-be"), True),
        (r'"a\u0000b"'.encode("utf-32-le"), True),
    ],
)
def test_a_text_with_u_0000_is_refused(text: bytes, refused: bool) -> None:
    """Where JSON escapes it, however its bytes come; a text that only looks like it is taken."""

    async def parts(size: int) -> AsyncIterator[bytes]:
        for at in range(0, len(text), size):
            yield text[at : at + size]

    at = caller(Entrance(local=False))
    for size in (1, 2, 3, 5, 7, 1000):
        answer = at.post("/body", parts(size))
        assert answer.status_code == (400 if refused else 200), size
    for kind in ("application/x-www-form-urlencoded", "Multipart/Form-Data; boundary=x"):
        assert at.post("/body", text, headers={"content-type": kind}).status_code == 200
    kind = "application/x-www-form-urlencoded+json"
    answer = at.post("/body", text, headers={"content-type": kind})
    assert answer.status_code == (400 if refused else 200)
    streamed = caller(Entrance(local=False), limit=None)
    assert streamed.post("/body", text).status_code == 200


@pytest.mark.parametrize("address", ["/facts?a=%00", "/console/%00", "/x?a=b%00c"])
def test_an_address_with_u_0000_is_refused(address: str) -> None:
    """Before anybody reads it; pages say so themselves."""
    at = caller(Entrance(local=False))
    answer = at.get(address)
    assert answer.status_code == 400
    assert "U+0000" in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert at.get("/facts?a=%2500").status_code == 200
    assert at.get("/console?a=%00").status_code == 404


def test_no_second_kind_hides_a_body() -> None:
    """A request may name two kinds; what reads it may go by the other one."""
    app = Connection(
        Starlette(routes=[Route("/body", body, methods=["POST"])]),
        Entrance(local=False),
        lambda _: 1000,
    )
    kinds = [("content-type", "application/json"), ("content-type", "multipart/form-data")]

    async def status(headers: list[tuple[str, str]]) -> int:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://prsm") as client:
            answer = await client.post("/body", content=rb'"\u0000"', headers=headers)
        return answer.status_code

    assert asyncio.run(status(kinds)) == 400
    assert asyncio.run(status(kinds[::-1])) == 400


def test_a_refused_sender_hears_why() -> None:
    """An answer that comes before the end of the body is sent at once, then the line is closed."""
    sent: list[Message] = []
    parts = [{"type": "http.request", "body": b"x" * 600, "more_body": True}] * 5
    answered_at: list[int] = []

    async def receive() -> Message:
        if not parts:
            return {"type": "http.disconnect"}
        return parts.pop()

    async def send(message: Message) -> None:
        if message.get("body"):
            answered_at.append(len(parts))
        sent.append(message)

    app = Connection(
        Starlette(routes=[Route("/body", body, methods=["POST"])]),
        Entrance(local=False),
        lambda _: 1000,
    )
    scope = {
        "type": "http", "method": "POST", "path": "/body", "scheme": "http", "query_string": b"",
        "headers": [(b"transfer-encoding", b"chunked")], "client": ("127.0.0.1", 1),
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    assert answered_at == [3]
    assert parts == []
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_nobody_lingers_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes on sending after a refusal is cut off, by bytes or by time."""
    monkeypatch.setattr(connection, "LINGER_BYTES", 5000)
    monkeypatch.setattr(connection, "LINGER_S", 0.01)
    read = 0

    async def endless() -> Message:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    async def silent() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    asyncio.run(connection._Body(endless, None, {b"transfer-encoding": b"chunked"}, [], 1).linger())
    assert read == 5
    asyncio.run(connection._Body(silent, None, {b"content-length": b"10"}, [], 1).linger())


def test_a_body_that_stops_coming_is_given_up() -> None:
    """A sender that stalls in a small body is 408 after the idle time, and the line is closed."""

    async def stalls() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    app = FastAPI()
    install_error_handlers(app)

    @app.post("/api/x")
    async def take(asked: dict[str, int]) -> None:
        """Never asked."""

    at = Caller(Connection(app, Entrance(local=False), lambda _: 1000, idle_s=0.01))
    answer = at.post("/api/x", stalls())
    assert answer.status_code == 408
    assert answer.json()["detail"].startswith("request body: no bytes received for 10 ms")
    assert answer.headers["connection"] == "close"


def test_a_long_answer_goes_in_pieces() -> None:
    """So that the server waits for a client that takes nothing, and keeps a piece of it only."""
    whole = bytes(range(256)) * 1024  # 256 KB
    sent: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": whole[:-1], "more_body": True})
        await send({"type": "http.response.body", "body": whole[-1:]})

    async def exchange() -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(dict(message))

        scope: Scope = {
            "type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [],
            "scheme": "http", "client": ("127.0.0.1", 5), "http_version": "1.1",
        }  # fmt: skip
        await Connection(application, Entrance(local=True), lambda _: 10)(scope, receive, send)

    asyncio.run(exchange())
    bodies = [one for one in sent if one["type"] == "http.response.body"]
    assert b"".join(one["body"] for one in bodies) == whole
    assert max(len(one["body"]) for one in bodies) <= connection.PIECE_BYTES
    assert [one.get("more_body", False) for one in bodies] == [True] * 4 + [False]


def test_the_api_s_document_is_written_once(tmp_path: Path) -> None:
    """Anybody may ask for it, and writing it takes as long as a hundred other answers."""
    with running(tmp_path) as prsm:
        first = prsm.anybody.get("/api/v1/openapi.json")
        assert first.json()["openapi"].startswith("3.1")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("manager.app.web.web.JSONResponse", None)
            assert prsm.anybody.get("/api/v1/openapi.json").content == first.content
