"""What agents crawled reaches the centre: shipped commands, real sockets, a real crawl."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import command, wait_for

pytestmark = pytest.mark.e2e


def collected(fleet: Fleet, name: str) -> dict[str, Any]:
    """Ask an agent to send now, and wait until it says that it has."""
    number = fleet.manager.prsm("collect", "now", name)["id"]

    def ended() -> dict[str, Any] | None:
        (order,) = [one for one in fleet.manager.prsm("collect", "orders") if one["id"] == number]
        return order if order["state"] != "open" else None

    order: dict[str, Any] = wait_for("the order", ended, seconds=120)
    return order


@pytest.mark.slow
def test_a_round_is_collected(tmp_path: Path) -> None:
    """While agents run, all that they fetched is sealed, sent, judged; then only what is new."""
    with running_fleet(
        tmp_path,
        agents=2,
        hosts=5,
        regions=2,
        seeds=5,
        seed=4,
        pages_mean=8,
        pages_sigma=0.4,
        trouble_scale=0,
    ) as fleet:
        fleet.run_round("random", 120)
        orders = [collected(fleet, agent.name) for agent in fleet.agents]
        assert [order["state"] for order in orders] == ["done", "done"], orders
        transfers = fleet.manager.prsm("collect", "transfers")
        assert {one["state"] for one in transfers} == {"accepted"}, transfers
        assert {one["agent"] for one in transfers} == {agent.name for agent in fleet.agents}
        for agent in fleet.agents:
            said = json.loads(agent.prs("collect", "--json"))
            assert {one["state"] for one in said["segments"]} == {"accepted"}
            again = collected(fleet, agent.name)
            assert again["result"] == "nothing to send"


def far_from_now() -> str:
    """Return a window of ten minutes that is twelve hours away."""
    first = datetime.now(UTC) + timedelta(hours=12)
    return f"{first:%H:%M}-{first + timedelta(minutes=10):%H:%M}"


@pytest.mark.slow
def test_a_single_run_sends_what_it_fetched(tmp_path: Path) -> None:
    """`prs run --once` ends when the centre has it all, or when nothing may be sent any more; what
    is left goes with the next start."""
    with running_fleet(
        tmp_path, agents=1, hosts=3, regions=1, seeds=3, seed=4, pages_mean=8, pages_sigma=0.4,
        trouble_scale=0,
    ) as fleet:  # fmt: skip
        (agent,), prsm = fleet.agents, fleet.manager.prsm
        agent.stop()
        limit = ("collect", "limit", agent.name)
        hours = ("--weekday", far_from_now(), "--weekend", far_from_now(), "--zone", "UTC")
        command("prsm", *limit, *hours, PRSM_DATA=str(fleet.manager.data))
        assert "UTC" in prsm("agents", "show", agent.name)["agent"]["sending_said"]
        number = prsm("collect", "now", agent.name)["id"]
        prsm("rounds", "start", "--method", "random")
        wait_for("work for it", lambda: worked(fleet), seconds=300)
        (order,) = prsm("collect", "orders")
        assert (order["state"], prsm("collect", "transfers")) == ("open", [])
        command("prsm", *limit, "--lift", PRSM_DATA=str(fleet.manager.data))
        agent.prs("run", "--once")
        (order,) = prsm("collect", "orders")
        assert (order["id"], order["state"]) == (number, "done"), order
        said = json.loads(agent.prs("collect", "--json"))
        assert {one["state"] for one in said["segments"]} == {"accepted"}, said
        assert not list((agent.home / "crawl" / "segments").glob("*.open"))


def worked(fleet: Fleet) -> bool:
    """Let the agent run once; tell whether the round is finished by that."""
    fleet.agents[0].prs("run", "--once")
    return bool(fleet.round()["round"]["state"] == "finished")
