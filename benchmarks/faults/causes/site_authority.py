"""The centre shows a site a certificate that it does not believe."""

from __future__ import annotations

from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.authority import Authority
from benchmarks.faults.system.site import busy_site

__all__ = ["FAULTS"]

LASTS_S: Final = 4.0


def _other_authority(trial: Trial) -> None:
    """A new authority has signed it; the site is given its file later, and is not started again."""
    site = busy_site(trial)
    fresh = Authority(site.folder / "authority", f"next{len(site.courier.messages)}")
    said = len(site.said())
    site.courier.tls = fresh.context(site.courier.host)
    trial.wait("it says what is wrong", lambda: "certificate" in site.said()[said:])
    trial.lasts(LASTS_S)
    pid = site.pid
    site.trust(fresh)
    trial.gone()
    trial.recovered()
    trial.claim("no start was needed", site.pid == pid)
    site.asks(trial)


FAULTS: Final = [
    Fault("site-authority-changed", "it says so; the new file is enough", _other_authority),
]
