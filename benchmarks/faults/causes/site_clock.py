"""A site whose clock is wrong by 30 days, and jumps there and back (libfaketime).

`monotonic`: CLOCK_MONOTONIC and CLOCK_BOOTTIME are wrong too. Those never jump while a process runs
(`site-stopped` has what sleep does to them), so it starts with them, and again without.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.faults.causes.clocks import (
    environment,
    in_other_time,
    needs_time_namespaces,
    set_clock,
)
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.needs import needs_faketime
from benchmarks.faults.system.site import Site, busy_site

__all__ = ["FAULTS"]

LINES: Final = 5
QUARANTINED: Final = """
SELECT coalesce(sum(r.quarantined), 0), coalesce(sum(r.lines), 0)
FROM reports r JOIN agents a ON a.id = r.agent_id WHERE a.name = '{name}'
"""


def _jumps(trial: Trial, days: int) -> None:
    """The time of day only, while the agent runs: there and back."""
    site = busy_site(trial)
    offset = trial.folder / "clock"
    set_clock(offset, 0)
    with site.started_with(environment(offset, monotonic=False)):
        trial.gone()
        trial.recovered()
        for wrong in (days, 0):
            set_clock(offset, wrong)
            trial.gone()
            trial.recovered()
            _believed(trial, site, f"wrong by {wrong} days")
    trial.gone()


def _starts(trial: Trial, days: int) -> None:
    """All its clocks are wrong from its start on: what it remembers is of the past, or to come."""
    site = busy_site(trial)
    offset = trial.folder / "clock"
    set_clock(offset, days)
    program, words = site.agent.program, site.agent.program.words
    program.words = in_other_time(words, days)
    try:
        with site.started_with(environment(offset, monotonic=False)):
            trial.gone()
            trial.recovered()
            _believed(trial, site, f"wrong by {days} days from the start on")
            program.words = words
    finally:
        program.words = words
    trial.gone()


def _judged(site: Site) -> tuple[int, int]:
    """Return how many lines of the site's logs were put aside, and how many there are."""
    row = site.ground.postgres.run_sql(QUARANTINED.format(name=site.name))[0]
    return int(str(row[0])), int(str(row[1]))


def _believed(trial: Trial, site: Site, when: str) -> None:
    """Check that its fetches count: the manager knows from its own clock what the agent held."""
    before = _judged(site)
    site.asks(trial)
    trial.wait("a report of the site", lambda: _judged(site)[1] > before[1] + LINES)
    aside, lines = (after - was for after, was in zip(_judged(site), before, strict=True))
    trial.claim(f"{when}: its lines count, but {aside} of {lines} were put aside", not aside)


def _faults() -> list[Fault]:
    promise = "it continues, and its log lines count"
    made = []
    for days in (30, -30):
        jumps, starts = partial(_jumps, days=days), partial(_starts, days=days)
        name = f"site-clock{days:+d}d"
        made.append(Fault(name, promise, jumps, needs=needs_faketime))
        made.append(Fault(f"{name}-monotonic", promise, starts, needs=needs_time_namespaces))
    return made


FAULTS: Final = _faults()
