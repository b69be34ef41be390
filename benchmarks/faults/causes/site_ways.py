"""The ways of a site fail: its names, its proxy."""

from __future__ import annotations

from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.gatekeeper import gatekeeper
from benchmarks.faults.system.site import Site, busy_site
from benchmarks.faults.transit.wire import needs_namespaces

__all__ = ["FAULTS"]

LASTS_S: Final = 4.0
SILENT_S: Final = 20.0
PASSWORDS: Final = ("springtide", "autumnal")


def _no_names(trial: Trial) -> None:
    """No name server answers; hosts wait, and none is reported as gone."""
    site = busy_site(trial)
    site.start_again({})  # what it knew of names is forgotten
    site.names.silent = True
    try:
        trial.lasts(SILENT_S)
        trial.claim("it calls all the same", site.last_answered_s() > trial.begun_s)
    finally:
        site.names.silent = False
    trial.gone()
    trial.recovered()
    site.asks(trial)
    trial.claim(f"it asked ({site.names.unanswered} questions)", site.names.unanswered > 0)


def _proxy(trial: Trial) -> None:
    """A proxy that refuses everybody, comes back, and changes its password."""
    site = busy_site(trial)
    pid = site.pid
    with gatekeeper(PASSWORDS[0]) as gate:
        site.write_settings(proxy=gate.url())
        trial.wait("it calls through the proxy", lambda: gate.opened)
        said = len(site.said())
        gate.forbids = True
        gate.end_tunnels()
        trial.wait("it says that the proxy refuses", lambda: "proxy" in site.said()[said:])
        trial.lasts(LASTS_S)
        gate.forbids = False
        trial.gone()
        trial.recovered()
        said = len(site.said())
        gate.password = PASSWORDS[1]
        gate.end_tunnels()
        trial.wait("it says that the proxy wants a password", lambda: "407" in site.said()[said:])
        trial.lasts(LASTS_S)
        site.write_settings(proxy=gate.url())
        trial.gone()
        trial.recovered()
        trial.claim("it does not reveal the password", not _words(site))
        site.write_settings()
    trial.gone()
    trial.recovered()
    trial.claim("no start was needed", site.pid == pid)


def _words(site: Site) -> set[str]:
    """Return which of the passwords stand in what the agent said."""
    return {word for word in PASSWORDS if word in site.said()}


FAULTS: Final = [
    Fault("site-names-silent", "hosts wait, none is given up", _no_names),
    Fault(
        "site-proxy",
        "refuses, comes back, another password: no start",
        _proxy,
        needs=needs_namespaces,
    ),
]
