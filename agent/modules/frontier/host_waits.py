"""Hosts that wait for their next request: until when at least, and for which reason.

A host waits for the rest of its address, for its own rest, for the next attempt of a URL,
or for its robots.txt. Obstacles to all of them (no permit, a pause) are reported elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Final

from agent.modules.frontier.gates import Gate
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from shared.frozen import frozen

if TYPE_CHECKING:
    from agent.modules.frontier.registry import Registry
    from agent.modules.frontier.scheduler import Sleeper

__all__ = ["LOOKED_AT", "Wait", "WaitReason", "waits"]

LOOKED_AT: Final = 500
"""So many sleepers are looked at; some of them no longer have anything to do."""
LONGER: Final = 1.01


class WaitReason(StrEnum):
    """The reason for which a host is not asked at once."""

    INTERVAL = "interval"
    """The usual interval between two requests to one address."""
    SLOW = "slow"
    """Ten times as long as its last answer took."""
    BACK_OFF = "back_off"
    """It answered with errors, 429 or 503, or not at all, or asked for a time by Retry-After."""
    CRAWL_DELAY = "crawl_delay"
    """Its robots.txt asks for a Crawl-delay."""
    SHARED = "shared"
    """The list gives it an interval, because other agents fetch from it too."""
    RETRY = "retry"
    """Only URLs are left that are tried again later."""
    ROBOTS = "robots"
    """Its robots.txt was asked for and has not come."""
    CLOSED = "closed"
    """The hours of the site are over (`agent.app.reporting.agent_view` finds it)."""


@frozen
class Wait:
    """A host that waits. due_s: monotonic. detail: the answer, or seconds; empty: none."""

    host: str
    address: str
    due_s: float
    reason: WaitReason
    detail: str = ""


def waits(registry: Registry, limit: int) -> list[Wait]:
    """Return hosts that wait, the longest first, each once."""
    found: dict[str, Wait] = {}
    for due_s, sleeper in islice(registry.turns.sleepers(), LOOKED_AT):
        if isinstance(sleeper, int):
            one = _wait_unloaded(registry, sleeper, due_s)
        else:
            one = _wait(registry, sleeper, due_s)
        if one is not None and one.host not in found:
            found[one.host] = one
            if len(found) == limit:
                break
    if len(found) < limit:
        for one in _waits_for_rules(registry):
            found.setdefault(one.host, one)
            if len(found) == limit:
                break
    return sorted(found.values(), key=lambda one: -one.due_s)


def _waits_for_rules(registry: Registry) -> Iterator[Wait]:
    """Yield hosts whose robots.txt was asked for and has not come."""
    for host in islice(registry.hosts.values(), LOOKED_AT):
        if host.rules == "asked":
            due_s = max(registry.turns.now_s, host.not_before_s, host.address.not_before_s)
            yield Wait(host.name, host.address.name, due_s, WaitReason.ROBOTS)


def _wait(registry: Registry, sleeper: Sleeper, due_s: float) -> Wait | None:
    match sleeper:
        case Gate():
            return None  # the clocks behind it are ready
        case AddressQueue():
            host = next(_asked_next(sleeper), None)
            if host is None or not sleeper.wants_turn:
                return None
            due_s = max(due_s, sleeper.not_before_s, host.not_before_s)
            reason, detail = _of_address(registry, sleeper, host)
            return Wait(host.name, sleeper.name, due_s, reason, detail)
        case HostQueue():
            if not sleeper.wants_turn:
                return None
            due_s = max(due_s, sleeper.not_before_s, sleeper.address.not_before_s)
            reason, detail = _of_host(sleeper)
            return Wait(sleeper.name, sleeper.address.name, due_s, reason, detail)
        case JobQueue():
            host = sleeper.host
            # While another unit or URL of its host has a turn, the host does not wait for this.
            if not sleeper.wants_turn or host.listed or host.resting:
                return None
            due_s = max(due_s, host.not_before_s, host.address.not_before_s)
            return Wait(host.name, host.address.name, due_s, WaitReason.RETRY, sleeper.trouble)


def _wait_unloaded(registry: Registry, key: int, due_s: float) -> Wait | None:
    """Return the wait of the host that is asked next at an address that is not in memory."""
    address = registry.address_memory.peek(key)
    if address is None:
        return None
    waiting = [
        (max(host.not_before_s, job.not_before_s), host, job)
        for host in address.hosts.values()
        for job in host.jobs.values()
        if job.wants_turn
    ]
    if not waiting:
        return None
    at_s, host, job = min(waiting, key=lambda one: one[0])
    due_s = max(due_s, at_s, address.not_before_s)
    if job.not_before_s > max(host.not_before_s, address.not_before_s):
        return Wait(host.name, address.name, due_s, WaitReason.RETRY, job.trouble)
    reason, detail = _of_address(registry, address, host)
    return Wait(host.name, address.name, due_s, reason, detail)


def _asked_next(address: AddressQueue) -> Iterator[HostQueue]:
    if address.again is not None:
        yield address.again
    if address.turns.first is not None:
        yield address.turns.first
    yield from address.hosts.values()


def _of_address(
    registry: Registry, address: AddressQueue, host: HostQueue
) -> tuple[WaitReason, str]:
    if host.not_before_s > address.not_before_s:
        return _of_host(host)
    known = registry.backing_off.of_address(address.name)
    if known is not None:
        return WaitReason.BACK_OFF, known.reason
    if address.rest_s > registry.pace.base_s(host) * LONGER:
        return WaitReason.SLOW, f"{address.rest_s:.0f} s"
    return WaitReason.INTERVAL, f"{max(address.rest_s, registry.pace.base_s(host)):g} s"


def _of_host(host: HostQueue) -> tuple[WaitReason, str]:
    own_s = host.own_rest_s
    if host.asks:
        return WaitReason.BACK_OFF, host.asks
    if host.crawl_delay_s and own_s > host.share_s:
        return WaitReason.CRAWL_DELAY, f"{host.crawl_delay_s:g} s"
    return WaitReason.SHARED, f"{own_s:g} s"
