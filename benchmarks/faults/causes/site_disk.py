"""A site's disk is full to the last byte in the middle of a crawl, then there is room again."""

from __future__ import annotations

import time
from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.needs import needs_mounting
from benchmarks.faults.system.site import busy_site
from benchmarks.faults.system.small_disk import fill, is_small_disk
from tests.e2e.killings import check_segments

__all__ = ["FAULTS"]

LASTS_S: Final = 8.0
SETTLES_S: Final = 6.0  # requests that were under way, and the look at the disk


def _full(trial: Trial) -> None:
    site = busy_site(trial)
    assert is_small_disk(site.disk)
    filled = fill(site.disk)
    try:
        full_s = time.monotonic()
        trial.wait("the manager hears that it pauses", lambda: site.row("state") == "paused")
        trial.lasts(LASTS_S)
        late = site.requests(full_s + SETTLES_S)
        trial.claim(f"it fetches nothing that it cannot keep, but {late[:3]}", not late)
        trial.claim("it says why", "disk" in str(site.row("state_reason")))
        trial.claim("it runs", site.agent.program.running)
    finally:
        filled.unlink()
    trial.gone()
    trial.recovered()
    site.asks(trial)
    with trial.ground.supervisor.paused(site.name):
        site.agent.stop()
        problem = ""
        try:
            check_segments(site.home / "crawl" / "segments")  # by readers that are not ours
        except AssertionError as error:
            problem = str(error)
        trial.claim(f"all segments are whole: {problem}", not problem)
        site.agent.start()
    trial.gone()


FAULTS: Final = [
    Fault(
        "site-disk-full",
        "it waits, reports it, continues; all is whole",
        _full,
        needs=needs_mounting,
    )
]
