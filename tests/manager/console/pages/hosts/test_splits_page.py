"""The page of slow hosts and splits: what is proposed is applied with one click, or cancelled."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.db.tables import rights, unit_rounds
from manager.operations.fleet.agents import agent_detail
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.splits.orders import order_change
from manager.operations.people.audit_log import audit_page
from tests.manager.console.conftest import Visitor, World
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import read
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.slow_host import size_host
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running, running

KYOTO = "kyoto.example.ac.jp"
HOST = f"http://{HOSTS[5]}:80/"
PAGE = "/console/balance/splits"


@pytest.fixture
def prsm(filled: World, tmp_path: Path) -> Iterator[Running]:
    """Return a manager whose operator allows a request in 5 s; an hour is slow."""
    shutil.copytree(filled.folder, tmp_path / "data")
    chosen = ("policy.split_interval_s=5", "policy.slow_host_s=3600")
    with running(tmp_path / "data", *chosen) as opened:
        yield opened


def grow(prsm: Running, *, known: bool = True) -> None:
    """Let a host take a day; no agent fetches from it now."""
    db = prsm.manager.db
    detail = host_detail(db, HOST)
    owner = agent_detail(db, KYOTO, prsm.clock()).view.row.id
    if known:
        know_directories(db, HOST, owner)
    size_host(db, HOST, 5000, detail.agents, prsm.clock())
    with db.write() as tx:
        tx.execute(rights.delete())
        tx.execute(unit_rounds.delete())


def test_a_proposal_is_applied_with_one_click(prsm: Running, person: Visitor) -> None:
    """It stands on the host's page, too; the audit has who did it."""
    grow(prsm)
    browser = person("operator")
    shown = browser.page(f"/console/host?host={HOST}")
    assert "Proposed by prediction" in shown.text
    assert re.search(r"Split among \d agents, it takes", shown.text)
    listed = browser.page(PAGE)
    assert HOSTS[5] in listed.text
    done = browser.submit(listed.form("/console/host/apply-split"))
    assert "1 host is split." in browser.page(done.headers["location"]).text
    [row] = audit_page(prsm.manager.db, action="host.split")
    assert (row.actor_name, row.subject) == ("operator", HOST)
    assert "No split or merge would make the crawl end earlier." in browser.page(PAGE).text


def test_a_slow_host_says_what_would_help(prsm: Running, person: Visitor) -> None:
    """In both languages, on both pages and in the file."""
    grow(prsm, known=False)
    browser = person("operator")
    listed = browser.page(PAGE).text
    assert "Slow hosts that no split helps" in listed
    assert HOSTS[5] in listed
    shown = browser.page(f"/console/host?host={HOST}").text
    assert "s it would be done in time." in shown
    assert "With bursts of" in shown
    [head, row, *_] = browser.get("/console/balance/splits/slow.csv").text.splitlines()
    assert head.startswith("host,agent,requests,takes (ms),interval,burst")
    assert row.startswith(HOST)
    japanese = browser.get(PAGE, **{"accept-language": "ja"}).text
    assert "遅いホストと分割" in japanese


def test_an_ordered_change_is_cancelled(prsm: Running, person: Visitor) -> None:
    """The host's page and the list say that it follows, and take it back."""
    grow(prsm)
    order_change(prsm.manager.db, HOST, "split", ADMIN, prsm.clock(), 2, 5.0)
    browser = person("operator")
    page = browser.page(f"/console/host?host={HOST}")
    assert "follows when its crawl is over" in page.text
    done = browser.submit(page.form("/console/host/cancel-split"))
    assert "is not changed" in browser.page(done.headers["location"]).text
    [row] = audit_page(prsm.manager.db, action="host.cancel-split")
    assert row.actor_name == "operator"
    assert "follows when" not in browser.page(PAGE).text


def test_a_viewer_sees_no_button(prsm: Running, person: Visitor) -> None:
    """What would be refused is not offered."""
    grow(prsm)
    browser = person("viewer")
    page = read(browser.get(PAGE).text)
    assert HOSTS[5] in page.text
    assert "Apply" not in page.text
