"""A manager, a simulated web and some agents, made of shipped commands, for end-to-end tests."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simweb.launcher import SimulatedWeb
from tests.e2e.commands import AskedManager
from tests.e2e.name_server import Lent, running_name_server
from tools.demo.system import Agent, CommandError, wait_for

__all__ = ["GAP_S", "Fleet", "running_fleet"]

GAP_S = 2.0
LIAR = Path(__file__).with_name("lying_agent.py")

MANAGER_SETTINGS = """\
[policy]
tick_s = 0.3
sync_interval_s = 0.4
pending_sync_interval_s = 0.3
syncs_per_s = 1000.0
permit_s = {permit_s}
grace_s = 1.0
max_tick_gap_s = {gap_s}
log_timeout_s = 10.0
refetch_share = {refetch_share}
{policy}

[limits]
uploads_per_minute = 100000

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
"""

AGENT_SETTINGS = """\
[robot]
contact = "tests@example.org"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = {interval_s}
fast_host_interval_s = {interval_s}
delay_factor = 0.0

[limits]
connect_s = 1.0
first_byte_s = 1.0
total_s = 2.0

[network]
source_address = "127.10.{region}.1"

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[manager]
backoff_s = 0.3
max_backoff_s = 1.0

[disk]
reserve_bytes = 1000000

[reports]
log_interval_s = {every_s}
probe_log_delay_s = 0.2
"""


@dataclass
class Fleet:
    """What runs. Agent number r crawls from 127.10.r.1."""

    web: SimulatedWeb
    manager: AskedManager
    agents: list[Agent]
    interval_s: float

    def owners(self) -> dict[str, str | None]:
        """Return each host's owner, as `prsm hosts list` says."""
        hosts = self.manager.prsm("hosts", "list", "--limit", "1000")["hosts"]
        return {host["key"]: host["owner"] for host in hosts}

    def all_called(self) -> bool:
        """Return whether each agent has called the manager: before, no round can begin.

        Raises CommandError where one has ended.
        """
        for agent in self.agents:
            if not agent.program.running:
                said = agent.program.log.read_text()[-2000:]
                raise CommandError(f"agent {agent.name} ended: {said}")
        return all(agent["version"] for agent in self.manager.prsm("agents", "list"))

    def round(self) -> dict[str, Any]:
        """Return the newest round."""
        detail: dict[str, Any] = self.manager.prsm("rounds", "show")
        return detail

    def run_round(self, method: str, seconds: float) -> dict[str, Any]:
        """Start a round and wait until it is finished."""
        self.manager.prsm("rounds", "start", "--method", method)
        return self.wait_round("finished", seconds)

    def wait_round(self, state: str, seconds: float) -> dict[str, Any]:
        """Wait until the newest round is in a state; return it."""

        def reached() -> dict[str, Any] | None:
            detail = self.round()
            return detail if detail["round"]["state"] == state else None

        detail: dict[str, Any] = wait_for(f"round {state}", reached, seconds=seconds, every_s=0.2)
        return detail

    def check(self) -> None:
        """Fail where the manager's tables do not fit together, or the crawl was not polite."""
        assert self.manager.prsm("check")["findings"] == []
        verdict = self.web.judge(interval_ms=self.interval_s * 1000)
        assert verdict.ok, "\n".join(verdict.lines())


@contextmanager
def running_fleet(
    folder: Path,
    /,
    *,
    agents: int,
    interval_s: float = 0.1,
    permit_s: float = 60.0,
    every_s: float = 0.5,
    refetch_share: float = 0.0,
    policy: str = "",
    lying: Collection[int] = (),
    manager_names: Lent | None = None,
    agent_names: Mapping[int, Lent] | None = None,
    **web_options: Any,
) -> Iterator[Fleet]:
    """Start a web, a manager with its hosts imported, and agents; end them all.

    every_s: between two logs of an agent; 0: when its list is worked off. refetch_share: of the
    pages, fetched again after a round. policy: more of the manager's settings. lying: agents that
    log what they did not see.
    manager_names, agent_names: name servers in the place of the web's, which they may ask.
    """
    with ExitStack() as stack:
        web = stack.enter_context(SimulatedWeb(folder / "web", **web_options))
        settings = MANAGER_SETTINGS.format(
            dns_port=_names(stack, web, manager_names),
            permit_s=permit_s,
            gap_s=GAP_S,
            refetch_share=refetch_share,
            policy=policy,
        )
        manager = AskedManager(folder / "manager", settings)
        stack.callback(manager.stop)
        manager.start()
        fleet = Fleet(web, manager, [], interval_s)
        for region in range(agents):
            name = f"a{region}.example"
            token = manager.prsm("agents", "token", name)["token"]
            text = AGENT_SETTINGS.format(
                interval_s=interval_s,
                dns_port=_names(stack, web, (agent_names or {}).get(region)),
                region=region,
                every_s=every_s,
            )
            agent = Agent(folder / name, name, text).enrol(manager.url, token)
            if region in lying:
                # -P: beside it lies a folder that is called `agent`, too.
                agent.program.words = [sys.executable, "-P", str(LIAR), "run", "--quiet"]
            stack.callback(agent.stop)
            fleet.agents.append(agent.start())
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        wait_for("each agent's first call", fleet.all_called, seconds=120)
        yield fleet


def _names(stack: ExitStack, web: SimulatedWeb, lent: Lent | None) -> int:
    """Return the port of the name server of one program."""
    if lent is None:
        return web.dns_port
    lent.port = web.dns_port
    server, _ = stack.enter_context(running_name_server(lent))
    return int(server.rpartition(":")[2])
