"""Hosts that all have turns: so many of them at the usual interval, in fake time.

    python -m benchmarks.frontier.wheel FOLDER HOSTS SECONDS IN_MEMORY [INTERVAL_S UNMEASURED_S]

Every host has a separate address, a robots.txt and pages in its queue. The real ledger, resolve,
frontier and robots run; each answer comes with the next tick, 0.1 s later. IN_MEMORY: addresses; of
more, each one is loaded for its turn. UNMEASURED_S: runs so long before it counts turns and CPU
time, so that no host has its first turn in what is measured. The last line on standard output is
JSON; `ideal_s` is when the last host has its first page where nothing but its interval and the
connections hold it up.
"""

from __future__ import annotations

import json
import sys
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.rules_file import RulesFile
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.robots.robots import Robots
from agent.pipeline.messages.pages import Candidate
from agent.pipeline.messages.requests import Denied, Due
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesKnown
from benchmarks.frontier.stage import fill, open_jobs, peak_rss_mb
from benchmarks.frontier.traffic import (
    PAGE_LINKS,
    Traffic,
    _Clock,
)
from shared.archive.encode import SegmentInfo

INTERVAL_S: Final = 20.0
TICK_S: Final = 0.1
COMMIT_S: Final = 1.0
CONNECTIONS: Final = 2000
PAGES_MET: Final = 400_000
"""At most so many pages were met before, of ten links each: four a host, one of more hosts."""
ROBOTS: Final = b"User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\nAllow: /private/x\n"


@dataclass
class Wheel(Traffic):
    """Traffic in which time counts. Times are by job, 0: none yet."""

    interval_s: float = INTERVAL_S
    turns: int = 0

    def __post_init__(self) -> None:
        """Build the modules; `robots` is to be set."""
        super().__post_init__()
        self.robots: Robots
        self.in_flight: list[Due | RulesDue] = []
        self.first_request_s, self.first_page_s, self.last_end_s = (
            array("d", bytes(8 * (self.hosts + 1))) for _ in range(3)
        )

    def run(self, seconds: float) -> None:
        """Run the modules until so much time has passed."""
        end_s, commit_s = self.now_s + seconds, self.now_s
        while self.now_s < end_s:
            self.now_s += TICK_S
            self._turn()
            if self.now_s >= commit_s:
                self.ledger.commit()
                commit_s = self.now_s + COMMIT_S
        self.ledger.commit()

    def _turn(self) -> None:
        found: list[Candidate] = []
        ended, self.in_flight = self.in_flight, []
        for due in ended:
            self.last_end_s[_job(due)] = self.now_s
            if isinstance(due, RulesDue):
                list(self.frontier.handle_ended([self._answer(due, 90)]))
                fetched = RulesFetched(due.host, due.address, 200, ROBOTS)
                for _, known in self.robots.handle_fetched([fetched]):
                    assert isinstance(known, RulesKnown)
                    list(self.frontier.handle_rules_known([known]))
            else:
                self._end_page(due, found)
        for message in self._begin_requests():
            if isinstance(message, RulesDue):
                self._begin(message)
            else:
                self._check(message)
        self._take_links(found)

    def _check(self, due: Due) -> None:
        for name, message in self.robots.handle_due([due]):
            if name == "denied":
                assert isinstance(message, Denied)
                raise AssertionError(f"{due.url} was denied: {message.rule or 'no rules'}")
            if name == "allowed":
                self.first_page_s[due.job] = self.first_page_s[due.job] or self.now_s
                self._begin(due)

    def _begin(self, due: Due | RulesDue) -> None:
        job = _job(due)
        rested_s = self.now_s - self.last_end_s[job]
        assert rested_s >= self.interval_s - 1e-6, f"{due.address} rested {rested_s} s"
        self.first_request_s[job] = self.first_request_s[job] or self.now_s
        self.in_flight.append(due)
        self.turns += 1


def _job(due: Due | RulesDue) -> int:
    return due.job if isinstance(due, Due) else int(due.host.split(".")[1][1:])


def main() -> None:
    """Run it."""
    folder, hosts, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    in_memory = int(sys.argv[4])
    interval_s = float(sys.argv[5]) if len(sys.argv) > 5 else INTERVAL_S
    unmeasured_s = float(sys.argv[6]) if len(sys.argv) > 6 else 0.0
    options = LedgerOptions(
        agent="bench.example", info=SegmentInfo("prsm/bench", "bench", "mailto:robot@bench.example")
    )
    ledger = SqliteLedger.open(folder, options, SystemClock())
    open_jobs(ledger, hosts)
    page = fill(ledger, hosts, 0, PAGE_LINKS * max(hosts, min(4 * hosts, PAGES_MET)))
    limits = CrawlLimits(
        parallel=CONNECTIONS, pages_per_host=1 << 40, addresses_in_memory=in_memory
    )
    politeness = Politeness(interval_s=interval_s, fast_interval_s=interval_s, times_last=0)
    wheel = Wheel(ledger, hosts, page, politeness=politeness, limits=limits, interval_s=interval_s)
    wheel.robots = Robots("PRS", False, _Clock(wheel), limits, RulesFile(folder))
    begin_s = wheel.now_s
    wheel.run(unmeasured_s)
    wheel.turns = 0
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    wheel.run(seconds)
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    rate = CONNECTIONS / TICK_S
    ideal_s = max(hosts / rate, interval_s)
    first_s = max(wheel.first_request_s) - begin_s
    result = {
        "hosts": hosts,
        "in_memory": in_memory,
        "turns": wheel.turns,
        "turns_per_s": round(wheel.turns / cpu_s),
        "us_per_turn": round(cpu_s / wheel.turns * 1e6, 1),
        "wall_s": round(wall_s, 1),
        "without_request": wheel.first_request_s.count(0.0) - 1,
        "without_page": wheel.first_page_s.count(0.0) - 1,
        "first_request_last_host_s": round(first_s, 1),
        "first_page_last_host_s": round(max(wheel.first_page_s) - begin_s, 1),
        "ideal_s": ideal_s,
        "rss_mb": peak_rss_mb(),
    }
    ledger.abandon()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
