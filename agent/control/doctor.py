"""Checks of a site before an agent can work, with remedies.

Facts in, judgements out; the facts are gathered by `agent.app.site.diagnosis`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from shared.frozen import frozen
from shared.naming import HostAnswer, HostFailure, failure_words
from shared.plurals import with_plurals
from shared.windows import Windows

__all__ = [
    "Check",
    "check_clock",
    "check_disk",
    "check_files",
    "check_hours",
    "check_names",
]

CLOCK_S: Final = 60.0
"""A clock that is off by more confuses people who read logs; permits do not depend on it."""


@frozen
class Check:
    """One line of `prs doctor`. remedy: what to do; empty: nothing."""

    name: str
    said: str
    remedy: str = ""

    @property
    def passed(self) -> bool:
        """Return whether nothing need be done."""
        return not self.remedy


def check_disk(free_bytes: int, reserve_bytes: int, segment_bytes: int) -> Check:
    """Judge the room on the disk: the reserve, and one segment to begin with."""
    said = f"{free_bytes / 1e9:.1f} GB free, {reserve_bytes / 1e9:.1f} GB of them left to others"
    if free_bytes < reserve_bytes:
        return Check("disk", said, "make room, or lower disk.reserve_bytes: the crawl is paused")
    if free_bytes < reserve_bytes + segment_bytes:
        return Check(
            "disk", said, f"make room for a segment of {segment_bytes / 1e9:.1f} GB at least"
        )
    return Check("disk", said)


def check_files(hard_limit: int, wanted: int, parallel_hosts: int) -> Check:
    """Judge how many files this user may have open."""
    said = with_plurals(
        f"{hard_limit} open files allowed, {wanted} wanted for {parallel_hosts} hosts at a time"
    )
    if hard_limit < wanted:
        return Check("files", said, "raise it (ulimit -n), or lower network.parallel_hosts")
    return Check("files", said)


def check_clock(here: datetime, manager: datetime | None) -> Check:
    """Compare the clocks of this machine and of the manager."""
    if manager is None:
        return Check("clock", "the manager did not say what time it is")
    off = here - manager
    side = "ahead of" if off > timedelta() else "behind"
    said = f"{abs(off.total_seconds()):.0f} s {side} the manager"
    if abs(off.total_seconds()) > CLOCK_S:
        return Check("clock", said, "set the clock (NTP): hours and logs go by it")
    return Check("clock", "agrees with the manager's" if abs(off.total_seconds()) < 2 else said)


def check_names(
    asked: str, name: str, found: HostAnswer, *, proxied: bool, trial: bool = False
) -> Check:
    """Judge what name servers said of a name that should have an address.

    asked: the servers. proxied: pages are fetched through a proxy, which looks names up itself.
    trial: the manager is this machine and no option names a page, so the network may be a closed
    one without this name.
    """
    if found.addresses:
        return Check("name servers", f"{asked}: {name} is {', '.join(found.addresses[:3])}")
    code = found.code or HostFailure.NAME_UNANSWERED
    said = f"{asked}: {name}: {failure_words(code)}"
    if found.temporary and found.failure is not None:
        said = f"{said}: {found.failure.params['reason']}"
    if proxied:
        return Check("name servers", f"{said}; the proxy looks names up")
    if trial and not found.temporary:
        return Check(
            "name servers", f"{said}; the manager is this machine, the network a closed one"
        )
    if code in (HostFailure.NO_SUCH_NAME, HostFailure.NO_ADDRESS, HostFailure.NOT_A_NAME):
        return Check(
            "name servers",
            said,
            "it answers, but not with an address: dns.servers names other servers; prs doctor "
            "--page URL asks about a site of your choice",
        )
    return Check(
        "name servers",
        said,
        "check the network; dns.servers names other servers. A crawl asks a lot: a caching "
        "resolver on this machine is best",
    )


def check_hours(windows: Windows, now: datetime) -> Check:
    """Check the zone of the hours, and show what they mean now."""
    local = now.astimezone(windows.zone)
    said = f"{windows.zone}, where it is {local:%a %H:%M}; "
    change = windows.next_change(now)
    said += "open now" if windows.is_open(now) else "closed now"
    if change is None:
        said += ", always"
    else:
        said += f", until {change.astimezone(windows.zone):%a %H:%M}"
    return Check("hours", said)
