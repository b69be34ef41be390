"""A bad line between a site and the centre: it loses packets, is slow, or late."""

from __future__ import annotations

import time
from typing import Final

from benchmarks.faults.causes.site_away import wire_of
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.site import Site, busy_site
from benchmarks.faults.transit.wire import needs_namespaces

__all__ = ["FAULTS"]

CALLS: Final = 5  # that are answered over the bad line
PERCENT: Final = 30
KBIT_S: Final = 24
DELAY_S: Final = 0.7


def _loses(trial: Trial) -> None:
    """Of a hundred packets thirty are lost, each way (nftables: kernels without netem exist)."""
    site = busy_site(trial)
    wire = wire_of(site)
    wire.lose(PERCENT)
    try:
        _goes_on(trial, site)
    finally:
        wire.lose_nothing()
    trial.gone()


def _slow(trial: Trial) -> None:
    """24 kbit/s each way, by `tc tbf`."""
    site = busy_site(trial)
    wire = wire_of(site)
    wire.throttle(KBIT_S)
    try:
        _goes_on(trial, site)
    finally:
        wire.full_speed()
    trial.gone()


def _late(trial: Trial) -> None:
    """Delay each piece that an agent and the centre send each other by 0.7 s."""
    ground = trial.ground
    name, line = ground.agents[0].name, ground.agent_lines[0]
    seen = {ground.sample().syncs.get(name)}

    def calls() -> bool:
        seen.add(ground.sample().syncs.get(name))
        return len(seen) > CALLS

    line.delay_s = DELAY_S
    try:
        trial.wait("it calls over the slow line", calls)
    finally:
        line.delay_s = 0.0
    trial.gone()


def _goes_on(trial: Trial, site: Site) -> None:
    begun_s = time.monotonic()
    trial.wait("it calls over the bad line", lambda: len(site.answered_s(begun_s)) >= CALLS)


def _needs_loss() -> str:
    return needs_namespaces("nft")


def _needs_rate() -> str:
    return needs_namespaces("tc")


FAULTS: Final = [
    Fault("site-line-loses", "30% of the packets: it continues", _loses, needs=_needs_loss),
    Fault("site-line-slow", "24 kbit/s by tbf: it continues", _slow, needs=_needs_rate),
    Fault("site-line-late", "0.7 s later each way: it continues", _late),
]
