"""Header blocks: what is sent, and what came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.adapters.curl.blocks import (
    read_answer,
    request_block,
    retry_after_s,
    site_of,
    stays_open,
)
from shared.archive.http_block import header_end
from shared.urls import host_of

FIELDS = ("User-Agent: prsm", "From: a@b.example")
SITE = site_of("http://a.example", ())
NOW_MS = 1_700_000_000_000  # Tue, 14 Nov 2023 22:13:20 GMT


def test_a_request_asks_for_path_and_query() -> None:
    """The block is what goes over the wire, with the name of the host."""
    assert request_block("http://a.example/d/p?q=1", site_of("http://a.example", FIELDS)) == (
        b"GET /d/p?q=1 HTTP/1.1\r\nHost: a.example\r\nUser-Agent: prsm\r\nFrom: a@b.example\r\n\r\n"
    )


def test_a_proxy_is_asked_for_the_whole_url() -> None:
    """Through a proxy http has an absolute target; https goes through a tunnel."""
    assert request_block("http://a.example/p", SITE, by_proxy=True).startswith(
        b"GET http://a.example/p HTTP/1.1\r\n"
    )
    assert request_block("https://a.example/p", SITE, by_proxy=True).startswith(b"GET /p ")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example/", "a.example"),
        ("http://a.example:8080/", "a.example:8080"),
        ("https://a.example/", "a.example"),
        ("http://a.example:443/", "a.example:443"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_the_host_field_names_an_unusual_port(url: str, host: str) -> None:
    """The port stands only where the scheme does not say it."""
    site = site_of(url[:-1], FIELDS)
    assert site.lines.startswith(b"Host: %b\r\nUser-Agent: " % host.encode())
    assert site.host == host_of(url)


def lines(text: str) -> list[bytes]:
    return [line.encode() + b"\r\n" for line in text.split("|")]


def test_the_final_answer_is_between_the_others() -> None:
    """Informational answers before it and trailers behind it are no part of it."""
    answer = read_answer(
        lines("HTTP/1.1 100 Continue||HTTP/1.1 103 Early|Link: <x>||HTTP/1.1 200 OK|A: b||T: r|")
    )
    assert answer.header == b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    assert (answer.whole, answer.status, answer.location) == (True, 200, None)


def test_a_header_without_its_end_is_not_whole() -> None:
    """A connection that broke in the header gives no answer."""
    assert not read_answer(lines("HTTP/1.1 200 OK|A: b")).whole
    assert not read_answer(lines("HTTP/1.1 100 Continue|")).whole
    assert not read_answer([]).whole


@pytest.mark.parametrize(
    ("value", "location"),
    [
        (b"/x", "/x"),
        (b"  //h/ ", "//h/"),
        ("/日".encode(), "/%E6%97%A5"),
        (b"/\xe9", "/%E9"),
        (b"", None),
    ],
)
def test_a_redirect_names_its_target(value: bytes, location: str | None) -> None:
    """Bytes beyond ASCII are escaped one by one."""
    header = [b"HTTP/1.1 301 Moved\r\n", b"Location: " + value + b"\r\n", b"\r\n"]
    assert read_answer(header).location == location
    header[0] = b"HTTP/1.1 200 OK\r\n"
    assert read_answer(header).location is None


@pytest.mark.parametrize(
    ("header", "open_"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection: x, close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", True),
        (b"HTTP/2 200 \r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nconnection: Keep-Alive\r\n\r\n", True),
        (b"HTTP/1.0 200 OK\r\nX-Connection: keep-alive\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection : close\r\n\r\n", False),
        (
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nA: b\r\nConnection: keep-alive\r\n\r\n",
            False,
        ),
    ],
)
def test_says_whether_the_connection_stays_open(header: bytes, open_: bool) -> None:
    """By the version's habit, unless the header says otherwise."""
    assert stays_open(header) is open_


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        (b"120", 120),
        (b"Tue, 14 Nov 2023 22:14:20 GMT", 60),
        (b"Tue, 14 Nov 2023 22:00:00 GMT", 0),
        (b"Tuesday, 14-Nov-23 22:14:20 GMT", 60),
        (b"-1", None),
        (b"1.5", 2),
        (b"299.997", 300),
        (b"120.", 120),
        (b"0.0", 0),
        (b"1e3", None),
        (b".5", 1),
        (b"120s", 120),
        (b"120\r\nRetry-After: 300\r\nretry-after: soon", 300),
        (b"Tue, 14 Nov 2023 22:14:20 GMT\r\nDate: Tue, 14 Nov 2023 22:04:20 GMT", 600),
        (b"Tue, 14 Nov 2023 22:14:20 GMT\r\nDate: Tue, 14 Nov 2023 23:14:20 GMT", 0),
        (b"Tue, 14 Nov 2023 22:14:20 GMT\r\nDate: yesterday", 60),
        (b"120\r\nDate: Tue, 14 Nov 2023 22:04:20 GMT", 120),
        (b"soon", None),
        (b"", None),
        (b"9" * 64, 315_360_000),
        (b"9" * 65, None),
        (b"\xff\xfe", None),
    ],
)
def test_reads_how_long_to_stay_away(value: bytes, wait_s: float | None) -> None:
    """Seconds, whole or not, or a date by the server's own clock; within ten years; of several
    fields the longest; anything else says nothing."""
    header = b"HTTP/1.1 503 x\r\nRetry-After: " + value + b"\r\n\r\n"
    for status in (503, 429, 301, 413, 500, 502, 504, 522, 509, 525, 408):
        assert retry_after_s(header, status, NOW_MS) == wait_s
    for status in (200, 404, 501):
        assert retry_after_s(header, status, NOW_MS) is None


@given(st.lists(st.binary(max_size=30).map(lambda line: line + b"\r\n"), max_size=20))
def test_any_lines_are_read(received: list[bytes]) -> None:
    """Nothing that a server sends raises, and a whole header is one."""
    answer = read_answer(received)
    if answer.whole:
        assert answer.header.endswith(b"\n")
        assert header_end(answer.header) >= 0 or answer.header in (b"\r\n", b"\n")
    retry_after_s(answer.header, 503, NOW_MS)
    stays_open(answer.header)
