"""Small pages of the wild web, fetched by hand: what a browser finds on them is found."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.session.single_fetch import SingleFetch
from agent.app.session.visit import Visit
from agent.settings import Settings
from tests.e2e.raw_server import RawServer
from tests.fixtures_dir import fixture_folder

pytestmark = pytest.mark.e2e

NO_RULES = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
COMPANY = "/%E4%BC%9A%E7%A4%BE.html?q=%B2%F1%BC%D2"
LINKS = {
    "eucjp-kanji-undeclared": [COMPANY],
    "eucjp-nec-query": ["/s?q=%AD%A1"],
    "gbk-undeclared-utf16-guess": ["/one.html", "/two.html"],
    "iso2022jp-nec-query": ["/s?q=%1B$B-!%1B(B&x=1"],
    "late-meta-eucjp": [COMPANY],
    "length-negative": ["/one", "/two"],
    "robots-coding-none": ["/one", "/two"],
    "sjis-only-in-attributes": ["/%E8%B3%87%E6%96%99.html", "/s?q=%8E%91%97%BF"],
    "two-content-types": ["/one", "/two"],
}


class Site(RawServer):
    """A case: its page, its robots.txt, and other answers by their path."""

    def __init__(self, case: str) -> None:
        folder = fixture_folder("wild-2026-11") / case
        self._answers = {
            f"/{path.name.removesuffix('.http')}": path.read_bytes()
            for path in folder.glob("*.http")
        }
        self._answers["/robots.txt"] = self._answers.pop("/robots", NO_RULES)
        super().__init__(b"", close=True)

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        path = request.split()[1].decode()
        if path == "/page" and b"Cookie: seen=1" in request:
            return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/in>in</a>"
        return self._answers.get(path) or self._answers["/page"]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(request)
        port = str(self.port).encode()
        writer.write(self.answer(request).replace(b"{PORT}", port))
        await writer.drain()
        writer.close()


def visited(case: str, path: str = "/page") -> tuple[Visit, list[str], list[str]]:
    """Return a visit, the paths of its links on the site, and the paths that were asked for."""
    settings = Settings(home=Path())
    dns = replace(settings.dns, allowed_networks=("127.0.0.0/8",))

    async def run() -> tuple[Visit, list[str], list[str]]:
        async with Site(case) as site:
            single_fetch = SingleFetch(replace(settings, dns=dns))
            try:
                start = f"http://127.0.0.1:{site.port}"
                visit = await single_fetch.visit(start + path)
            finally:
                await single_fetch.close()
            asked = [request.split()[1].decode() for request in site.requests]
            return visit, [link.removeprefix(start) for link in visit.found], asked

    return asyncio.run(run())


@pytest.mark.parametrize(("case", "links"), LINKS.items())
def test_the_links_of_a_page_are_those_of_a_browser(case: str, links: list[str]) -> None:
    """Encodings, lengths, encodings of content and types as Chromium takes them."""
    visit, found, _ = visited(case)
    assert visit.is_success
    assert found == links


@pytest.mark.parametrize("case", ["robots-429", "robots-cut", "robots-utf16"])
def test_a_robots_txt_that_denies_lets_no_page_be_asked(case: str) -> None:
    """As in the crawl: 429 and half a file are no rules at hand, and UTF-16 is read."""
    visit, _, asked = visited(case)
    assert visit.outcome == "denied"
    assert "/page" not in asked


def test_an_unknown_coding_of_a_robots_txt_leaves_its_rules() -> None:
    """The rules hold for what they name."""
    visit, _, asked = visited("robots-coding-none", "/private")
    assert (visit.outcome, visit.hops[0].rule) == ("denied", "Disallow: /private")
    assert asked == ["/robots.txt"]


@pytest.mark.parametrize("path", ["/sitemap.xml", "/sitemap.xml.gz", "/page"])
def test_a_packed_sitemap_is_read_under_any_name(path: str) -> None:
    """The bytes say what it is."""
    _, found, _ = visited("sitemap-gzip-no-extension", path)
    assert len(found) == 3


def test_a_cookie_that_leads_back_opens_the_page() -> None:
    """The second request carries it, in this chain alone."""
    visit, found, asked = visited("cookie-wall")
    assert (visit.outcome, visit.status, found) == ("answered", 200, ["/in"])
    assert asked == ["/robots.txt", "/page", "/page"]


def test_raw_bytes_of_a_redirect_are_asked_for() -> None:
    """Each byte is escaped as it is."""
    visit, _, asked = visited("redirect-eucjp-bytes")
    assert asked[1:3] == ["/page", "/%C6%FC%CB%DC/%A4%A2.html"]
    assert len(visit.hops) >= 2


def test_a_status_that_passes_is_no_page() -> None:
    """The crawl tries it again; nothing is read from it now."""
    visit, found, _ = visited("status-509")
    assert (visit.status, found, visit.is_success) == (509, [], False)


def test_links_alone_are_printed() -> None:
    """One canonical URL a line on standard output; hops and the sum go to standard error."""

    async def run() -> tuple[bytes, bytes, int]:
        async with Site("two-content-types") as site:
            words = ["-m", "agent.cli", "fetch", "--links", f"http://127.0.0.1:{site.port}/page"]
            words += ["--set", 'dns.allowed_networks=["127.0.0.0/8"]']
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            out, err = await process.communicate()
            assert process.returncode == 0, err
            return out, err, site.port

    out, err, port = asyncio.run(run())
    start = f"http://127.0.0.1:{port}"
    assert out.decode() == f"{start}/one\n{start}/two\n"
    assert b"answered 200" in err
