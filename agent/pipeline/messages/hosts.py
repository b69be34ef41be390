"""Addresses of hosts: found, moved, lost, or without an answer."""

from __future__ import annotations

from agent.pipeline.messages.jobs import Job
from shared.frozen import frozen
from shared.host_failures import HostFailure

__all__ = [
    "HandedOver",
    "HostBegun",
    "HostFailed",
    "HostFound",
    "LookUp",
    "Moved",
    "Placed",
    "Unreached",
]


@frozen
class LookUp:
    """The answer to a name: addresses that may be crawled, best first, or why there is none."""

    host: str
    addresses: tuple[str, ...]
    ttl_s: float
    reason: str = ""
    temporary: bool = False  # the servers did not answer, or said "later": worth another try
    took_ms: float | None = None  # None: it says nothing of the servers, as behind a proxy
    failure: HostFailure = HostFailure.NO_ADDRESS  # where there is no address


@frozen
class Placed:
    """A job's host has an address, and the job's queue holds something new."""

    job: int
    host: str
    address: str
    lookup_ms: float | None = None  # that it was just waited for; None: the address was known


@frozen
class HostBegun:
    """A host is taken up: it will have turns, so its name must be watched."""

    host: str
    address: str  # where it was placed
    jobs: tuple[int, ...]  # their numbers


@frozen
class Unreached:
    """No connection to a host's address came about; the network of ours is there.

    answered: the address has answered before: it may be our network after all.
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
    """A host never had an address to crawl: nothing of it can be fetched from here."""

    host: str
    reason: str
    failure: HostFailure = HostFailure.NO_ADDRESS


@frozen
class Moved:
    """A host answers at another address from now on; its queue goes there."""

    host: str
    address: str  # the new one; "": none is left, its jobs end
    before: str
    reason: str = ""  # why there is none
    failure: HostFailure = HostFailure.NO_ADDRESS  # where there is none


@frozen
class HandedOver:
    """Nothing of a host that moved is under way at its old address: the new one may take over."""

    host: str
    address: str  # the new one
    jobs: tuple[Job, ...]
    not_before_s: float = 0.0  # the end of the rest by its Crawl-delay or its units' intervals
