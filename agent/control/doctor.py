"""Checks of a site before an agent can work, with remedies.

Facts in, judgements out; the facts are gathered by `agent.app.site.diagnosis`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from shared.frozen import frozen
from shared.messages import Message
from shared.naming import HostAnswer, HostFailure
from shared.windows import Windows

__all__ = [
    "Check",
    "check_clock",
    "check_disk",
    "check_files",
    "check_hours",
    "check_names",
]

AGREES_S: Final = 2.0
CLOCK_S: Final = 60.0
"""A clock that is off by more confuses people who read logs; permits do not depend on it."""


NAMES: Final = "name servers"


@frozen
class Check:
    """A result of `prs doctor`. remedy: what to do; None: nothing."""

    name: str
    said: Message
    remedy: Message | None = None

    @property
    def passed(self) -> bool:
        """Return whether nothing need be done."""
        return self.remedy is None


def check_disk(free_bytes: int, reserve_bytes: int, segment_bytes: int) -> Check:
    """Judge the room on the disk: the reserve, and one segment to begin with."""
    said = Message("doctor.disk", free_bytes=free_bytes, reserve_bytes=reserve_bytes)
    if free_bytes < reserve_bytes:
        return Check("disk", said, Message("doctor.disk_below_reserve"))
    if free_bytes < reserve_bytes + segment_bytes:
        return Check(
            "disk", said, Message("doctor.disk_below_segment", segment_bytes=segment_bytes)
        )
    return Check("disk", said)


def check_files(hard_limit: int, wanted: int, parallel_hosts: int) -> Check:
    """Judge how many files this user may have open."""
    said = Message("doctor.files", limit=hard_limit, wanted=wanted, hosts=parallel_hosts)
    if hard_limit < wanted:
        return Check("files", said, Message("doctor.files_too_few"))
    return Check("files", said)


def check_clock(here: datetime, manager: datetime | None) -> Check:
    """Compare the clocks of this machine and of the manager."""
    if manager is None:
        return Check("clock", Message("doctor.clock_unknown"))
    off_s = (here - manager).total_seconds()
    if abs(off_s) < AGREES_S:
        return Check("clock", Message("doctor.clock_agrees"))
    code = "doctor.clock_ahead" if off_s > 0 else "doctor.clock_behind"
    said = Message(code, off_s=abs(off_s))
    return Check("clock", said, Message("doctor.set_clock") if abs(off_s) > CLOCK_S else None)


def check_names(
    asked: str | Message, name: str, found: HostAnswer, *, proxied: bool, trial: bool = False
) -> Check:
    """Judge what name servers said of a name that should have an address.

    asked: the servers. proxied: pages are fetched through a proxy, which looks names up itself.
    trial: the manager is this machine and no option names a page, so the network may be a closed
    one without this name.
    """
    if found.addresses:
        addresses = found.addresses[:3]
        said = Message("doctor.names_address", servers=asked, name=name, addresses=addresses)
        return Check(NAMES, said)
    code = found.code or HostFailure.NAME_UNANSWERED
    reason = note = remedy = None
    if found.temporary and found.failure is not None:
        reason = Message("doctor.names_reason", reason=found.failure.params["reason"])
    if proxied:
        note = Message("doctor.names_proxied")
    elif trial and not found.temporary:
        note = Message("doctor.names_in_closed_network")
    elif code in (HostFailure.NO_SUCH_NAME, HostFailure.NO_ADDRESS, HostFailure.NOT_A_NAME):
        remedy = Message("doctor.names_no_address")
    else:
        remedy = Message("doctor.names_check_network")
    said = Message(
        "doctor.names_failed", servers=asked, name=name, failure=code, reason=reason, note=note
    )
    return Check(NAMES, said, remedy)


def check_hours(windows: Windows, now: datetime) -> Check:
    """Check the zone of the hours, and show what they mean now."""
    local = now.astimezone(windows.zone)
    here = {"zone": str(windows.zone), "day": _day(local), "time": f"{local:%H:%M}"}
    change, is_open = windows.next_change(now), windows.is_open(now)
    if change is None:
        code = "doctor.hours_always" if is_open else "doctor.hours_closed"
        return Check("hours", Message(code, **here))
    code = "doctor.hours_open_until" if is_open else "doctor.hours_closed_until"
    then = change.astimezone(windows.zone)
    return Check("hours", Message(code, **here, next_day=_day(then), next_time=f"{then:%H:%M}"))


def _day(moment: datetime) -> Message:
    return Message(f"agent.weekday_{moment.isoweekday()}")
