"""Reports of other crawlers' users, tried by hand: each row is a row of docs/peer-reports.md.

A row is what a server answers, byte for byte, and what the crawl's own modules make of it: the
links that `prs fetch --links` prints, and the paths that were asked for.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.session.single_fetch import SingleFetch
from agent.app.session.visit import Visit
from agent.settings import Settings
from shared.archive.encode import encode_capture
from shared.archive.reader import read_capture
from tests.e2e.crawling.test_fetch import fetching, get
from tests.e2e.peer_pages import LINKS, NONE, moved, page
from tests.e2e.peer_walks import COOKIES, END, WALKS
from tests.e2e.raw_server import RawServer
from tests.shared.archive.foreign import foreign_records

pytestmark = pytest.mark.e2e


class Site(RawServer):
    """Answers by path; 404 where there is none."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        super().__init__(b"", close=True)
        self.answers = answers

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(request)
        writer.write(self.answer(request))
        await writer.drain()
        writer.close()

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        answer = self.answers.get(request.split()[1].decode(), NONE)
        return answer.replace(b"{PORT}", str(self.port).encode())

    @property
    def asked(self) -> tuple[str, ...]:
        """Paths that were asked for, in order."""
        return tuple(request.split()[1].decode() for request in self.requests)

    @property
    def cookies(self) -> list[str]:
        """The Cookie field of each request for a page; "" without."""
        found = (re.search(rb"\r\nCookie: ([^\r]*)", one) for one in self.requests[1:])
        return [one[1].decode("utf-8", "replace") if one else "" for one in found]


async def visit_site(site: Site, path: str = "/page") -> Visit:
    """Visit a page as `prs fetch` does."""
    settings = Settings(home=Path())
    dns = replace(settings.dns, allowed_networks=("127.0.0.0/8",))
    single_fetch = SingleFetch(replace(settings, dns=dns))
    try:
        return await single_fetch.visit(f"http://127.0.0.1:{site.port}{path}")
    finally:
        await single_fetch.close()


def visited(site: Site, path: str = "/page") -> Visit:
    """Serve a site and visit a page of it."""

    async def run() -> Visit:
        async with site:
            return await visit_site(site, path)

    return asyncio.run(run())


@pytest.mark.parametrize("source", LINKS)
def test_links_are_those_of_a_browser(source: str) -> None:
    """Each once, canonical, in the page's order."""
    answer, links = LINKS[source]
    site = Site({"/page": answer})
    visit = visited(site)
    assert visit.is_success
    assert [link.removeprefix(f"http://127.0.0.1:{site.port}") for link in visit.found] == links


@pytest.mark.parametrize("source", WALKS)
def test_requests_are_those_that_rules_and_redirects_lead_to(source: str) -> None:
    """No more and no fewer, in this order."""
    walk = WALKS[source]
    site = Site(walk.answers)
    visit = visited(site, walk.path)
    assert (site.asked, visit.outcome) == (("/robots.txt", *walk.asked), walk.outcome)


@pytest.mark.parametrize("source", COOKIES)
def test_cookies_of_a_chain_are_sent_as_they_were_set(source: str) -> None:
    """The newest value of a name, byte for byte."""
    answers, cookies = COOKIES[source]
    site = Site(answers)
    assert visited(site).is_success
    assert site.cookies == cookies


class Login(Site):
    """A page that leads to a login on its host, which sets a cookie and leads back."""

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        signed_in = b"Cookie: in=1" in request
        match request.split()[1]:
            case b"/page":
                return page("<a href=/in>") if signed_in else moved("/auth", 307)
            case b"/auth":
                return moved("/auth/2", 307)
            case b"/auth/2":
                return moved("/page", 307, "Set-Cookie: in=1; path=/\r\n")
        return NONE


def test_a_page_behind_a_login_that_leads_back_is_fetched() -> None:
    """browsertrix-crawler#635: both answers of the page come, and the second is the page."""
    site = Login({})
    visit = visited(site)
    assert site.asked == ("/robots.txt", "/page", "/auth", "/auth/2", "/page")
    assert [hop.status for hop in visit.hops] == [307, 307, 307, 200]
    assert len(visit.found) == 1


