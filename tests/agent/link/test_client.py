"""What goes to the manager is as the protocol says; whatever comes back is an answer or words."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.errors import FaultError, HomeError, LinkError, RefusedError, WaitError
from agent.link.client import ManagerClient, tls_context
from agent.link.outbox import Report
from shared.wire.names import hash_of_key
from shared.wire.sync import SyncRequest

SYNC = SyncRequest(agent="prs1", boot_id="b", sequence=1, version="1", clock_ms=5, state="starting")
ANSWER = {"server_time_ms": 5, "next_poll_s": 60, "round": 1, "generation": 2}

Handler = Callable[[httpx.Request], httpx.Response]


class Network(httpx.AsyncBaseTransport):
    """Answers from a handler, in pieces, as a network does."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the handler's answer with its body not read yet."""
        await request.aread()
        answer = self._handler(request)
        if not answer.is_stream_consumed:
            return answer

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(answer.content), 1000):
                yield answer.content[start : start + 1000]

        return httpx.Response(answer.status_code, headers=answer.headers, content=pieces())


def call(handler: Handler, work: Callable[[ManagerClient], Any], **how: Any) -> Any:
    async def once() -> Any:
        async with ManagerClient(
            "https://prsm.example.jp/crawl/",
            name="prs1",
            key="secret",
            transport=Network(handler),
            **how,
        ) as client:
            return await work(client)

    return asyncio.run(once())


def always(status: int, **what: Any) -> Handler:
    return lambda _: httpx.Response(status, **what)


def failing(error: Exception) -> Handler:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error

    return handler


def test_sync_goes_as_json_with_the_key() -> None:
    """The key is a bearer token; what is not said is not sent; the answer is read."""

    def handler(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://prsm.example.jp/crawl/api/v1/sync"
        assert request.headers["Authorization"] == "Bearer secret"
        body = json.loads(request.content)
        assert body["agent"] == "prs1"
        assert "permit" not in body
        return httpx.Response(200, json=ANSWER | {"unknown": "to this version"})

    assert call(handler, lambda client: client.sync(SYNC)).generation == 2


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b"[]", b'{"server_time_ms": "x"}'])
def test_what_is_no_answer_is_said(body: bytes) -> None:
    """A page of a proxy, or of another program, is no sync answer."""
    with pytest.raises(LinkError, match="is no sync answer"):
        call(always(200, content=body), lambda client: client.sync(SYNC))


@pytest.mark.parametrize(
    ("status", "kind", "what", "said"),
    [
        (401, RefusedError, {"json": {"detail": "no such key"}}, "401: no such key"),
        (403, RefusedError, {"text": "blocked\nsecond line"}, "403: blocked"),
        (409, RefusedError, {"json": {"reason": "stale"}}, "409: stale"),
        (426, RefusedError, {"json": ["odd"]}, '426: ["odd"]'),
        (404, RefusedError, {"html": "<html>nginx</html>"}, "404: Not Found"),
        (500, FaultError, {"content": b"\xff\x1b[31mred"}, "500: \ufffd [31mred"),
        (502, FaultError, {}, "502: Bad Gateway"),
        (503, WaitError, {"text": "busy"}, "503: busy"),
        (429, WaitError, {"text": "slower"}, "429: slower"),
        (302, LinkError, {"headers": {"Location": "https://evil.example/"}}, "redirects to"),
    ],
)
def test_each_status_has_its_class_and_words(
    status: int, kind: type[LinkError], what: dict[str, Any], said: str
) -> None:
    """The reason is the manager's, on one line, without control characters."""
    with pytest.raises(LinkError) as refusal:
        call(always(status, **what), lambda client: client.sync(SYNC))
    assert type(refusal.value) is kind
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("headers", "by_manager"),
    [
        ({"X-Request-Id": "0123456789abcdef"}, True),
        ({"X-Request-Id": "nginx-1"}, False),
        ({}, False),
    ],
)
def test_whose_no_it_is(headers: dict[str, str], by_manager: bool) -> None:
    """The manager marks its answers; a proxy that answers in its place does not."""
    with pytest.raises(RefusedError) as refusal:
        call(always(413, headers=headers), lambda client: client.sync(SYNC))
    assert refusal.value.by_manager is by_manager


