"""An agent's process between a simulated web and a manager that a test plays."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shared.archive.reader import iter_captures
from simweb.launcher import SimulatedWeb
from tests.agent.app.fake_manager import FakeManager
from tools.demo.system import Agent, wait_for

__all__ = ["Scene", "scene"]

INTERVAL_S = 0.05
ON_ITS_WAY_S = 2.0  # from the agent to a site whose process a busy machine keeps waiting
SETTINGS = """\
[robot]
contact = "test@example.org"
info_url = "http://example.org/robot"

[manager]
timeout_s = 5.0
backoff_s = 0.2
max_backoff_s = 0.5

[politeness]
interval_s = {interval_s}
fast_host_interval_s = {interval_s}
delay_factor = 0.0

[limits]
first_byte_s = 2.0
total_s = 3.0
retry_delay_s = 0.2
public_suffix = false

[links]
disabled_kinds = ["well_known"]

[network]
source_address = "127.10.0.1"

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[disk]
reserve_bytes = 1000000

[reports]
log_interval_s = 0.5
"""


class Scene:
    """What a test looks at and does."""

    def __init__(
        self, home: Path, web: SimulatedWeb, manager: FakeManager, interval_s: float = INTERVAL_S
    ) -> None:
        self.web = web
        self.manager = manager
        self.home = home
        settings = SETTINGS.format(interval_s=interval_s, dns_port=web.dns_port)
        self.agent = Agent(self.home, manager.name, settings)
        self.agent.program.words = ["prs", "run"]

    def enrol(self) -> Scene:
        """Join the crawl."""
        self.agent.enrol(self.manager.url, self.manager.token)
        return self

    def give_all(self) -> None:
        """Hand all hosts of the web to the agent."""
        self.manager.give(*(self.web.url(host) for host in self.web.hosts))

    def once(self, *words: str, seconds: float = 60.0) -> int:
        """Start `prs run --once` and return its exit code."""
        program = self.agent.program
        program.words = ["prs", "run", "--once", *words]
        program.start()
        assert program.process is not None
        return program.process.wait(seconds)

    def until(self, what: str, ready: Callable[[], Any], seconds: float = 90.0) -> Any:
        """Wait until something is so, or fail with what the agent said."""
        try:
            return wait_for(what, ready, seconds=seconds, every_s=0.05)
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{self.said()}") from error

    def said(self) -> str:
        """Return what the agent said."""
        log = self.agent.program.log
        return log.read_text() if log.exists() else ""

    def status(self) -> dict[str, Any]:
        """Return `prs status --json`."""
        found: dict[str, Any] = json.loads(self.agent.prs("status", "--json"))
        return found

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests that sites saw, robots.txt and where it was moved to left out."""
        return [event for event in self.web.requests() if "/robots" not in event["path"]]

    def url_of(self, event: dict[str, Any]) -> str:
        """Return the URL of a request that a site saw."""
        return f"http://{event['host']}:{self.web.port}{event['path']}"

    def times_requested(self) -> Counter[str]:
        """Return how often each URL was asked for."""
        return Counter(self.url_of(event) for event in self.requests())

    def captures(self) -> Counter[str]:
        """Return how often each URL lies in the segments with a whole answer of 200."""
        found: Counter[str] = Counter()
        for path in sorted((self.home / "crawl" / "segments").iterdir()):
            if ".warc.gz" not in path.name or "links" in path.name:
                continue
            with path.open("rb") as file:
                for stored in iter_captures(file):
                    url = stored.capture.url
                    if stored.capture.status == 200 and "/robots" not in url:
                        found[url] += 1
        return found

    def logged(self) -> Counter[str]:
        """Return how often each URL, robots.txt left out, is in the logs that the manager has."""
        lines = self.manager.log_lines()
        return Counter(line.url for line in lines if "/robots" not in line.url)

    def quiet_for(self, seconds: float) -> bool:
        """Return whether no request begins for so long, once what was on its way has come."""
        time.sleep(ON_ITS_WAY_S)
        now = time.monotonic()
        time.sleep(seconds)
        return all(float(event["mono_start"]) <= now for event in self.web.requests())


@contextmanager
def scene(
    folder: Path,
    /,
    home: Path | None = None,
    *,
    interval_s: float = INTERVAL_S,
    **web_options: Any,
) -> Iterator[Scene]:
    """Give a scene with an enrolled agent that does not run yet; all of it is ended afterwards."""
    options: dict[str, Any] = {"hosts": 6, "regions": 1, "seeds": 0, "seed": 3}
    options |= {"pages_mean": 12, "pages_sigma": 0.6, "trouble_scale": 0, "crawl_delay_s": 0.2}
    with SimulatedWeb(folder / "web", **(options | web_options)) as web, FakeManager() as manager:
        it = Scene(home or folder / "prs", web, manager, interval_s).enrol()
        try:
            yield it
        finally:
            it.agent.stop()
