"""`make demo`: from nothing to a running system, two rounds, and a table.

A simulated web of 60 hosts in 4 regions, a manager on SQLite, and an agent in each region, with
intervals shortened. Round 1 probes all hosts from everywhere and hands them out at random; round
2 evens the cost out along the tree and crawls again. Hosts that only links lead to are found,
probed and assigned on the way. The last line is `RESULT ` and JSON.
"""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from simweb.launch import SimulatedWeb
from tools.demo.system import Agent, Manager, wait_for
from tools.demo.table import table

HOSTS, REGIONS, SEEDS, PAGES_MEAN = 60, 4, 40, 8.0
INTERVAL_S = 0.05
ROUND_S = 240.0

MANAGER_SETTINGS = """\
[policy]
tick_s = 0.3
next_poll_s = 0.5
soon_poll_s = 0.2
syncs_per_s = 1000.0
permit_s = 120.0
grace_s = 30.0
log_grace_s = 5.0

[limits]
uploads_per_minute = 100000

[naming]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
"""

AGENT_SETTINGS = """\
[robot]
contact = "demo@example.org"
info_url = "http://example.org/robot"

[politeness]
interval_s = {interval_s}
fast_interval_s = {interval_s}
times_last = 0.0

[limits]
first_byte_s = 5.0
total_s = 20.0

[network]
resolver = ["127.0.0.1:{dns_port}"]
source_address = "127.10.{region}.1"
allowed_ranges = ["127.0.0.0/8"]

[manager]
backoff_s = 0.5
backoff_max_s = 5.0

[disk]
reserve_bytes = 100000000

[reports]
every_s = 1.0
probe_s = 0.3
"""


@dataclass(frozen=True)
class Login:
    """Who may log in at the console of the demonstration."""

    name: str
    password: str


@click.command()
@click.option("--keep", is_flag=True, help="Leave the system running until Ctrl-C.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated web.")
@click.option("--folder", default=".demo", type=click.Path(path_type=Path), show_default=True)
def main(keep: bool, seed: int, folder: Path) -> None:
    """Show a whole PRSM at work on this machine."""
    begun = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    # A demonstration ended by SIGTERM ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with ExitStack() as stack:
        web = stack.enter_context(
            SimulatedWeb(
                folder / "web",
                hosts=HOSTS,
                regions=REGIONS,
                seeds=SEEDS,
                seed=seed,
                pages_mean=PAGES_MEAN,
                pages_sigma=1.0,
                domain="example.jp",
                names_per_address=1.1,
                crawl_delay_s=0.2,
                robots=["error=0"],
                trouble_scale=0,
                trouble=["redirect=0.02", "not-found=0.02", "cut=0.01"],
            )
        )
        say(f"simulated web: {HOSTS} hosts in {REGIONS} regions, {SEEDS} of them known at first")
        manager = Manager(folder / "manager", MANAGER_SETTINGS.format(dns_port=web.dns_port))
        stack.callback(manager.stop)
        manager.start()
        login = add_login(manager)
        url = manager.url
        say(f"manager: {url}")
        for region in range(REGIONS):
            agent = start_agent(manager, folder, region, web.dns_port)
            stack.callback(agent.stop)
        say(f"agents: {REGIONS}, one in each region")
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        first = run_round(manager, "random")
        second = run_round(manager, "tree")
        result = summary(manager, first, second, time.monotonic() - begun)
        click.echo()
        click.echo(table(first, second, result))
        click.echo()
        click.echo(f"console: {url}/console/   user {login.name}, password {login.password}")
        if not keep:
            click.echo("(`make demo KEEP=1` leaves it running)")
        click.echo("RESULT " + json.dumps(result))
        if keep:
            wait_for_the_end()


def say(sentence: str) -> None:
    """Print a line of progress."""
    click.echo(sentence)


def add_login(manager: Manager) -> Login:
    """Add an administrator with a new password."""
    login = Login("admin", secrets.token_urlsafe(9))
    manager.add_user(login.name, login.password, "admin")
    return login


def start_agent(manager: Manager, folder: Path, region: int, dns_port: int) -> Agent:
    """Enrol and start the agent of a region."""
    name = f"robot.region{region}.example"
    token = manager.prsm("agents", "token", name)["token"]
    settings = AGENT_SETTINGS.format(region=region, dns_port=dns_port, interval_s=INTERVAL_S)
    return Agent(folder / name, name, settings).enrol(manager.url, token).start()


def run_round(manager: Manager, method: str) -> dict[str, Any]:
    """Start a round, wait until it is finished, and return what the manager says of it."""
    begun = time.monotonic()
    manager.prsm("rounds", "start", "--method", method)
    number = manager.prsm("rounds", "show")["round"]["number"]
    told = ""

    def finished() -> dict[str, Any] | None:
        nonlocal told
        detail: dict[str, Any] = manager.prsm("rounds", "show", str(number))
        state = detail["round"]["state"]
        if state != told:
            say(f"round {number} ({method}): {state}, {time.monotonic() - begun:.0f} s")
            told = state
        return detail if state == "finished" else None

    detail: dict[str, Any] = wait_for(f"round {number}", finished, seconds=ROUND_S, every_s=0.5)
    detail["wall_s"] = time.monotonic() - begun
    return detail


def wait_for_the_end() -> None:
    """Leave the system running until Ctrl-C or SIGTERM."""
    say("running; end it with Ctrl-C")
    try:
        signal.pause()
    except KeyboardInterrupt:
        click.echo("ending ...")


def summary(
    manager: Manager, first: dict[str, Any], second: dict[str, Any], wall_s: float
) -> dict[str, Any]:
    """Return the figures of the RESULT line.

    Costs are volume x distance of the same measurements, so that random, balanced and the bound
    can be compared; `measured` is what the agents' logs of each round add up to.
    """
    plan = second["plan"]["agents"]
    hosts = manager.prsm("hosts", "list", "--limit", "1")["matching"]
    return {
        "pages": sum(agent["pages"] for agent in second["agents"]),
        "hosts": hosts,
        "hosts_discovered": hosts - SEEDS,
        "makespan_random_ms": round(max(agent["before_ms"] for agent in plan), 1),
        "makespan_balanced_ms": round(max(agent["after_ms"] for agent in plan), 1),
        "bound_ms": round(second["bound_ms"], 1),
        "measured_random_ms": first["round"]["makespan_ms"],
        "measured_balanced_ms": second["round"]["makespan_ms"],
        "wall_s": round(wall_s, 1),
    }


if __name__ == "__main__":
    main()
