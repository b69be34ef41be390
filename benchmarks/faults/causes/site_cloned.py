"""The folder of a site is copied while its agent runs, and the copy is started: one key twice."""

from __future__ import annotations

import shutil
import signal
import time
from itertools import pairwise
from typing import Final

from benchmarks.faults.evidence.observations import Request
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.ground import PERMIT_S
from benchmarks.faults.system.site import busy_site
from tools.demo.system import Agent

__all__ = ["FAULTS"]

ADDRESS: Final = "127.10.9.1"
LASTS_S: Final = 2.5 * PERMIT_S


def _cloned(trial: Trial) -> None:
    """At most one of the two asks any unit at a time; the other gets the reason in words."""
    site = busy_site(trial)
    home = trial.folder / "copy"
    site.agent.program.send(signal.SIGSTOP)  # so that the copy is of one moment
    try:
        shutil.copytree(site.home, home, ignore=shutil.ignore_patterns("lock"))
    finally:
        site.agent.program.send(signal.SIGCONT)
    clone = Agent(home, site.name, site.settings().replace(site.address, ADDRESS))
    clone.program.log = trial.folder / "clone.log"
    clone.program.words = site.agent.program.words
    begun_s = time.monotonic()
    clone.start()
    try:
        trial.wait(
            "one gets the answer that there are two",
            lambda: any("409" in text for text in (clone.program.log.read_text(), site.said())),
        )
        trial.lasts(LASTS_S)
        both = [site.requests(begun_s), site.requests(begun_s, ADDRESS)]
        shared = list(_alternations(*both))
        trial.claim(f"one stops before the other begins, but {shared[:2]}", len(shared) <= 1)
        trial.claim("one of them works", any(both))
        trial.claim("the manager knows", bool(site.row("clone_reason")))
    finally:
        clone.stop()
    # The site's administrator stops the copy, and lets the site join again.
    with trial.ground.supervisor.paused(site.name):
        site.agent.stop()
        site.join()
        site.agent.start()
    trial.gone()
    trial.recovered()
    site.asks(trial)


def _alternations(mine: list[Request], its: list[Request]) -> list[str]:
    """Return requests of one after the other had begun: one hand-over is none too many."""
    told = sorted([(one.at_s, "site") for one in mine] + [(one.at_s, "copy") for one in its])
    return [
        f"{name} at {at_s:.1f} after {before}"
        for (_, before), (at_s, name) in pairwise(told)
        if name != before
    ]


FAULTS: Final = [Fault("site-cloned", "one fetches, the other gets the reason why not", _cloned)]
