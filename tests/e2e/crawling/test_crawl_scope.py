"""The scope of the crawl, changed in mid-crawl at the console, and what two real agents do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.fleet import Fleet, running_fleet
from tests.e2e.manager_process import prsm
from tests.manager.console.markup import read
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PASSWORD = "correct horse battery"
FROM_HERE = {"Sec-Fetch-Site": "same-origin"}
WEB: dict[str, Any] = {
    "hosts": 8, "regions": 2, "seeds": 8, "seed": 4, "pages_mean": 80, "pages_sigma": 0.2,
    "trouble_scale": 0,
}  # fmt: skip


def _outside(fleet: Fleet) -> int:
    return sum("region1.sim.test" in str(one["host"]) for one in fleet.web.requests())


def _submit(client: httpx.Client, page: str, action: str, **changes: str) -> httpx.Response:
    fields = read(page).form(action).fields | changes
    return client.post(action, data=fields, headers=FROM_HERE)


def test_a_scope_that_is_narrowed_at_the_console_ends_the_rest(tmp_path: Path) -> None:
    """Agents stop there within a sync, its captures stay, and a wider scope opens it again."""
    with running_fleet(tmp_path, agents=2, interval_s=0.1, **WEB) as fleet:
        prsm(
            fleet.manager.data, "users", "add", "hana", "--role", "operator", "--password-stdin",
            stdin=f"{PASSWORD}\n",
        )  # fmt: skip
        fleet.manager.prsm("rounds", "start", "--method", "random", "--no-probe")
        wait_for("pages of both domains", lambda: _outside(fleet) > 20, seconds=120)
        with httpx.Client(base_url=fleet.manager.url, follow_redirects=True, timeout=600) as client:
            login = client.get("/console/scope").text
            page = _submit(client, login, "/console/login", name="hana", password=PASSWORD).text
            refused = _submit(client, page, "/console/scope", text="include *.test\nallow x")
            assert "line 2" in read(refused.text).text
            asked = _submit(
                client, page, "/console/scope", text="include *.region0.sim.test", reason="goal"
            ).text
            assert "region1.sim.test" in read(asked).text
            assert fleet.manager.prsm("scope", "show")["version"] == 0
            done = _submit(client, asked, "/console/scope").text
            assert "Agents receive the scope" in read(done).text
        wait_for(
            "the lists of both agents",
            lambda: all(
                one["generation_held"] == one["generation"]
                for one in fleet.manager.prsm("agents", "list")
            ),
            seconds=60,
        )
        stopped = _outside(fleet)
        seen = len(fleet.web.requests())
        wait_for("more pages inside", lambda: len(fleet.web.requests()) > seen + 30, seconds=120)
        assert _outside(fleet) == stopped
        shown = fleet.manager.prsm("scope", "show")
        assert (shown["version"], shown["is_applied"], shown["outside"] > 0) == (1, True, True)
        assert not fleet.manager.prsm("scope", "try", "www0001.region1.sim.test")["is_inside"]
        fleet.wait_round("finished", 300)
        assert _outside(fleet) == stopped
        everything = tmp_path / "everything.txt"
        everything.write_text("# all\n")
        prsm(fleet.manager.data, "scope", "set", str(everything))
        assert fleet.manager.prsm("scope", "show")["outside"] == 0
        fleet.run_round("random", 400)
        assert _outside(fleet) > stopped + 50
        fleet.check()
