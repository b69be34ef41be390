"""A site that is away for a while: its line is cut, or its agent sleeps."""

from __future__ import annotations

import signal
import time
from typing import Final

from benchmarks.faults.fault import Fault, FaultError, Trial
from benchmarks.faults.system.ground import PERMIT_S
from benchmarks.faults.system.site import Site, busy_site
from benchmarks.faults.transit.wire import Wire, needs_namespaces

__all__ = ["FAULTS"]

SHORT_S: Final = 4.0


def wire_of(site: Site) -> Wire:
    """Return the site's line. Raises FaultError."""
    if site.wire is None:
        raise FaultError("no network namespace could be made here")
    return site.wire


def _cut_shorter(trial: Trial) -> None:
    """Sites are asked all the time: the permit lasts."""
    site = busy_site(trial)
    wire = wire_of(site)
    epoch = site.row("permit_epoch")
    wire.cut()
    try:
        cut_s = time.monotonic()
        trial.lasts(SHORT_S)
        trial.claim(
            "it continues to fetch under its permit",
            bool(site.requests(cut_s + 1)) or not site.queue(),
        )
    finally:
        wire.mend()
    trial.gone()
    trial.recovered()
    trial.claim("its permit was not ended", site.row("permit_epoch") == epoch)


def _cut_longer(trial: Trial) -> None:
    """It stops by itself when its permit ends, before anybody else begins, and comes back."""
    site = busy_site(trial)
    wire = wire_of(site)
    wire.cut()
    try:
        counted_s = site.counted_s()
        trial.lasts(PERMIT_S)
        site.taken_over(trial, counted_s)
        _no_request_after(trial, site, site.permit_ended_s())
    finally:
        wire.mend()
    trial.gone()
    trial.recovered()
    site.asks(trial)


def _stopped(trial: Trial) -> None:
    """SIGSTOP past its permit; its units are others' then, and it finds out before it asks."""
    site = busy_site(trial)
    site.agent.program.send(signal.SIGSTOP)
    stopped_s = time.monotonic()
    try:
        counted_s = site.counted_s()
        trial.lasts(PERMIT_S)
        site.taken_over(trial, counted_s)
    finally:
        continued_s = time.monotonic()
        site.agent.program.send(signal.SIGCONT)
    trial.gone()
    trial.recovered()
    synced_s = site.last_answered_s()
    trial.claim("it called", synced_s > continued_s)
    early = [
        one
        for one in site.requests(stopped_s + 1)
        if one.at_s < min(site.answered_s(continued_s), default=float("inf"))
    ]
    trial.claim(f"not one request before its next sync, but {early[:3]}", not early)
    site.asks(trial)


def _no_request_after(trial: Trial, site: Site, moment_s: float) -> None:
    late = site.requests(moment_s)
    trial.claim(f"no request after the permit's end, but {late[:3]}", not late)


FAULTS: Final = [
    Fault(
        "site-cut-shorter",
        "shorter than its permit: it continues",
        _cut_shorter,
        needs=needs_namespaces,
    ),
    Fault(
        "site-cut-longer",
        "it stops at its permit's end, and comes back",
        _cut_longer,
        needs=needs_namespaces,
    ),
    Fault("site-stopped", "past its permit: no request before a sync", _stopped),
]
