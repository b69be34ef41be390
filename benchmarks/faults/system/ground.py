"""The common ground: PostgreSQL, two managers behind nginx, agents, a web, and rounds under way.

All of it is shipped commands and shipped configuration (`deploy/nginx.conf`), each in a process of
its own. `supervisor` does what systemd does: it starts again what died, 2 s later. Rounds follow
each other, and each assigns all hosts again, so that rights change hands all the time. As root,
PostgreSQL and the managers' files have separate small disks (tmpfs).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.faults.check import Outside, Verdict, check
from benchmarks.faults.evidence.history import install
from benchmarks.faults.evidence.observations import Acknowledged, requests_of, sent_logs
from benchmarks.faults.evidence.watch import Sample, Watch
from benchmarks.faults.evidence.witness import Witness
from benchmarks.faults.fault import FaultError
from benchmarks.faults.system.postgres import Postgres
from benchmarks.faults.system.replica import START_S, Replica
from benchmarks.faults.system.small_disk import small_disk
from benchmarks.faults.system.supervisor import Supervisor
from benchmarks.faults.transit.line import Line
from simweb.launcher import SimulatedWeb
from tests.e2e.nginx import nginx_in_front
from tools.demo.system import Agent, wait_for
from tools.held_port import HeldPort

__all__ = ["Ground", "running_ground"]

AGENTS: Final = 3
INTERVAL_S: Final = 0.5
PERMIT_S: Final = 10.0  # the least that a policy may say
GAP_S: Final = 2.0
TERM_S: Final = 6.0  # database.leader_timeout_s, as shipped
DISK_MB: Final = {"postgres": 512, "files": 128}

AGENT_SETTINGS: Final = """\
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

[pages]
workers = 1

[network]
source_address = "{address}"

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[manager]
ca_file = "{certificate}"
timeout_s = 10.0
backoff_s = 0.3
max_backoff_s = 5.0

[disk]
reserve_bytes = 1000000

[reports]
log_interval_s = 1.0
probe_log_delay_s = 0.3
"""


class Ground:
    """All running programs. Agent number r crawls from 127.10.r.1 and calls by its own line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / "files"
        self.web: SimulatedWeb
        self.postgres: Postgres
        self.replicas: list[Replica] = []
        self.agents: list[Agent] = []
        self.agent_lines: list[Line] = []
        self.witness: Witness
        self.watch: Watch
        self.front = ""
        self.clocks_right = True
        self.supervisor = Supervisor()
        self.ending = ExitStack()  # of programs that faults add to the ground, and leave there

    def leader(self) -> Replica:
        """Wait until a manager leads, and return it."""
        return self._one_that(leads=True)

    def follower(self) -> Replica:
        """Wait until a manager leads, and return the other."""
        return self._one_that(leads=False)

    def _one_that(self, *, leads: bool) -> Replica:
        def found() -> Replica | None:
            latest = self.watch.latest
            leader = latest.leader if latest and latest.at_s > time.monotonic() - 1 else ""
            at = [one for one in self.replicas if one.leads(leader)]
            others = [one for one in self.replicas if one not in at and one.program.running]
            return (at if leads else others)[0] if at and (leads or others) else None

        one: Replica = wait_for("a manager that leads", found, seconds=START_S)
        return one

    def sample(self) -> Sample:
        """Return what the database said last."""
        latest = self.watch.latest
        assert latest is not None
        return latest

    def call(self, method: str, path: str, /, **json: Any) -> Any:
        """Ask a manager that answers, as its administrator. Raises FaultError."""
        problem = "no manager runs"
        for one in self.replicas:
            if one.program.running:
                try:
                    return one.call(method, path, **json)
                except FaultError as error:
                    problem = str(error)
        raise FaultError(problem)

    def round_is_open(self) -> bool:
        """Return whether a round is under way, as the database says."""
        return bool(self.postgres.run_sql("SELECT 1 FROM rounds WHERE open IS NOT NULL"))

    def check(self) -> Verdict:
        """Judge everything since the beginning."""
        agents = {f"127.10.{number}.1": agent.name for number, agent in enumerate(self.agents)}
        # Requests that came in just now may be before the newest mark.
        time.sleep(0.3)
        last_s = self.watch.marks[-1].before_s if self.watch.marks else 0.0
        requests = [one for one in requests_of(self.web.log_path, agents) if one.at_s <= last_s]
        verdict = check(
            self.postgres.url,
            [*self.witness.acknowledged, *self._sent()],
            files=self.files,
            clocks_right=self.clocks_right,
            outside=Outside(requests, list(self.watch.marks)),
        )
        verdict.counted["requests"] = len(requests)
        polite = self.web.judge(interval_ms=INTERVAL_S * 1000)
        verdict.other += [] if polite.ok else list(polite.lines())
        found = self.call("GET", "/check")["findings"]
        verdict.other += [f"prsm check: {each}" for each in found]
        return verdict

    def _sent(self) -> Iterator[Acknowledged]:
        for agent in self.agents:
            for path in sent_logs(agent.home):
                yield Acknowledged(agent.name, hashlib.sha256(path.read_bytes()).hexdigest())