def test_a_cookie_goes_to_another_port_of_its_host() -> None:
    """scrapy#351: cookies know no ports, as in browsers."""

    async def run() -> list[str]:
        async with Site({"/there": END}) as other:
            field = "Set-Cookie: a=1; path=/\r\n"
            first = {"/page": moved(f"http://127.0.0.1:{other.port}/there", fields=field)}
            async with Site(first) as site:
                assert (await visit_site(site)).is_success
            return other.cookies

    assert asyncio.run(run()) == ["a=1"]


def test_relative_links_are_meant_against_where_a_redirect_led() -> None:
    """crawlee#1416: not against the URL that was asked for first."""
    site = Site({"/page": moved("/dir/sub/", 301), "/dir/sub/": page("<a href=x><a href=../y>")})
    visit = visited(site)
    assert [link.partition(f":{site.port}")[2] for link in visit.found] == ["/dir/sub/x", "/dir/y"]


def test_chunk_boundaries_change_no_digest() -> None:
    """heritrix3#769, warcio#74: the digest is of the body, not of how it was sent."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    ways = (b"b\r\nhello world\r\n0\r\n\r\n", b"6\r\nhello \r\n5;x=y\r\nworld\r\n0\r\nT: 1\r\n\r\n")

    async def run() -> set[str]:
        digests = set()
        async with RawServer(*(head + way for way in ways)) as server, fetching() as fetcher:
            for path in ("/a", "/a"):
                answer = await get(fetcher, server.url(path))
                assert answer.capture is not None
                encoded = encode_capture(answer.capture)
                assert [one.payload_ok for one in foreign_records(encoded.data)][-1]
                digests.add(encoded.payload_digest)
        return digests

    assert len(asyncio.run(run())) == 1


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("HTTP/1.1 404 Artículo no encontrado\r\n".encode(), id="warcio#95"),
        pytest.param(b"HTTP/1.1 404 \r\n", id="nutch#498"),
        pytest.param(b"HTTP/1.1 404\r\n", id="pywb#533"),
        pytest.param(
            b"HTTP/1.1 404 No\r\nSet-Cookie: \xb3\xd2\xda=%96; path=/\r\n", id="warcio#128"
        ),
        pytest.param("HTTP/1.1 404 No\r\nServer: Acme™\r\n".encode(), id="pywb#536"),
        pytest.param(b"HTTP/1.1 404 No\r\nLink: <\xe6\x97\xa5>; rel=x\r\n", id="pywb#402"),
    ],
)
def test_an_odd_header_is_stored_as_it_came_and_read_by_others(head: bytes) -> None:
    """Byte for byte in our records, and without an error in warcio and fastwarc."""
    header = head + b"Content-Length: 2\r\n\r\n"

    async def run() -> bytes:
        async with RawServer(header + b"hi") as server, fetching() as fetcher:
            answer = await get(fetcher, server.url("/x"))
            assert (answer.outcome, answer.status) == ("answered", 404)
            assert answer.capture is not None
            return encode_capture(answer.capture).data

    data = asyncio.run(run())
    assert read_capture(io.BytesIO(data), 0).response_header == header
    *_, response = foreign_records(data)
    assert (response.block_ok, response.payload_ok, response.payload) == (True, True, b"hi")


def test_a_body_beyond_the_limit_keeps_its_beginning() -> None:
    """nutch#329: whatever chunks and trailers follow, what came is kept, and marked as cut."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"

    async def run() -> tuple[int, str | None]:
        async with (
            RawServer(head + chunk * 8 + b"0\r\nT: 1\r\n\r\n") as server,
            fetching() as fetcher,
        ):
            answer = await get(fetcher, server.url("/x"), max_body_bytes=10_000)
            assert answer.capture is not None
            return len(answer.capture.body), answer.capture.truncated

    assert asyncio.run(run()) == (10_000, "length")
