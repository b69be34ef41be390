"""`prs fetch`: one URL by hand, against a server on loopback."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.session.single_fetch import SingleFetch
from agent.app.session.visit import Hop, Visit
from agent.cli.fetch import times_of
from agent.settings import Settings
from tests.e2e.crawling.test_fetch import HELLO
from tests.e2e.raw_server import RawServer

pytestmark = pytest.mark.e2e


def visit_of(home: Path) -> Visit:
    settings = Settings(home=home)
    dns = replace(settings.dns, allowed_networks=("127.0.0.0/8",))

    async def run() -> Visit:
        async with RawServer(HELLO) as server:
            single_fetch = SingleFetch(replace(settings, dns=dns))
            try:
                return await single_fetch.visit(f"http://127.0.0.1:{server.port}/")
            finally:
                await single_fetch.close()

    return asyncio.run(run())


def test_each_hop_says_what_its_time_was_made_of(tmp_path: Path) -> None:
    """Connecting and the first byte are part of the whole; the second hop finds it connected."""
    visit = visit_of(tmp_path)
    rules, page = visit.robots[0], visit.hops[0]
    assert 0 < rules.connect_ms < rules.first_byte_ms <= rules.elapsed_ms
    assert page.connect_ms == 0
    assert page.lookup_ms is not None
    assert "connected after" in times_of(rules)
    assert "connected after" not in times_of(page)


def test_times_are_said_where_there_are_any() -> None:
    """What took no time, or never came, is left out."""
    hop = Hop("http://a.example/", "answered", elapsed_ms=120.04)
    assert times_of(hop) == "120.0 ms"
    hop.lookup_ms, hop.connect_ms, hop.first_byte_ms = 4.26, 31.0, 87.5
    assert times_of(hop) == "120.0 ms (look-up 4.3, connected after 31.0, first byte after 87.5)"
