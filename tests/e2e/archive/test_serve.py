"""The manager fetches from an agent that serves: shipped commands, TLS, real sockets."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.collection.segment_server import SegmentServer, Tokens, certificate_of
from agent.settings import Home
from tests.collection.relay import relayed
from tests.e2e.fleet import running_fleet
from tools.demo.system import Program, wait_for
from tools.held_port import HeldPort

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_segments_are_fetched_from_prs_serve(tmp_path: Path) -> None:
    """Pinned: who shows another certificate gets no byte. A line that is cut is gone on with. The
    agent hears what became of its segments."""
    with running_fleet(
        tmp_path, agents=1, hosts=4, regions=1, seeds=4, seed=4, pages_mean=10, pages_sigma=0.4,
        trouble_scale=0,
    ) as fleet:  # fmt: skip
        (agent,), prsm = fleet.agents, fleet.manager.prsm
        fleet.run_round("random", 300)
        impostor_home = Home(tmp_path / "impostor")
        impostor_home.make()
        impostor = SegmentServer(
            ("127.0.0.1", 0),
            certificate_of(impostor_home, agent.name),
            agent.home / "crawl" / "segments",
            Tokens(impostor_home),
        )
        threading.Thread(target=impostor.serve, daemon=True).start()
        with relayed(impostor.port) as line:
            own = HeldPort()
            words = ["prs", "serve", "--set", f'collection.serve_listen="127.0.0.1:{own.number}"']
            words += ["--set", f'collection.serve_url="https://127.0.0.1:{line.port}"']
            serving = Program(words, tmp_path / "serve.log", agent.environment)
            serving.start()
            try:
                told = agent.home / "collection" / "serving.json"
                wait_for("prs serve", told.exists, seconds=60)
                heard = _contact(prsm)
                wait_for("two syncs", lambda: _contact(prsm) > heard + 1000, seconds=60)
                number = prsm("collect", "now", agent.name, "--pull")["id"]

                def refused() -> bool:
                    return any(
                        "another server answers" in one["result"]
                        for one in prsm("collect", "transfers")
                    )

                wait_for("the impostor's certificate to be refused", refused, seconds=120)
                assert {one["received_bytes"] for one in prsm("collect", "transfers")} == {0}
                line.cuts.append(60_000)
                line.target = own.number

                def ended() -> dict[str, Any] | None:
                    (order,) = [o for o in prsm("collect", "orders") if o["id"] == number]
                    return order if order["state"] != "open" else None

                order = wait_for("the order", ended, seconds=300)
            finally:
                serving.stop()
                impostor.close()
        assert order["state"] == "done", order
        transfers = prsm("collect", "transfers")
        assert {(one["way"], one["state"]) for one in transfers} == {("pull", "accepted")}
        assert all(one["received_bytes"] == one["size_bytes"] for one in transfers), transfers
        said = json.loads(agent.prs("collect", "--json"))
        assert {one["state"] for one in said["segments"]} == {"accepted"}


def _contact(prsm: Any) -> int:
    (agent,) = prsm("agents", "list")
    return int(agent["last_contact_ms"])
