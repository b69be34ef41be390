"""Messages between a site and the centre that come twice, late, or whose answers are lost."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.site import Site, busy_site
from benchmarks.faults.transit.courier import Message, straight
from benchmarks.faults.transit.ways import AnswersLost, Shuffled

__all__ = ["FAULTS"]

LEAST: Final = 6  # of each kind


def _shuffled(trial: Trial) -> None:
    """Each report twice, syncs after later ones, and old ones again at the end."""
    site = busy_site(trial)
    before = _refused(site)
    way = Shuffled(random.Random(17))
    site.courier.way = way
    try:
        trial.wait(
            "messages come twice, late, and again",
            lambda: min(way.twice, way.late, way.again) >= LEAST and _came_twice(site),
        )
    finally:
        site.courier.way = straight
    way.bring_all(site.courier.deliver)
    trial.gone()
    trial.recovered()
    no_harm = all({answer.status for answer in one.delivered} <= {200} for one in _came_twice(site))
    trial.claim("a report that came again was answered as taken", no_harm)
    trial.claim("the manager does not take it for a clone", not site.row("clone_reason"))
    _goes_on(trial, site, before)


def _came_twice(site: Site) -> list[Message]:
    """Return the reports that were brought more than once."""
    return [one for one in site.courier.named("submitlog") if len(one.delivered) > 1]


def _answers_lost(trial: Trial) -> None:
    """The manager commits, and every second answer is lost."""
    site = busy_site(trial)
    before = _refused(site)
    way = AnswersLost()
    site.courier.way = way
    try:
        trial.wait("answers are lost", lambda: way.lost >= LEAST)
    finally:
        site.courier.way = straight
    trial.gone()
    trial.recovered()
    _goes_on(trial, site, before)


def _refused(site: Site) -> set[Path]:
    """Return what says why reports were refused; a clone's are, before this fault."""
    return set((site.home / "outbox" / "refused").glob("*.reason"))


def _goes_on(trial: Trial, site: Site, before: set[Path]) -> None:
    reasons = [path.read_text().strip() for path in _refused(site) - before]
    trial.claim(f"no report was refused, but {reasons[:3]}", not reasons)
    site.asks(trial)


FAULTS: Final = [
    Fault("site-messages-shuffled", "twice, late, again: nothing happens twice", _shuffled),
    Fault("site-answers-lost", "accepted data is not lost, nor accepted twice", _answers_lost),
]
