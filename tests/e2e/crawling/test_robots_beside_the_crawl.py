"""`prs fetch` beside the crawl: the same verdict on every robots.txt that others have written down.

Each case is served on loopback and visited by hand. The answers that came are then the web of a
crawl in fake time, which is told to fetch the same page.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.session.single_fetch import SingleFetch
from agent.pipeline.messages.requests import FetchAnswer
from agent.settings import Settings
from shared.urls import canonical
from tests.agent.fakes import Page
from tests.agent.world import World, order
from tests.e2e.raw_server import RawServer
from tests.fixtures_dir import fixture_folder

pytestmark = pytest.mark.e2e

TOKEN = "PRS"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>x"
DENIES = b"User-agent: *\nDisallow: /\n"


def answer(body: bytes, status: int = 200, fields: str = "", length: int | None = None) -> bytes:
    """Return an answer; length: what it says of its body."""
    said = len(body) if length is None else length
    head = f"HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\nContent-Length: {said}\r\n{fields}"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def written() -> dict[str, tuple[bytes, str]]:
    """Return the cases of Google's parser and of the RFC: the answer and the path of the page."""
    google = json.loads((fixture_folder("robots-google") / "robots_test_cases.json").read_text())[
        "allow_cases"
    ]
    rfc = json.loads((fixture_folder("robots-rfc9309") / "rfc9309_cases.json").read_text())
    found = {}
    for number, row in enumerate([*google, *rfc["cases"]]):
        # The robot of this test goes by the name of the case's.
        text = row["robotstxt"]
        if row["useragent"]:
            text = re.sub(re.escape(row["useragent"]), TOKEN, text, flags=re.IGNORECASE)
        url = canonical(row["url"], "http://foo.bar/")
        found[f"{number}"] = (answer(text.encode()), url[url.index("/", 8) :])
    return found


def wild() -> dict[str, tuple[bytes, str]]:
    """Return cases of how a robots.txt is served."""
    folder = fixture_folder("wild-2026-11")
    found = {
        path.parent.name: (path.read_bytes(), "/page") for path in folder.glob("*/robots.http")
    }
    for status in (
        200,
        204,
        301,
        304,
        400,
        401,
        403,
        404,
        408,
        410,
        425,
        429,
        451,
        500,
        501,
        503,
        509,
    ):
        found[f"status {status}"] = (answer(DENIES, status), "/page")
    utf16 = DENIES.decode().encode("utf-16")
    moved = "Location: /robots.txt\r\n"
    return found | {
        "gzip": (answer(gzip.compress(DENIES), fields="Content-Encoding: gzip\r\n"), "/page"),
        "gzip that is none": (answer(DENIES, fields="Content-Encoding: gzip\r\n"), "/page"),
        "packed, and nothing says so": (answer(gzip.compress(DENIES)), "/page"),
        "an encoding of its own": (
            answer(b"BZh9\0\1", fields="Content-Encoding: bzip2\r\n"),
            "/page",
        ),
        "utf-32": (answer(DENIES.decode().encode("utf-32")), "/page"),
        "redirect without a target": (answer(DENIES, 302), "/page"),
        "unknown coding": (answer(DENIES, fields="Content-Encoding: utf-8\r\n"), "/page"),
        "utf-16": (answer(utf16), "/page"),
        "cut": (answer(b"User-agent: *\nDisallow: /cgi", length=400), "/page"),
        "negative length": (answer(DENIES, length=-1), "/page"),
        "loop": (answer(b"", 302, moved), "/page"),
        "loop with a cookie": (answer(b"", 302, moved + "Set-Cookie: a=1\r\n"), "/page"),
        "moved to the page": (answer(b"", 302, "Location: /page\r\n"), "/page"),
        "moved to mail": (answer(b"", 302, "Location: http://a.example:25/\r\n"), "/page"),
    }


class Site(RawServer):
    """A robots.txt, and the same page for everything else."""

    def __init__(self, rules: bytes) -> None:
        super().__init__(b"", close=True)
        self._rules = rules

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(request)
        writer.write(self._rules if request.split()[1] == b"/robots.txt" else PAGE)
        await writer.drain()
        writer.close()


async def fetch_one(rules: bytes, path: str) -> tuple[str, list[FetchAnswer]]:
    """Return the page's URL, and all answers that `prs fetch` got."""
    settings = Settings(home=Path())
    settings = replace(
        settings,
        dns=replace(settings.dns, allowed_networks=("127.0.0.0/8",)),
        robot=replace(settings.robot, product_token=TOKEN),
    )
    answers: list[FetchAnswer] = []
    async with Site(rules) as site:
        visitor = SingleFetch(settings)

        def ended(one: FetchAnswer) -> None:
            answers.append(one)
            visitor._set_answer(one)

        for module in (visitor._fetch, visitor._rules_fetch):
            module._done = ended
        try:
            visit = await visitor.visit(f"http://127.0.0.1:{site.port}{path}")
        finally:
            await visitor.close()
    return visit.url, answers


def crawled(url: str, answers: list[FetchAnswer]) -> set[str]:
    """Return what a crawl of that page asks for, on a web of these answers."""
    web = {url: Page(), url[: url.index("/", 8)] + "/page": Page()}
    for one in answers:
        capture = one.capture
        web[one.request.url] = Page(
            status=one.status,
            outcome=one.outcome,
            body=b"" if capture is None else capture.body,
            location=one.location,
            header=b""
            if capture is None
            else re.sub(rb" [0-9]{3} ", b" 200 ", capture.response_header, count=1),
        )
    world = World(web)
    host = canonical(url[: url.index("/", 8)])
    world.give_list([order(host, starts=((url[url.index("/", 8) :], None),))])
    world.run()
    return {asked for _, _, asked in world.started}


CASES = written() | wild()


@pytest.mark.parametrize("name", CASES)
def test_both_ask_for_the_page_or_neither_does(name: str) -> None:
    """Verdicts are the crawl's own, whatever the rules say and however they come."""
    rules, path = CASES[name]
    url, answers = asyncio.run(fetch_one(rules, path))
    by_us = any(one.request.url == url and not one.request.rules for one in answers)
    assert (url in crawled(url, answers)) == by_us
