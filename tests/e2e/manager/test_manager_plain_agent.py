"""docs/plain-agent.sh is a complete agent: a round with it, from the token to the last log."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simweb.launcher import SimulatedWeb
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.programs import program

pytestmark = pytest.mark.e2e

SCRIPT = Path(__file__).parents[3] / "docs" / "plain-agent.sh"
INTERVAL_S = 0.1
NAME = "plain.example.ac.jp"


class PlainAgent:
    """The script with its environment: names lead to the simulated web, minutes pass quickly."""

    def __init__(self, folder: Path, manager: ManagerProcess, web: SimulatedWeb) -> None:
        program("curl")
        tools = folder / "tools"
        tools.mkdir(parents=True)
        # Two logs of one agent differ in their minute; here a minute passes with each question.
        date = tools / "date"
        date.write_text(
            f"#!/bin/sh\nn=$(cat {folder}/minute 2>/dev/null || echo 100000)\n"
            f"n=$((n + 1))\necho $n > {folder}/minute\necho 202611$n\n"
        )
        date.chmod(0o755)
        names = (f'resolve = "{host.name}:{web.port}:{host.address}"\n' for host in web.hosts)
        (folder / ".curlrc").write_text('noproxy = "*"\n' + "".join(names))
        self.state = folder / "state"
        self._environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "CURL_HOME": str(folder),
            "PRSM_MANAGER": manager.url,
            "PRSM_NAME": NAME,
            "PRSM_CONTACT": "tests@example.ac.jp",
            "PRSM_STATE": str(self.state),
            "PRSM_INTERVAL": str(INTERVAL_S),
            "PRSM_PAUSE": "0.3",
        }

    def run(self, *arguments: str, code: int = 0, typed: str = "", **environment: str) -> str:
        """Run the script to its end and return what it said."""
        done = subprocess.run(
            ["sh", str(SCRIPT), *arguments], env={**self._environment, **environment},
            input=typed, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stderr

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Let the script work while the block runs."""
        with (self.state.with_suffix(".log")).open("wb") as log:
            process = subprocess.Popen(
                ["sh", str(SCRIPT), "run"], env=self._environment, stderr=log,
                start_new_session=True,
            )  # fmt: skip
            try:
                yield process
            finally:
                os.killpg(process.pid, 15)
                process.wait(30)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SimulatedWeb]:
    """Return a small calm web; two of its hosts are found by links only."""
    with SimulatedWeb(
        tmp_path / "web", hosts=5, seeds=3, seed=4, trouble_scale=0.0, delay_ms=0.0, pages_mean=6.0,
        pages_max=12, crawl_delay_s=0.2, outlinks_mean=2.0, spread=2.0,
    ) as started:  # fmt: skip
        yield started


@pytest.fixture
def manager(tmp_path: Path, web: SimulatedWeb) -> Iterator[ManagerProcess]:
    """Return a manager that resolves by the simulated web and may crawl loopback."""
    with running_manager(
        tmp_path / "data", f'dns.servers=["127.0.0.1:{web.dns_port}"]',
        'dns.allowed_networks=["127.0.0.0/8"]', "limits.uploads_per_minute=10000",
    ) as started:  # fmt: skip
        yield started


def answer(manager: ManagerProcess, *arguments: str) -> Any:
    return json.loads(prsm(manager.data, *arguments, "--json"))


@pytest.mark.slow
def test_a_round_with_a_shell_script(
    tmp_path: Path, manager: ManagerProcess, web: SimulatedWeb
) -> None:
    """The script joins, probes, crawls, finds hosts and reports, politely, until the round ends."""
    prsm(manager.data, "hosts", "import", "-", stdin="\n".join(web.seeds))
    agent = PlainAgent(tmp_path / "agent", manager, web)
    token = prsm(manager.data, "agents", "token", NAME).strip()
    assert "has joined" in agent.run("join", PRSM_TOKEN=token)
    agent.run("run", PRSM_TURNS="1")
    prsm(manager.data, "rounds", "start", "--method", "random")
    with agent.running() as process:
        for _ in range(400):
            detail = answer(manager, "rounds", "show")
            if detail["round"]["state"] == "finished":
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
    said = agent.state.with_suffix(".log").read_text()
    assert detail["round"]["state"] == "finished", said
    hosts = answer(manager, "hosts", "list")["hosts"]
    assert {host["key"].split(":")[1].strip("/") for host in hosts} == {h.name for h in web.hosts}
    assert {host["owner"] for host in hosts} == {NAME}
    reports = answer(manager, "reports")
    assert len(reports) >= 2
    assert sum(report["lines"] for report in reports) > 20
    assert sum(report["quarantined"] for report in reports) == 0
    assert any(host["volume_kb"] for host in hosts)
    assert detail["round"]["makespan_agent"] == NAME
    verdict = web.judge(interval_ms=INTERVAL_S * 1000)
    assert verdict.ok, verdict
    assert prsm(manager.data, "check") == "no problem found\n"
    assert not list((agent.state / "outbox").iterdir())
    assert not list((agent.state / "refused").iterdir())


def test_a_restart_reaches_the_script(
    tmp_path: Path, manager: ManagerProcess, web: SimulatedWeb
) -> None:
    """A restart that the administrator orders is heard at the next turn and then handled."""
    agent = PlainAgent(tmp_path / "agent", manager, web)
    agent.run("join", typed=prsm(manager.data, "agents", "token", NAME))
    agent.run("run", PRSM_TURNS="1")
    prsm(manager.data, "agents", "restart", NAME)
    assert "restart" in agent.run("run", PRSM_TURNS="2")
    shown = answer(manager, "agents", "show", NAME)["agent"]
    assert shown["restart_handled_ms"] is not None
    assert shown["restart_ordered_ms"] is None
    agent.run("leave")
    assert not answer(manager, "agents", "show", NAME)["agent"]["subscribed"]


def test_a_script_that_is_refused_says_why(
    tmp_path: Path, manager: ManagerProcess, web: SimulatedWeb
) -> None:
    """A wrong token, a token used twice, a missing setting: each ends with the reason."""
    agent = PlainAgent(tmp_path / "agent", manager, web)
    assert "unknown" in agent.run("join", typed="no-such-token\n", code=1)
    assert "join first" in agent.run("run", code=2)
    assert "PRSM_CONTACT is not set" in agent.run("run", code=2, PRSM_CONTACT="")
    token = prsm(manager.data, "agents", "token", NAME).strip()
    agent.run("join", PRSM_TOKEN=token)
    (agent.state / "key.conf").unlink()
    assert "used with another key" in agent.run("join", PRSM_TOKEN=token, code=1)
    assert token not in "".join(
        path.read_text("latin-1") for path in agent.state.rglob("*") if path.is_file()
    )
    said = agent.run("join", token, code=2)
    assert "join takes no token: set PRSM_TOKEN" in said
    assert token not in said
