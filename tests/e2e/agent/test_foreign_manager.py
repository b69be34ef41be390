"""Another manager answers at the address of an agent's own: the agent crawls on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agent.app.fake_manager import INSTALLATION, refuse
from tests.agent.app.scene import scene
from tests.e2e.commands import AskedManager
from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ANOTHER = "0f0f0f0f-1111-4222-8333-444444444444"
HOUR_S = 3600


@contextmanager
def in_place_of(fleet: Fleet, data: Path) -> Iterator[AskedManager]:
    """Serve an empty data directory at the address of a fleet's manager while the block runs."""
    fleet.manager.stop()
    other = AskedManager(data)
    own = fleet.manager.program.words
    other.program.words, other.url = list(own), fleet.manager.url
    other.start()
    try:
        yield other
    finally:
        other.stop()
        fleet.manager.start()


def status_of(fleet: Fleet) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(fleet.agents[0].prs("status", "--json"))["status"]
    return said


@pytest.mark.parametrize("knows_others", [False, True], ids=["empty", "of others"])
def test_an_agent_crawls_on_under_its_permit_while_another_manager_answers(
    tmp_path: Path, knows_others: bool
) -> None:
    """It is told `foreign_installation`, sends nothing there, and goes on with its own manager.

    It crawls slowly until that is seen: a busy machine takes half a minute to start a manager.
    """
    with running_fleet(
        tmp_path, agents=1, hosts=4, regions=1, seeds=4, seed=4, pages_mean=60, pages_sigma=0.2,
        trouble_scale=0, interval_s=3.0, permit_s=1200.0,
    ) as fleet:  # fmt: skip
        (agent,) = fleet.agents
        fleet.manager.prsm("rounds", "start", "--method", "random", "--no-probe")
        wait_for("the crawl", lambda: len(fleet.web.requests()) > 10, seconds=120)
        with in_place_of(fleet, tmp_path / "other") as other:
            if knows_others:
                other.prsm("agents", "token", "b.example")
            wait_for(
                "the other manager's answer",
                lambda: "database was replaced" in status_of(fleet)["trouble"],
                seconds=120,
            )
            seen = len(fleet.web.requests())
            wait_for("more pages", lambda: len(fleet.web.requests()) > seen + 5, seconds=120)
            status = status_of(fleet)
            assert status["permit_remaining_s"] > 0
            assert status["state"] == "working"
            assert agent.name not in {one["name"] for one in other.prsm("agents", "list")}
            assert other.prsm("reports") == []
            assert other.prsm("collect", "transfers") == []
        # It asks again after an hour, or when it starts.
        agent.stop()
        settings = agent.home / "prs.toml"
        settings.write_text(settings.read_text().replace("nterval_s = 3.0", "nterval_s = 0.1"))
        fleet.interval_s = 0.1
        agent.start()
        fleet.wait_round("finished", 300)
        assert status_of(fleet)["trouble"] == ""
        fleet.check()


def test_an_unknown_key_at_another_manager_ends_no_permit(tmp_path: Path) -> None:
    """401 beside another id is no matter for a person: it crawls on, and asks again in an hour."""
    with scene(tmp_path, pages_mean=60) as it:
        it.manager.permit_s = 3 * HOUR_S
        it.give_all()
        it.agent.start()
        it.until("requests", lambda: len(it.web.requests()) > 3)
        it.manager.installation = ANOTHER
        it.manager.fail("sync", *[refuse(401, "unknown key")] * 100)
        it.until("the refusal", lambda: "unknown key" in it.status()["status"]["trouble"])
        asked = len(it.manager.syncs)
        seen = len(it.web.requests())
        it.until("more requests", lambda: len(it.web.requests()) > seen + 20)
        status = it.status()["status"]
        assert status["next_contact_s"] > HOUR_S - 300
        assert status["permit_remaining_s"] > 0
        assert "called again in an hour" in status["trouble"]
        assert "permit ended" not in it.said()
        assert len(it.manager.syncs) <= asked + 1


def test_an_unknown_key_at_its_own_manager_is_a_matter_for_a_person(tmp_path: Path) -> None:
    """401 beside its own id ends the permit, and names the remedy."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        it.agent.start()
        it.until("requests", lambda: len(it.web.requests()) > 3)
        assert it.manager.installation == INSTALLATION
        it.manager.fail("sync", *[refuse(401, "unknown key")] * 100)
        it.until("the end", lambda: "permit ended: 401: unknown key" in it.said())
        assert it.quiet_for(1.0)
        assert "prs enrol" in it.status()["status"]["trouble"]
