"""A living system for whoever looks at the console: a web, a manager, robots, people.

Everything is brought about by shipped commands and by what agents call. Three robots crawl for two
rounds; then partners with plain agents join, and people leave their traces. It takes a minute or
two on a quiet machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from simweb.launcher import SimulatedWeb
from tools.demo.fleet import FleetOptions, place_agents, start_agents, start_manager
from tools.demo.rounds import describe, run_round
from tools.demo.system import Agent, Manager, wait_for
from tools.screenshots.people import add_partners, add_people, add_third_party
from tools.screenshots.releases import add_releases, fail_to_update
from tools.show_site.keys import People, Signing

__all__ = ["Stage", "set_stage"]

REGIONS: Final = 3
STALL_S: Final = 400.0
TRANSFERS_S: Final = 200.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The running manager, and the login to look at it.

    names: an address, a name or a number of each kind. people: who sign releases. agents: robots.
    """

    manager: Manager
    name: str
    password: str
    names: Mapping[str, str]
    people: People
    agents: list[Agent]


def set_stage(
    stack: ExitStack, folder: Path, *, hosts: int = 40, say: Callable[[str], None] = print
) -> Stage:
    """Start all of it in `folder`, which is new; the stack ends it. say: told how far it is."""
    web = stack.enter_context(
        SimulatedWeb(
            folder / "web", hosts=hosts, regions=REGIONS, seeds=hosts * 3 // 4, seed=3,
            pages_mean=6.0, pages_sigma=1.0, domain="example.jp", crawl_delay_s=0.1,
            robots=["error=0"], trouble_scale=0, trouble=["not-found=0.03", "cut=0.01"],
        )
    )  # fmt: skip
    signing = Signing(stack, folder)
    signing.people.meet()
    signing.start()
    options = FleetOptions(signer=str(signing.socket))
    manager = start_manager(stack, folder, web.dns_port, options)
    password = secrets.token_urlsafe(9)
    manager.add_user("admin", password, "admin")
    say(f"manager: {manager.url}")
    agents = start_agents(stack, manager, folder, REGIONS, web.dns_port)
    place_agents(manager, REGIONS)
    manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
    run_round(manager, "random", stall_s=STALL_S, show=lambda detail: say(describe(detail)))
    run_round(manager, "tree", stall_s=STALL_S, show=lambda detail: say(describe(detail)))
    say("segments come to the centre")
    _collect(manager)
    say("partners, people and a third party come")
    coming = add_partners(manager)
    add_third_party(manager, folder / "library")
    add_people(manager)
    add_releases(manager, signing.people)
    fail_to_update(manager, folder / "robot.region1.example")
    manager.prsm("plan")
    names = {**_names(manager), **coming}
    return Stage(manager, "admin", password, names, signing.people, agents)


def _names(manager: Manager) -> Mapping[str, str]:
    hosts = manager.prsm("hosts", "list", "--limit", "1")["hosts"]
    return {
        "host": hosts[0]["key"],
        "agent": "robot.region0.example",
        "round": "2",
        "plan": str(manager.prsm("plans")["plans"][0]["id"]),
        "client": "library",
        "user": "hana",
    }


def _collect(manager: Manager) -> None:
    for region in range(REGIONS):
        manager.prsm("collect", "now", f"robot.region{region}.example")

    def came() -> list[Any]:
        transfers = manager.prsm("collect", "transfers")
        return transfers if any(one["state"] == "accepted" for one in transfers) else []

    wait_for("segments", came, seconds=TRANSFERS_S, every_s=1.0)
