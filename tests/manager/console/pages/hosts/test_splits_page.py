"""The page of slow hosts and splits: what is proposed is applied with one click, or cancelled."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.operations.hosts.splits.orders import order_change
from manager.operations.people.audit_log import audit_page
from tests.manager.console.conftest import Visitor, World
from tests.manager.console.filled import HOSTS
from tests.manager.console.large_host import LARGE, grow_host
from tests.manager.console.markup import read
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running, running

PAGE = "/console/balance/splits"


@pytest.fixture
def prsm(filled: World, tmp_path: Path) -> Iterator[Running]:
    """Return a manager whose operator allows a request in 5 s; an hour is slow."""
    shutil.copytree(filled.folder, tmp_path / "data")
    chosen = ("policy.split_interval_s=5", "policy.slow_host_s=3600")
    with running(tmp_path / "data", *chosen) as opened:
        yield opened


def test_a_proposal_is_applied_with_one_click(prsm: Running, person: Visitor) -> None:
    """It stands on the host's page, too; the audit has who did it."""
    grow_host(prsm)
    browser = person("operator")
    shown = browser.page(f"/console/host?host={LARGE}")
    assert "Proposed by prediction" in shown.text
    assert re.search(r"Split among \d agents, it takes", shown.text)
    listed = browser.page(PAGE)
    assert HOSTS[5] in listed.text
    done = browser.submit(listed.form("/console/host/apply-split"))
    assert "1 host is split." in browser.page(done.headers["location"]).text
    [row] = audit_page(prsm.manager.db, action="host.split")
    assert (row.actor_name, row.subject) == ("operator", LARGE)
    assert "No split or merge would make the crawl end earlier." in browser.page(PAGE).text


def test_a_slow_host_says_what_would_help(prsm: Running, person: Visitor) -> None:
    """In both languages, on both pages and in the file."""
    grow_host(prsm, known=False)
    browser = person("operator")
    listed = browser.page(PAGE).text
    assert "Slow hosts that no split helps" in listed
    assert HOSTS[5] in listed
    shown = browser.page(f"/console/host?host={LARGE}").text
    assert "s it would be done in time." in shown
    assert "With bursts of" in shown
    [head, row, *_] = browser.get("/console/balance/splits/slow.csv").text.splitlines()
    assert head.startswith("host,agent,requests,takes (ms),interval,burst")
    assert row.startswith(LARGE)
    japanese = browser.get(PAGE, **{"accept-language": "ja"}).text
    assert "遅いホストと分割" in japanese


def test_an_ordered_change_is_cancelled(prsm: Running, person: Visitor) -> None:
    """The host's page and the list say that it follows, and take it back."""
    grow_host(prsm)
    order_change(prsm.manager.db, LARGE, "split", ADMIN, prsm.clock(), 2, 5.0)
    browser = person("operator")
    page = browser.page(f"/console/host?host={LARGE}")
    assert "follows when its crawl is over" in page.text
    done = browser.submit(page.form("/console/host/cancel-split"))
    assert "is not changed" in browser.page(done.headers["location"]).text
    [row] = audit_page(prsm.manager.db, action="host.cancel-split")
    assert row.actor_name == "operator"
    assert "follows when" not in browser.page(PAGE).text


def test_a_viewer_sees_no_button(prsm: Running, person: Visitor) -> None:
    """What would be refused is not offered."""
    grow_host(prsm)
    browser = person("viewer")
    page = read(browser.get(PAGE).text)
    assert HOSTS[5] in page.text
    assert "Apply" not in page.text
