"""After a round, agents fetch a part of each other's pages again; who logs lies is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

WEB: dict[str, Any] = {
    "hosts": 24,
    "seeds": 0,
    "regions": 4,
    "pages_mean": 12.0,
    "pages_sigma": 0.3,
    "page_bytes": 3000.0,
    "trouble_scale": 0,
    "delay_ms": 1.0,
    "bandwidth_kb_s": 0.0,
    "robots": ["crawl-delay=0", "error=0", "forbid=0"],
    "seed": 4,
}
LIAR = "a2.example"


def test_a_lying_agent_is_found(tmp_path: Path) -> None:
    """It is suspect in words, the honest ones are not; rights, rests and robots.txt were kept."""
    with running_fleet(
        tmp_path, agents=4, interval_s=0.05, refetch_share=0.5, lying=[2], **WEB
    ) as fleet:
        fleet.run_round("random", 300)
        number = len(fleet.web.requests())
        found = wait_for("the verdict", lambda: all_compared(fleet), seconds=300, every_s=0.5)
        agents = {agent["name"]: agent for agent in fleet.manager.prsm("agents", "list")}
        assert [name for name, agent in agents.items() if agent["suspect_reason"]] == [LIAR]
        assert "fetched again" in agents[LIAR]["suspect_reason"]
        tally = found[LIAR]["tally"]
        assert tally["contradicted"] > 0.2 * tally["compared"] >= 2
        for name, refetches in found.items():
            if name != LIAR:
                assert refetches["tally"]["contradicted"] == 0
                assert refetches["tally"]["compared"] >= 10
        again = fleet.web.requests()[number:]
        pages = {page["url"] for refetches in found.values() for page in refetches["pages"]}
        paths = {url[url.index("/", 8) :] for url in pages}
        # Nothing but the pages of the orders, and the rules that allow them.
        assert {request["path"] for request in again} <= paths | {"/robots.txt"}
        fleet.check()


def all_compared(fleet: Fleet) -> dict[str, Any] | None:
    """Return what `prsm agents refetches` says of each agent, once nothing is waited for."""
    found = {}
    for agent in fleet.agents:
        refetches = fleet.manager.prsm("agents", "refetches", agent.name)
        if refetches["waiting"] or not refetches["tally"]["compared"]:
            return None
        found[agent.name] = refetches
    return found if fleet.manager.prsm("agents", "show", LIAR)["agent"]["suspect_reason"] else None
