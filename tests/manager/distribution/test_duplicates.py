"""One of each: near duplicates of a host are given once; hosts that mirror others are reported."""

from __future__ import annotations

import io
import random

from manager.operations.archive.archive_mirrors import mirrors
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.distribution.test_pages import hosts_in, paths_of
from tests.manager.running import Agent, Running

WORDS = [f"word{number}" for number in range(5000)]


def text_of(seed: int, changed: str = "") -> bytes:
    words = random.Random(seed).choices(WORDS, k=600)
    if changed:
        words[300] = changed
    return ("<p>" + " ".join(words)).encode()


def test_one_of_each(prsm: Running, agent: Agent, library: Caller) -> None:
    """Of pages with one text the one with the shortest URL; without being asked, all."""
    collected(
        prsm,
        agent,
        [
            page("http://www.example.jp/print/a", b"<b>x</b>" + text_of(1)),
            page("http://www.example.jp/a", text_of(1)),
            page("http://www.example.jp/b", text_of(2)),
        ],
    )
    for asked, paths in (
        ({}, ["/print/a", "/a", "/b"]),
        ({"one_of_each": "true"}, ["/a", "/b"]),
    ):
        data = library.get("/api/v1/pages.zip", params={"host": "www.*", **asked}).content
        (inner,) = hosts_in(data).values()
        got = paths_of(inner)
        # The text "x" in front is a word of 601.
        assert set(got) >= set(paths[-2:]), io.BytesIO(data)
        assert len(got) <= len(paths) + (1 if asked else 0)


def test_mirrors_are_reported(prsm: Running, agent: Agent) -> None:
    """A host whose pages are on another under the same paths, nearly alike, is its mirror."""
    pages = [page(f"http://www.example.jp/{n}", text_of(n)) for n in range(6)]
    pages += [page(f"http://other.example/{n}", text_of(n, "mirrored")) for n in range(3)]
    pages += [page("http://other.example/own", text_of(99))]
    collected(prsm, agent, pages)
    making = prsm.manager.archive.making
    (found,) = mirrors(making, 0.5, 10)
    assert (found.host, found.of) == ("http://other.example:80/", "http://www.example.jp:80/")
    assert (found.pages, found.alike >= 2) == (4, True)
    assert mirrors(making, 1.0, 10) == []
    listed = prsm.local.get("/api/v1/archive/mirrors", params={"share": 0.5}).json()
    assert [one["host"] for one in listed] == ["http://other.example:80/"]
    assert prsm.local.get("/api/v1/archive/mirrors", params={"share": 0}).status_code == 400
