"""Addresses of hosts: found, moved, lost, or without an answer.

Behind a proxy, which looks names up, a host's name stands for its address, written `//name`. All
ports and schemes of a name share it, as they would share the address.
"""

from __future__ import annotations

from agent.pipeline.messages.jobs import Job
from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.urls import split_host

__all__ = [
    "HandedOver",
    "HostBegun",
    "HostFailed",
    "HostFound",
    "LookUp",
    "Moved",
    "Placed",
    "Unreached",
    "pinned",
    "stand_in",
]


def stand_in(host: str) -> str:
    """Return the placeholder for the address of a host key where a proxy finds it."""
    return f"//{split_host(host)[1]}"


def pinned(address: str) -> str:
    """Return the address to connect to; "" where a name stands for it: a proxy finds it."""
    return "" if "/" in address else address


@frozen
class LookUp:
    """Answer to a name: addresses that may be crawled, best first, or the reason for none."""

    host: str
    addresses: tuple[str, ...]
    ttl_s: float
    reason: str = ""
    temporary: bool = False  # the servers did not answer, or said "later": worth another try
    took_ms: float | None = None  # None: it says nothing of the servers, as behind a proxy
    failure: HostFailure = HostFailure.NO_ADDRESS  # where there is no address


@frozen
class Placed:
    """Address of a job's host, when the job's queue holds something new."""

    job: int
    host: str
    address: str
    lookup_ms: float | None = None  # that it was just waited for; None: the address was known


@frozen
class HostBegun:
    """Start of a host: it will have turns, so its name must be watched."""

    host: str
    address: str  # where it was placed
    jobs: tuple[int, ...]  # their numbers


@frozen
class Unreached:
    """Failure to connect to a host's address while our network is up.

    answered: the address has answered before; it may be our network after all.
    """

    host: str
    address: str
    answered: bool = False


@frozen
class HostFound:
    """Addresses of a host as seen from here, for the manager; empty: none."""

    host: str
    addresses: tuple[str, ...]


@frozen
class HostFailed:
    """Host without an address to crawl: nothing of it can be fetched from here."""

    host: str
    reason: str
    failure: HostFailure = HostFailure.NO_ADDRESS


@frozen
class Moved:
    """Move of a host to another address; its queue goes there."""

    host: str
    address: str  # the new one; "": none is left, its jobs end
    before: str
    reason: str = ""  # why there is none
    failure: HostFailure = HostFailure.NO_ADDRESS  # where there is none


@frozen
class HandedOver:
    """Release of a host that moved: nothing of it is under way at its old address."""

    host: str
    address: str  # the new one
    jobs: tuple[Job, ...]
    not_before_s: float = 0.0  # the end of the rest by its Crawl-delay or its units' intervals
