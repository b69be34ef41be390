"""Request heads are read strictly, whatever arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import FormatError
from simweb.servers.request import Request, accepts, read_head


def head(*lines: str) -> Request:
    """Read a head given as lines."""
    return read_head("\r\n".join(lines).encode("latin-1"))


def test_a_plain_request() -> None:
    """Names are lower-cased, repeated headers joined, the host stripped of its port."""
    request = head("GET /a?b HTTP/1.1", "Host: WWW.Sim.Test:80", "Accept: x", "accept:  y ")
    assert (request.method, request.target, request.path) == ("GET", "/a?b", "/a")
    assert request.host == "www.sim.test"
    assert request.headers["accept"] == "x, y"
    assert request.keep_alive


def test_the_absolute_form_names_the_host() -> None:
    """As proxies are asked, RFC 9112 3.2.2."""
    request = head("GET http://a.test:81/x?y HTTP/1.1", "Host: b.test")
    assert (request.host, request.target) == ("a.test", "/x?y")


@pytest.mark.parametrize(
    ("version", "header", "kept"),
    [
        ("HTTP/1.1", "X: y", True),
        ("HTTP/1.1", "Connection: Close", False),
        ("HTTP/1.0", "X: y", False),
        ("HTTP/1.0", "Connection: keep-alive", True),
    ],
)
def test_keep_alive(version: str, header: str, kept: bool) -> None:
    """1.1 stays open unless told, 1.0 closes unless told."""
    assert head(f"GET / {version}", header).keep_alive is kept


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /"],
        ["GET  / HTTP/1.1"],
        ["FETCH / HTTP/1.1"],
        ["GET / HTTP/2"],
        ["GET a HTTP/1.1"],
        ["GET /a\nb HTTP/1.1"],
        ["GET / HTTP/1.1", "no colon"],
        ["GET / HTTP/1.1", "Space : before"],
        ["GET / HTTP/1.1", " folded: line"],
    ],
)
def test_malformed_heads_are_refused(lines: list[str]) -> None:
    """A crawler with a broken request learns of it."""
    with pytest.raises(FormatError):
        head(*lines)


@pytest.mark.parametrize("value", ["-1", "1e3", "9" * 10, ""])
def test_an_unclear_body_length_is_refused(value: str) -> None:
    """Content-Length must be a number of sane size."""
    with pytest.raises(FormatError):
        _ = head("POST / HTTP/1.1", f"Content-Length: {value}").body_bytes


@given(st.binary(max_size=300))
def test_any_bytes_give_a_request_or_a_format_error(data: bytes) -> None:
    """Nothing else escapes the reader."""
    try:
        request = read_head(data)
    except FormatError:
        return
    assert request.target.startswith("/")
    assert not any(char <= " " for char in request.target)


@pytest.mark.parametrize(
    ("header", "allowed"),
    [("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("gzip;q=0", False), ("", False)],
)
def test_accept_encoding(header: str, allowed: bool) -> None:
    """A weight of 0 forbids, a star allows, silence means identity."""
    assert accepts(header, "gzip") is allowed
