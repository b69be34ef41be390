"""Answers are split by blame; the token goes to one server."""

from __future__ import annotations

import gzip

import brotli
import httpx
import pytest

from client.errors import (
    ClientError,
    CutError,
    DamagedError,
    GoneError,
    LaterError,
    RefusedError,
    TokenError,
    UnreachableError,
)
from client.login import Login
from client.retry import Patience
from client.server import Server
from tests.client.answering import TOKEN, server_of


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, RefusedError, 1),
        (401, TokenError, 4),
        (403, TokenError, 4),
        (404, RefusedError, 1),
        (410, GoneError, 1),
        (429, LaterError, 7),
        (500, CutError, 9),
        (502, CutError, 9),
        (503, LaterError, 7),
    ],
)
def test_statuses(status: int, kind: type[ClientError], code: int) -> None:
    """Each status ends in its own way, with the server's sentence made harmless."""
    answers = lambda _: httpx.Response(status, json={"detail": "no \x1b[2J way"})  # noqa: E731
    with server_of(answers) as server, pytest.raises(kind, match=r"no  \[2J way") as failed:
        server.json("x")
    assert type(failed.value) is kind
    assert failed.value.exit_code == code
    assert TOKEN not in str(failed.value)


def test_an_error_page_of_a_proxy_is_not_repeated() -> None:
    """502 with HTML gives its number, not its page; a list that is HTML is tried again."""
    page = httpx.Response(502, html="<h1>Bad</h1>")
    with server_of(lambda _: page) as server, pytest.raises(CutError) as failed:
        server.json("x")
    assert "<h1>" not in str(failed.value)
    asked = []

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, html="<p>log in</p>") if len(asked) < 3 else good

    good = httpx.Response(200, json={"a": 1})
    with server_of(answers) as server:
        assert server.json("x") == {"a": 1}


@pytest.mark.parametrize("coding", ["gzip", "br", "GZip", "x-new"])
def test_a_compressed_answer_is_not_unpacked(coding: str) -> None:
    """Nobody asked for it, and what it becomes has no limit."""
    asked: list[httpx.Request] = []
    pack = brotli.compress if coding == "br" else gzip.compress

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        body = iter([pack(b'{"a": 1}')])
        return httpx.Response(200, headers={"Content-Encoding": coding}, content=body)

    with server_of(answers) as server, pytest.raises(CutError, match="is encoded"):
        server.json("x")
    assert {request.headers["accept-encoding"] for request in asked} == {"identity"}
    refused = httpx.Response(400, headers={"Content-Encoding": coding}, content=iter([b"x"]))
    with server_of(lambda _: refused) as server, pytest.raises(RefusedError, match="was 400"):
        server.json("x")


def test_no_redirection_is_followed() -> None:
    """The token would go with it."""
    asked = []

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"Location": "https://evil.example/"})

    with server_of(answers) as server, pytest.raises(RefusedError, match="evil"):
        server.json("x")
    assert asked == ["prsm.example.jp"]


def test_requests_have_the_token_and_the_path() -> None:
    """Below the address of the login, with the token in its header only."""
    asked: list[httpx.Request] = []

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=None)

    with server_of(answers) as server:
        server.json("api/v1/x", [("host", ".*&a=b")])
    (request,) = asked
    assert str(request.url) == "https://prsm.example.jp/prsm/api/v1/x?host=.%2A%26a%3Db"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_an_endless_answer() -> None:
    """An answer that is no file is read up to a limit."""

    def endless() -> httpx.ByteStream:
        return httpx.ByteStream(b" " * (65 * 1024**2))

    with (
        server_of(lambda _: httpx.Response(200, stream=endless())) as server,
        pytest.raises(DamagedError, match="more than"),
    ):
        server.json("x")


def test_who_cannot_be_reached() -> None:
    """After all tries, with the address and without the token."""

    def answers(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with server_of(answers) as server, pytest.raises(UnreachableError) as failed:
        server.json("x")
    assert "https://prsm.example.jp/prsm/" in str(failed.value)
    assert TOKEN not in str(failed.value)


@pytest.mark.parametrize(("ca", "proxy"), [("/nothing.pem", ""), ("", "nonsense://x")])
def test_a_ca_or_proxy_that_cannot_be(ca: str, proxy: str) -> None:
    """It is said at once."""
    with pytest.raises(ClientError, match=r"cannot be used|PEM"):
        Server(Login("https://x.example/", TOKEN, ca, proxy), Patience())


def test_a_proxy_that_fails_is_tried_again() -> None:
    """502 from a proxy passes; one that wants a password is said at once."""
    failures = ["502 Bad Gateway", "502 Bad Gateway"]

    def answers(request: httpx.Request) -> httpx.Response:
        if failures:
            raise httpx.ProxyError(failures.pop(), request=request)
        return httpx.Response(200, json={"a": 1})

    with server_of(answers) as server:
        assert server.json("x") == {"a": 1}
        failures.append("407 Proxy Authentication Required")
        with pytest.raises(UnreachableError, match="HTTPS_PROXY=http://NAME:PASSWORD") as refused:
            server.json("x")
        assert not isinstance(refused.value, CutError)
