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
from tools.demo.fleet import start_agents, start_manager
from tools.demo.rounds import run_round
from tools.demo.system import Manager
from tools.demo.table import table

HOSTS, REGIONS, SEEDS, PAGES_MEAN = 60, 4, 40, 8.0
ROUND_S = 240.0


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
        manager = start_manager(stack, folder, web.dns_port)
        login = add_login(manager)
        url = manager.url
        say(f"manager: {url}")
        start_agents(stack, manager, folder, REGIONS, web.dns_port)
        say(f"agents: {REGIONS}, one in each region")
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        first = run_round(manager, "random", seconds=ROUND_S, say=say)
        second = run_round(manager, "tree", seconds=ROUND_S, say=say)
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
