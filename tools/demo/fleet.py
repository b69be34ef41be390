"""A manager and an agent in each region of a simulated web, enrolled and running.

Settings are those of a fleet on one machine: everything on loopback, answers within a second.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tools.demo.system import Agent, Manager, wait_for

__all__ = ["PLACES", "FleetOptions", "place_agents", "start_agents", "start_manager"]

CALL_S: Final = 120.0
PLACES: Final = (
    ("35.03", "135.78"),
    ("43.07", "141.34"),
    ("26.25", "127.77"),
    ("38.26", "140.87"),
)
"""Where the agents of the first regions stand, in degrees north and east."""

MANAGER_SETTINGS: Final = """\
[policy]
tick_s = 0.3
sync_interval_s = 0.5
pending_sync_interval_s = 0.2
syncs_per_s = 1000.0
permit_s = {permit_s}
grace_s = {grace_s}
log_timeout_s = {log_grace_s}
refetch_share = 0.0
start_page_delay_s = 2.0
probe_pages = {probe_pages}
shared_address_domains = {shared_address_domains}
shared_least_interval_s = {shared_least_interval_s}

[limits]
uploads_per_minute = 100000

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[releases]
signer = "{signer}"
"""

AGENT_SETTINGS: Final = """\
[robot]
contact = "demo@example.org"
info_url = "http://example.org/robot"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = {interval_s}
fast_host_interval_s = {interval_s}
delay_factor = {delay_factor}

[limits]
first_byte_s = {first_byte_s}
total_s = {total_s}

[pages]
workers = {page_workers}

[network]
source_address = "127.10.{region}.1"
parallel_hosts = {parallel_hosts}

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[manager]
backoff_s = 0.5
max_backoff_s = 5.0

[disk]
reserve_bytes = 100000000

[reports]
log_interval_s = {report_s}
probe_log_delay_s = {probe_report_s}
"""


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """Options of the fleet. probe_pages: of a host; parallel_hosts, page_workers: of each agent.

    report_s, probe_report_s: how long lines of a log wait for others. signer: the socket of the
    signing process. permit_s, grace_s: how long an agent crawls without an answer of the manager,
    and how much later its units go to others. delay_factor: how many times as long as its last
    answer took an address rests. shared_address_domains, shared_least_interval_s: the rule of
    addresses that many sites share.
    """

    interval_s: float = 0.05
    probe_pages: int = 50
    parallel_hosts: int = 200
    page_workers: int = -1  # as many as the machine has cores
    log_grace_s: float = 5.0
    first_byte_s: float = 5.0
    total_s: float = 20.0
    report_s: float = 1.0
    probe_report_s: float = 0.3
    signer: str = "/run/prsm-signer/sign.sock"
    permit_s: float = 120.0
    grace_s: float = 30.0
    delay_factor: float = 0.0
    shared_address_domains: int = 20
    shared_least_interval_s: float = 0.2


def start_manager(
    stack: ExitStack, folder: Path, dns_port: int, options: FleetOptions = FleetOptions()
) -> Manager:
    """Start `prsm serve` with its data in `folder/manager`; the stack ends it."""
    settings = MANAGER_SETTINGS.format(dns_port=dns_port, **asdict(options))
    manager = Manager(folder / "manager", settings)
    stack.callback(manager.stop)
    return manager.start()


def start_agents(
    stack: ExitStack,
    manager: Manager,
    folder: Path,
    regions: int,
    dns_port: int,
    options: FleetOptions = FleetOptions(),
    *,
    url_of: Callable[[int], str] | None = None,
) -> list[Agent]:
    """Enrol and start the agent of each region, until all have called; the stack ends them.

    url_of: the URL by which the agent of a region reaches the manager; None: the manager's own.
    """
    agents = []
    for region in range(regions):
        name = f"robot.region{region}.example"
        token = manager.prsm("agents", "token", name)["token"]
        settings = AGENT_SETTINGS.format(region=region, dns_port=dns_port, **asdict(options))
        url = manager.url if url_of is None else url_of(region)
        agent = Agent(folder / name, name, settings).enrol(url, token)
        stack.callback(agent.stop)
        agents.append(agent.start())

    def called() -> bool:
        return all(one["last_contact"] == "sync" for one in manager.prsm("agents", "list"))

    # A round is for the agents that were there when it began.
    wait_for("agents", called, seconds=CALL_S, every_s=0.5)
    return agents


def place_agents(manager: Manager, regions: int) -> None:
    """Set the positions of the first regions' agents, so that the map shows them."""
    for region, (north, east) in enumerate(PLACES[:regions]):
        manager.run("agents", "place", "--", f"robot.region{region}.example", north, east)
