"""What agents crawled reaches the centre: shipped commands, real sockets, a real crawl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import wait_for

pytestmark = pytest.mark.e2e


def collected(fleet: Fleet, name: str) -> dict[str, Any]:
    """Ask an agent to send now, and wait until it says that it has."""
    number = fleet.manager.prsm("collect", "now", name)["id"]

    def ended() -> dict[str, Any] | None:
        (order,) = [one for one in fleet.manager.prsm("collect", "orders") if one["id"] == number]
        return order if order["state"] != "open" else None

    order: dict[str, Any] = wait_for("the order", ended, seconds=120)
    return order


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
