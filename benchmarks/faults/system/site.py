"""A partner's site on the common ground: one agent more, and all that may go wrong around it.

It calls the manager by https over a `Wire` and a `Courier`, whose certificate an authority of ours
signed, looks names up by way of a `NameRelay`, and keeps its home on a small disk. It stays on the
ground after the fault that asked for it first; each fault leaves it as it found it.
"""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.faults.evidence.observations import Request, requests_of
from benchmarks.faults.fault import TAKE_OVER_S, FaultError, Trial
from benchmarks.faults.system.authority import Authority
from benchmarks.faults.system.ground import PERMIT_S, Ground
from benchmarks.faults.system.small_disk import small_disk
from benchmarks.faults.transit.courier import Courier, courier
from benchmarks.faults.transit.name_relay import NameRelay, name_relay
from benchmarks.faults.transit.wire import Wire, needs_namespaces, wire
from tools.demo.system import Agent, CommandError

__all__ = ["Site", "busy_site", "site_of"]

DISK_MIB: Final = 24
MARGIN_S: Final = 2.25
"""A permit ends so much earlier at the agent: limits.total_s and politeness.interval_s."""
SENT_S: Final = 0.5  # a request that is under way when the permit ends, and what clocks differ by
WORK: Final = 10  # URLs
ROUNDS_S: Final = 120.0  # the round that is open ends, and the next hands out units
JOINS: Final = 4  # on a busy machine an answer may take longer than the agent waits
CA: Final = "ca.pem"
_SITES: weakref.WeakKeyDictionary[Ground, Site] = weakref.WeakKeyDictionary()


