"""`make demo`: from nothing to a running system, two rounds, and a table.

A simulated web of 60 hosts in 4 regions, a manager on SQLite, and an agent in each region, with
intervals shortened. Round 1 probes the hosts and hands them out at random; round 2 plans by the
default method, for the earliest end of the whole crawl, and crawls again. Hosts that only links
lead to are found, probed and assigned on the way. The last line is `RESULT ` and JSON.
"""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from simweb.launcher import SimulatedWeb, StartError
from tools.demo.fleet import place_agents, start_agents, start_manager
from tools.demo.rounds import NoProgressError, ProgressLine, counts, describe, run_round
from tools.demo.system import CommandError, Manager
from tools.demo.table import table

HOSTS, REGIONS, SEEDS, PAGES_MEAN = 60, 4, 40, 8.0
STALL_S = 240.0
LOGIN = "admin"


@click.command()
@click.option("--keep", is_flag=True, help="Leave the system running until Ctrl-C.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated web.")
@click.option("--folder", default=".demo", type=click.Path(path_type=Path), show_default=True)
def main(keep: bool, seed: int, folder: Path) -> None:
    """Show a whole PRSM at work on this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    # A demonstration ended by SIGTERM ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    progress = ProgressLine(sys.stdout)
    try:
        with ExitStack() as stack:
            demonstrate(stack, folder, progress, keep=keep, seed=seed)
    except (CommandError, NoProgressError, StartError, TimeoutError) as error:
        progress.end()
        raise click.ClickException(f"{error}\nThe logs: {', '.join(logs(folder))}") from error


def demonstrate(
    stack: ExitStack, folder: Path, progress: ProgressLine, *, keep: bool, seed: int
) -> None:
    """Start everything, run both rounds and print the table; the stack ends all processes."""
    begun = time.monotonic()
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
    progress.say(
        f"simulated web: {HOSTS} hosts in {REGIONS} regions, {SEEDS} of them known at first"
    )
    manager = start_manager(stack, folder, web.dns_port)
    progress.say(f"manager: {manager.url}")
    start_agents(stack, manager, folder, REGIONS, web.dns_port)
    place_agents(manager, REGIONS)
    progress.say(f"agents: {REGIONS}, one in each region")
    manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
    first, second = (
        run_round(manager, method, stall_s=STALL_S, show=shown_round(progress, begun))
        for method in ("random", "default")
    )
    result = summary(manager, first, second, time.monotonic() - begun)
    progress.say("")
    progress.say(table(first, second, result))
    progress.say("")
    if keep:
        password = secrets.token_urlsafe(9)
        manager.add_user(LOGIN, password, "admin")
        progress.say(f"console: {manager.url}/console/   user {LOGIN}, password {password}")
    else:
        progress.say("The system is ended; `make demo KEEP=1` leaves it running, with its console.")
    click.echo("RESULT " + json.dumps(result))
    if keep:
        wait_for_the_end()


def shown_round(progress: ProgressLine, begun: float) -> Callable[[dict[str, Any]], None]:
    """Return what shows the progress of a round: a bar, pages, probes or units."""

    def show(detail: dict[str, Any]) -> None:
        name = f"round {detail['round']['number']} ({detail['round']['method']})"
        done, total = counts(detail)
        words = f"{name}: {describe(detail)}, {time.monotonic() - begun:.0f} s"
        progress.show(words, detail["round"]["state"], done, total)

    return show


def logs(folder: Path) -> list[str]:
    """Return the paths of the logs of everything that was started."""
    return [str(path) for path in sorted([*folder.glob("*.log"), *folder.glob("*/run.log")])]


def wait_for_the_end() -> None:
    """Leave the system running until Ctrl-C or SIGTERM."""
    click.echo("running; end it with Ctrl-C")
    try:
        signal.pause()
    except KeyboardInterrupt:
        click.echo("ending ...")


def summary(
    manager: Manager, first: dict[str, Any], second: dict[str, Any], wall_s: float
) -> dict[str, Any]:
    """Return the figures of the RESULT line.

    Planned costs are volume x distance of the same measurements, and planned ends are by the
    predictor, so that random, balanced and the bound can be compared. `measured` is what the
    agents' logs of each round add up to, `crawl_s` the seconds from a plan's application to the
    last page of its round.
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
        "end_random_ms": second["plan"]["time"]["end_before_ms"],
        "end_balanced_ms": second["plan"]["time"]["end_ms"],
        "end_bound_ms": second["plan"]["time"]["end_bound_ms"],
        "measured_random_ms": first["round"]["makespan_ms"],
        "measured_balanced_ms": second["round"]["makespan_ms"],
        "crawl_random_s": crawl_s(first),
        "crawl_balanced_s": crawl_s(second),
        "wall_s": round(wall_s, 1),
    }


def crawl_s(detail: dict[str, Any]) -> float:
    """Return the seconds that the crawl of a finished round took, by the manager's clock."""
    elapsed_ms: float = detail["round"]["elapsed_ms"]
    return round(elapsed_ms / 1000, 1)


if __name__ == "__main__":
    main()