@contextmanager
def running_ground(folder: Path) -> Iterator[Ground]:
    """Start everything, and end it with the block. Raises FaultError."""
    ground = Ground(folder)
    folder.chmod(0o711)  # PostgreSQL's user has to get to its folder
    with ExitStack() as stack, ground.ending:
        ground.web = stack.enter_context(
            SimulatedWeb(
                folder / "web", hosts=12, seeds=0, regions=4, pages_mean=12.0, pages_sigma=0.5,
                trouble_scale=0, names_per_address=1.2, delay_ms=1.0, bandwidth_kb_s=0.0,
                robots=["crawl-delay=0", "error=0"], seed=11,
            )
        )  # fmt: skip
        _start_postgres(ground, stack)
        _start_managers(ground, stack)
        _start_agents(ground, stack)
        ground.witness = Witness(
            "witness.example", ground.front, _token(ground, "witness.example"),
            folder / "acknowledged.jsonl",
        )  # fmt: skip
        ground.watch = Watch(ground.postgres.url, ground.witness, lambda: _running(ground))
        stack.callback(ground.watch.close)
        stack.callback(ground.supervisor.close)
        ground.replicas[0].prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        wait_for("each agent's first call", lambda: _all_called(ground), seconds=START_S)
        _supervise(ground)
        wait_for("a round that crawls", lambda: _crawls(ground), seconds=START_S)
        yield ground


def _start_postgres(ground: Ground, stack: ExitStack) -> None:
    folder = ground.folder / "postgres"
    ground.postgres = Postgres(folder, stack.enter_context(HeldPort()), {})
    stack.enter_context(small_disk(folder, DISK_MB["postgres"], ground.postgres.user))
    stack.callback(ground.postgres.stop)
    ground.postgres.make()


def _start_managers(ground: Ground, stack: ExitStack) -> None:
    stack.enter_context(small_disk(ground.files, DISK_MB["files"]))
    settings = {"files": ground.files, "permit_s": PERMIT_S, "gap_s": GAP_S,
                "reserve_bytes": 1_000_000, "dns_port": ground.web.dns_port}  # fmt: skip
    for name in ("one", "two"):
        replica = Replica(ground.folder / name, ground.postgres, name, settings)
        stack.callback(replica.close)
        ground.replicas.append(replica)
        replica.start()
    install(ground.postgres.url)
    port = stack.enter_context(HeldPort())
    ports = [one.port for one in ground.replicas]
    ground.front = stack.enter_context(
        nginx_in_front(
            ground.folder / "front", ports[0], ground.files / "archive", port, others=ports[1:]
        )
    )


def _start_agents(ground: Ground, stack: ExitStack) -> None:
    for number in range(AGENTS):
        line = Line(int(ground.front.rpartition(":")[2]))
        stack.callback(line.close)
        ground.agent_lines.append(line)
        name = f"a{number}.example"
        settings = AGENT_SETTINGS.format(
            interval_s=INTERVAL_S,
            address=f"127.10.{number}.1",
            dns_port=ground.web.dns_port,
            certificate=ground.folder / "front" / "cert.pem",
        )
        agent = Agent(ground.folder / name, name, settings)
        agent.enrol(f"https://127.0.0.1:{line.port}", _token(ground, name))
        stack.callback(agent.stop)
        ground.agents.append(agent.start())


def _supervise(ground: Ground) -> None:
    keep = ground.supervisor
    keep.watch("postgres", lambda: ground.postgres.running, ground.postgres.start)
    for one in ground.replicas:
        keep.watch(one.name, lambda o=one: o.program.running, one.begin)  # type: ignore[misc]
    for agent in ground.agents:
        keep.watch(agent.name, lambda a=agent: a.program.running, agent.start)  # type: ignore[misc]
    keep.start(lambda: _next_round(ground))


def _next_round(ground: Ground) -> None:
    """Begin a round where none is under way; that one is, is what a manager answers otherwise."""
    number = int(time.monotonic())
    ground.call("POST", "/rounds", method="random", probe=False, seed=number, moves=1.0)


def _token(ground: Ground, name: str) -> str:
    told = ground.replicas[0].prsm("agents", "token", name)
    return str(told["token"])


def _running(ground: Ground) -> list[str]:
    return [one.name for one in ground.agents if one.program.running]


def _all_called(ground: Ground) -> bool:
    latest = ground.watch.latest
    return latest is not None and all(
        not latest.syncs.get(one.name, " 0").endswith(" 0") for one in ground.agents
    )


def _crawls(ground: Ground) -> bool:
    return bool(ground.postgres.run_sql("SELECT 1 FROM rights WHERE kind = 'crawl' LIMIT 1"))