class Site:
    """Made by `site_of`."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.name = "site.example"
        self.number = len(ground.agents)
        self.address = f"127.10.{self.number}.1"
        self.folder = ground.folder / self.name
        self.wire: Wire | None = None
        self.courier: Courier
        self.names: NameRelay
        self.authority: Authority
        self.agent: Agent

    @property
    def home(self) -> Path:
        """Return the agent's home, alone on its small disk but for what fills that up."""
        return self.disk / "prs"

    @property
    def disk(self) -> Path:
        """Return where the small disk is mounted."""
        return self.folder / "disk"

    def settle(self) -> None:
        """Make all of it and start the agent; it is ended with the ground."""
        ground, keep = self.ground, self.ground.ending.enter_context
        keep(small_disk(self.disk, DISK_MIB))
        self.home.mkdir()
        if not needs_namespaces():
            self.wire = keep(wire())
        listener = self.wire.listener() if self.wire is not None else None
        host = self.wire.far if self.wire is not None else "127.0.0.1"
        self.names = keep(name_relay(ground.web.dns_port))
        self.authority = Authority(self.folder / "authority", "first")
        self.trust(self.authority)
        tls = self.authority.context(host)
        self.courier = keep(
            courier(int(ground.front.rpartition(":")[2]), listener, tls, front_tls=True)
        )
        self.agent = Agent(self.home, self.name, self.settings())
        self.agent.program.log = self.folder / "run.log"
        self.agent.program.words = ["prs", "run"]
        self.join()
        ground.ending.callback(self.agent.stop)
        ground.agents.append(self.agent.start())
        keep_up = ground.supervisor
        keep_up.watch(self.name, lambda: self.agent.program.running, self.agent.start)

    def join(self) -> None:
        """Join with a new token; at the second time the old key counts no more."""
        for left in range(JOINS, 0, -1):
            token = self.ground.call("POST", f"/agents/{self.name}/token")
            try:
                self.agent.enrol(self.courier.url, str(token["token"]))
            except CommandError as error:
                if left == 1:
                    raise FaultError(str(error)) from error
            else:
                return

    def trust(self, authority: Authority) -> None:
        """Write the file of the authority that the agent trusts, as a partner would."""
        part = self.home / (CA + ".part")
        part.write_bytes(authority.file.read_bytes())
        part.replace(self.home / CA)

    def settings(self, **manager: str) -> str:
        """Return prs.toml, but for its ways that of the others. manager: more of its group."""
        text = (self.ground.agents[0].home / "prs.toml").read_text()
        for name, value in (
            ("source_address", f'"{self.address}"'),
            ("servers", f'["127.0.0.1:{self.names.port}"]'),
            ("ca_file", f'"{CA}"'),
        ):
            text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        more = "".join(f'{name} = "{value}"\n' for name, value in manager.items())
        return text.replace("[manager]\n", "[manager]\n" + more)

    def write_settings(self, **manager: str) -> None:
        """Write prs.toml again; a running agent reads it without a restart."""
        part = self.home / "prs.toml.part"
        part.write_text(self.settings(**manager))
        part.replace(self.home / "prs.toml")

    @contextmanager
    def started_with(self, environment: Mapping[str, str]) -> Iterator[None]:
        """Run the agent with more in its environment while the block runs."""
        program, plain = self.agent.program, dict(self.agent.program.environment)
        try:
            self.start_again(environment)
            yield
        finally:
            program.environment = plain
            self.start_again({})

    def start_again(self, environment: Mapping[str, str]) -> None:
        """Stop the agent as a person would, and start it. environment: more than it has now."""
        program = self.agent.program
        with self.ground.supervisor.paused(self.name):
            program.stop()
            program.environment = {**program.environment, **environment}
            self.agent.start()

    @property
    def pid(self) -> int:
        """Return the agent's process."""
        assert self.agent.program.process is not None
        return self.agent.program.process.pid

    def said(self) -> str:
        """Return what the agent said so far."""
        log = self.agent.program.log
        return log.read_text(errors="replace") if log.exists() else ""

    def requests(self, since_s: float, address: str = "") -> list[Request]:
        """Return what it asked sites, from a moment on (CLOCK_MONOTONIC)."""
        found = requests_of(self.ground.web.log_path, {address or self.address: self.name})
        return [one for one in found if one.at_s >= since_s]

    def asks(self, trial: Trial) -> None:
        """Wait until it asks sites again: it may be the next round that gives it units."""
        since_s = time.monotonic()
        trial.wait("the site fetches", lambda: self.requests(since_s), seconds=ROUNDS_S)

    def queue(self) -> int:
        """Return how many URLs wait there, as it wrote down within the last second."""
        try:
            said = json.loads((self.home / "status.json").read_bytes())
        except (OSError, ValueError):
            return 0
        return int(said.get("queue", 0))

    def answered_s(self, since_s: float = 0.0) -> list[float]:
        """Return when syncs were sent that got an answer, from a moment on."""
        with self.courier.lock:
            return [
                one.at_s
                for one in self.courier.messages
                if one.name == "sync" and one.told == 200 and one.at_s >= since_s
            ]

    def last_answered_s(self) -> float:
        """Return when the newest sync was sent that got an answer."""
        return max(self.answered_s(), default=0.0)

    def owned(self) -> int:
        """Return how many units are the site's now."""
        rows = self.ground.postgres.run_sql(
            "SELECT count(*) FROM assignments s JOIN agents a ON a.id = s.agent_id "
            f"WHERE s.until_ms IS NULL AND a.name = '{self.name}'"
        )
        return int(str(rows[0][0]))

    def row(self, column: str) -> object:
        """Return what the manager's database says of the agent."""
        found = self.ground.postgres.run_sql(
            f"SELECT {column} FROM agents WHERE name = '{self.name}'"
        )
        return found[0][0]

    def permit_ended_s(self) -> float:
        """Return by when (CLOCK_MONOTONIC) it must be quiet, without an answer."""
        return self.last_answered_s() + PERMIT_S - MARGIN_S + SENT_S

    def counted_s(self) -> float:
        """Return when its permit of now ends, as the manager counts it: seconds since 1970."""
        return int(str(self.row("permit_until_ms"))) / 1000

    def taken_over(self, trial: Trial, counted_s: float) -> None:
        """Wait until all its units are others', and note how long after its permit that was."""
        trial.wait("its units are others'", lambda: not self.owned())
        trial.within("take-over", max(0.0, time.time() - counted_s), TAKE_OVER_S)


def site_of(ground: Ground) -> Site:
    """Return the site of a ground; the first call makes it."""
    found = _SITES.get(ground)
    if found is None:
        found = _SITES[ground] = Site(ground)
        found.settle()
    return found


def busy_site(trial: Trial) -> Site:
    """Return the site when it asks sites, and has enough to do for a while."""
    site = site_of(trial.ground)
    trial.wait("the site has work", lambda: site.queue() >= WORK, seconds=ROUNDS_S)
    site.asks(trial)
    return site
