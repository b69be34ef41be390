"""The web without end of bench-frontier: what its pages lead to."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.crawl.nginx import Served, serve
from benchmarks.frontier.endless import PLACES, address, path
from tests.programs import program
from tools.held_port import HeldPort


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Served]:
    program("nginx")
    with (
        HeldPort() as port,
        serve(tmp_path, tmp_path / "nginx", port, PLACES) as served,
    ):
        yield served


def links(url: str) -> list[str]:
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/html")
        page: str = answer.read().decode()
    assert url.endswith("/") or 10_000 < len(page.encode()) < 13_000
    return re.findall(r"href='([^']*)'", page)


def test_a_page_leads_to_ten_that_are_known_and_to_one_that_is_not(web: Served) -> None:
    top = f"http://{address(70_000)}:{web.port}"
    assert links(top + path(37, 3)) == [
        *(path(number, 3) for number in range(370, 380)),
        "/new/037-1.html",
    ]
    assert links(top + "/new/037-1.html")[-1] == "/new/037-11.html"
    assert links(top + "/") == [path(0, 1)]


def test_all_known_pages_of_a_width_lead_to_known_ones(web: Served) -> None:
    top = f"http://{address(0)}:{web.port}"
    every = {path(number, 2) for number in range(100)}
    found = [links(top + one) for one in sorted(every)]
    assert {link for page in found for link in page[:-1]} == every


def test_nginx_counts_pages_and_when_the_first_was_fetched(web: Served) -> None:
    links(f"http://{address(3)}:{web.port}/")
    links(f"http://{address(3)}:{web.port}{path(1, 1)}")
    fetched = web.take_log()
    assert (fetched.requests, fetched.urls, fetched.html) == (2, 2, 2)
    assert fetched.first_s > 1e9
    assert web.take_log().first_s == 0
