"""A whole round with the real manager: enrol, probe, crawl, report, each night one single run."""

from __future__ import annotations

from pathlib import Path

import pytest

from simweb.launcher import SimulatedWeb
from tests.agent.app.scene import SETTINGS
from tests.e2e.commands import AskedManager
from tools.demo.system import Agent, CommandError, wait_for

pytestmark = pytest.mark.e2e

NAME = "robot.example.jp"
INTERVAL_S = 0.05
MANAGER_SETTINGS = """\
[policy]
tick_s = 0.2
sync_interval_s = 0.4
pending_sync_interval_s = 0.2
permit_s = 120.0
log_timeout_s = 1.0

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
"""


@pytest.mark.slow
def test_rounds_by_cron(tmp_path: Path) -> None:
    """`prs run --once` as cron would start it, until the manager has finished the round."""
    with SimulatedWeb(
        tmp_path / "web",
        hosts=5,
        regions=1,
        seeds=5,
        seed=4,
        pages_mean=8,
        pages_sigma=0.4,
        trouble_scale=0,
    ) as web:
        manager = AskedManager(tmp_path / "manager", MANAGER_SETTINGS.format(dns_port=web.dns_port))
        manager.start()
        settings = SETTINGS.format(interval_s=INTERVAL_S, dns_port=web.dns_port)
        agent = Agent(tmp_path / "prs", NAME, settings)
        try:
            token = manager.prsm("agents", "token", NAME)["token"]
            agent.enrol(manager.url, token)
            agent.enrol(manager.url, token)  # the answer might have been lost
            seed = (tmp_path / "web" / "seeds.txt").read_text().split()[0]
            doctor = agent.prs("doctor", "--page", seed)  # these name servers know no other hosts
            assert "BAD" not in doctor
            assert f"key: accepted, as {NAME}" in doctor
            manager.prsm("hosts", "import", str(tmp_path / "web" / "seeds.txt"))
            agent.prs("run", "--once", "--quiet")
            manager.prsm("rounds", "start", "--method", "random")

            def finished() -> bool:
                agent.prs("run", "--once", "--quiet")
                return bool(manager.prsm("rounds", "show", "1")["round"]["state"] == "finished")

            wait_for("the round", finished, seconds=120)
            detail = manager.prsm("rounds", "show", "1")
            assert detail["units"] == {"finished": 5}
            [mine] = detail["agents"]
            crawled = web.expected().captures
            assert mine["pages"] >= len(crawled)
            kinds = {one["kind"]: one for one in detail["link_kinds"]}
            assert kinds["anchor"]["links"] >= kinds["anchor"]["pages"] > 0
            answered = [one for one in web.requests() if one["status"] == 200]
            of_rules = [one for one in answered if "/robots" in one["path"]]
            pages = sum(one["pages"] for one in kinds.values())  # of probes, too
            assert mine["pages"] <= pages <= len(answered) - len(of_rules)
            assert web.judge(interval_ms=INTERVAL_S * 1000).ok
            [row] = manager.prsm("agents", "list")
            assert (row["name"], row["reports_waiting"]) == (NAME, 0)
        except CommandError as error:
            raise AssertionError(f"{error}\n{manager.program.log.read_text()[-3000:]}") from error
        finally:
            manager.stop()