def test_a_redirect_never_carries_the_key() -> None:
    """The second server is not asked at all."""
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"Location": "https://evil.example/"})

    with pytest.raises(LinkError, match=r"set manager\.url"):
        call(handler, lambda client: client.sync(SYNC))
    assert asked == ["prsm.example.jp"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": "9" * 50}, 999_999_999.0),
        (
            {
                "Retry-After": "Sat, 21 Nov 2026 10:10:00 GMT",
                "Date": "Sat, 21 Nov 2026 10:00:00 GMT",
            },
            600.0,
        ),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, or a date on the manager's clock; nonsense is as if it said nothing."""
    with pytest.raises(WaitError) as refusal:
        call(always(503, headers=headers), lambda client: client.sync(SYNC))
    assert refusal.value.retry_after_s == seconds


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (httpx.ConnectError("refused"), "https://prsm.example.jp cannot be reached (refused)"),
        (httpx.ReadTimeout(""), "did not answer in time (ReadTimeout)"),
        (httpx.ProxyError("407"), "the proxy does not lead to"),
    ],
)
def test_a_network_that_fails_is_said(error: Exception, said: str) -> None:
    """The place and the cause, without the key."""
    with pytest.raises(LinkError) as refusal:
        call(failing(error), lambda client: client.sync(SYNC))
    assert said in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_an_endless_answer_is_cut() -> None:
    """Neither an answer nor the reason of a no may fill the memory."""

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    with pytest.raises(LinkError, match="is larger than"):
        call(always(200, content=endless()), lambda client: client.sync(SYNC))
    with pytest.raises(RefusedError) as refusal:
        call(always(400, content=endless()), lambda client: client.sync(SYNC))
    assert len(str(refusal.value)) < 600


def test_the_list_is_streamed_as_it_is(tmp_path: Path) -> None:
    """M1 is not decoded on its way to the disk, and stops at its limit."""

    def handler(request: httpx.Request) -> httpx.Response:
        assert str(request.url).endswith("/servlets/list?host=prs1")
        return httpx.Response(200, content=b"\x1f\x8b" + b"x" * 100_000)

    target = tmp_path / "list.part"
    size = call(handler, lambda client: client.take_list(target, limit_bytes=200_000))
    assert target.stat().st_size == size == 100_002
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(LinkError, match=r"limits\.server_list_bytes"):
        call(handler, lambda client: client.take_list(target, limit_bytes=50_000))


def test_a_list_that_breaks_off_is_said(tmp_path: Path) -> None:
    """A connection that ends in the middle of a body is an error, not a short list."""

    async def broken() -> AsyncIterator[bytes]:
        yield b"some"
        raise httpx.RemoteProtocolError("peer closed")

    with pytest.raises(LinkError, match="broke off"):
        call(
            always(200, content=broken()),
            lambda client: client.take_list(tmp_path / "l", limit_bytes=10),
        )


def test_reports_go_up_from_their_files(tmp_path: Path) -> None:
    """M2 and M3 are sent byte for byte, with their length, each to its address."""
    seen: dict[str, bytes] = {}

    def handler(request: httpx.Request) -> httpx.Response:
        body = request.content
        assert request.headers["Content-Length"] == str(len(body))
        assert request.url.params["host"] == "prs1"
        seen[request.url.path] = body
        return httpx.Response(200, text="OK")

    path = tmp_path / "report"
    path.write_bytes(b"prs1.202611210945\n" + b"z" * 200_000)

    async def work(client: ManagerClient) -> None:
        await client.send_report(Report(1, "log", "a", 0, path))
        await client.send_report(Report(2, "hosts", "a", 0, path))

    call(handler, work)
    assert seen == {
        "/crawl/servlets/submitlog": path.read_bytes(),
        "/crawl/servlets/record": path.read_bytes(),
    }


def test_enrolment_shows_a_hash_only() -> None:
    """The manager never sees the key itself, only what it is checked with."""

    def handler(request: httpx.Request) -> httpx.Response:
        assert json.loads(request.content) == {
            "agent": "prs1",
            "token": "t",
            "key_hash": hash_of_key("new"),
            "kind": "sync",
        }
        return httpx.Response(200, json={"agent": "prs1"})

    assert call(handler, lambda client: client.enrol("t", "new")) == {"agent": "prs1"}


def test_joining_and_leaving() -> None:
    """M5 goes to its two addresses, in the agent's name."""
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.url.path}?{request.url.query.decode()}")
        return httpx.Response(200, text="OK")

    async def work(client: ManagerClient) -> None:
        await client.unsubscribe()
        await client.subscribe()

    call(handler, work)
    assert asked == [
        "/crawl/servlets/unsubscribe?host=prs1",
        "/crawl/servlets/subscribe?host=prs1",
    ]


def test_the_doctor_asks_m4() -> None:
    """The first line and the manager's clock come back."""
    answer = always(200, text="CONTINUE\nx", headers={"Date": "Sat, 21 Nov 2026 10:00:00 GMT"})
    line, date = call(answer, lambda client: client.is_restart())
    assert line == "CONTINUE"
    assert date.isoformat() == "2026-11-21T10:00:00+00:00"


def test_a_ca_file_must_hold_certificates(tmp_path: Path) -> None:
    """A file without a certificate is refused at start, with its name."""
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    with pytest.raises(HomeError, match=r"ca\.pem: no PEM certificates"):
        tls_context(path)


def test_authorities_are_read_only_where_a_certificate_is_judged(tmp_path: Path) -> None:
    """Without TLS none is believed, and a wrong file is still told."""
    assert tls_context(None).cert_store_stats()["x509_ca"] > 0
    bare = tls_context(None, encrypted=False)
    assert bare.cert_store_stats()["x509_ca"] == 0
    assert bare.verify_mode == ssl.CERT_REQUIRED
    with pytest.raises(HomeError, match="No such file"):
        tls_context(tmp_path / "gone.pem", encrypted=False)
