"""The messages of sync as an agent has them: objects that cost no library to be made.

What each means, and what its numbers are, `shared.wire.sync` says; both have the same fields, with
the same defaults, and a test holds them to it. An agent is started each night to run for seconds,
and the library that makes those models took a fifth of the CPU time of such a run.

Invariant: a message from the network becomes one of these by `sync_reading` only.
"""

from __future__ import annotations

from dataclasses import field, fields, is_dataclass
from typing import Any

from shared.frozen import frozen
from shared.wire import PROTOCOL
from shared.wire.orders import OrderKind
from shared.wire.sync_bounds import AgentState, CollectionCondition, CollectionWay, CommandName

__all__ = [
    "Capacity",
    "CollectionOrder",
    "Command",
    "Counters",
    "DayHours",
    "FinishedUnit",
    "HeldPermit",
    "HostAddresses",
    "HostRest",
    "Hours",
    "KindOfLinks",
    "Permit",
    "RenamedSetting",
    "SendingLimits",
    "Serving",
    "Settings",
    "StoppedUrls",
    "SyncAnswer",
    "SyncRequest",
    "said",
]

Hours = list[tuple[int, int]]


def _always() -> Hours:
    return [(0, 1440)]


@frozen
class HeldPermit:
    """The permit the agent works under."""

    epoch: int
    remaining_ms: int


@frozen
class FinishedUnit:
    """A unit whose frontier ran empty, or whose probe reached its limit."""

    unit: str
    kind: OrderKind
    round: int
    pages: int
    response_bytes: int
    reason: str = "complete"
    failure: str = ""


@frozen
class HostAddresses:
    """Addresses of a host's name, as resolved here; an empty list: it does not resolve."""

    host: str
    addresses: list[str]


@frozen
class HostRest:
    """A host that the agent shares with others told it to wait."""

    host: str
    rest_ms: int
    remaining_ms: int
    reason: str = ""


@frozen
class StoppedUrls:
    """URLs that were found and are not fetched, for one reason, with one of them to look at."""

    reason: str
    count: int
    example: str = ""


@frozen
class KindOfLinks:
    """Counts of one kind of links: URLs that it led to first, their pages, 404s and 410s."""

    kind: str
    links: int = 0
    pages: int = 0
    missing: int = 0


@frozen
class Counters:
    """Since the agent's process started."""

    requests: int = 0
    pages: int = 0
    response_bytes: int = 0
    errors: int = 0
    denied: int = 0
    discovered_hosts: int = 0
    queue: int = 0
    active_hosts: int = 0
    unanswered_hosts: int = 0
    stopped: list[StoppedUrls] = field(default_factory=list)
    kinds: list[KindOfLinks] = field(default_factory=list)


@frozen
class RenamedSetting:
    """A setting that the site's file gives by an old name."""

    old: str
    new: str


@frozen
class DayHours:
    """Hours of one day of the week or of one date; none: never then."""

    day: str
    hours: Hours = field(default_factory=list)


@frozen
class Capacity:
    """Limits of the agent's work."""

    parallel_hosts: int = 200
    interval_s: float = 20.0
    burst: int = 1
    bytes_per_s: int = 0
    reserve_bytes: int = 0
    most_load: float = 0.0
    calm: float = 1.0
    weekday: Hours = field(default_factory=_always)
    weekend: Hours = field(default_factory=_always)
    days: list[DayHours] = field(default_factory=list)
    zone: str = "UTC"


@frozen
class Serving:
    """The URL that serves segments, and the SHA-256 of its certificate."""

    url: str
    fingerprint: str


@frozen
class SyncRequest:
    """Request of a sync: the state of an agent, as it reports it."""

    agent: str
    boot_id: str
    sequence: int
    version: str
    clock_ms: int
    state: AgentState
    protocol: int = PROTOCOL
    state_reason: str = ""
    state_message: dict[str, Any] | None = None
    next_contact_ms: int | None = None
    round_held: int = 0
    generation_held: int = 0
    permit: HeldPermit | None = None
    finished: list[FinishedUnit] = field(default_factory=list)
    addresses: list[HostAddresses] = field(default_factory=list)
    rests: list[HostRest] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    capacity: Capacity | None = None
    refetches: bool = False
    disk_free_bytes: int | None = None
    reports_waiting: int = 0
    command_done: str | None = None
    update_result: str | None = None
    serving: Serving | None = None
    withdrawn_held: int | None = None
    renamed_settings: list[RenamedSetting] = field(default_factory=list)


@frozen
class Permit:
    """The right to fetch the units of the list of this generation, for a while."""

    epoch: int
    duration_s: float


@frozen
class SendingLimits:
    """Rate and hours in which segments may go to the centre."""

    bytes_per_s: int | None = None
    weekday: Hours = field(default_factory=_always)
    weekend: Hours = field(default_factory=_always)
    zone: str = ""


@frozen
class Settings:
    """Limits that the manager asks for; None: no wish."""

    interval_s: float | None = None
    parallel_hosts: int | None = None
    bytes_per_s: int | None = None
    blocked: list[str] | None = None
    sending: SendingLimits | None = None


@frozen
class Command:
    """One thing to do; acknowledged by its id."""

    id: str
    name: CommandName
    argument: str = ""


@frozen
class CollectionOrder:
    """An order to send segments to the centre; repeated until its end was reported."""

    id: int
    condition: CollectionCondition
    way: CollectionWay = "push"
    from_ms: int | None = None
    until_ms: int | None = None


@frozen
class SyncAnswer:
    """Answer of the manager to a sync."""

    server_time_ms: int
    next_poll_s: float
    round: int
    generation: int
    protocol: int = PROTOCOL
    permit: Permit | None = None
    settings: Settings = field(default_factory=Settings)
    command: Command | None = None
    collection: list[CollectionOrder] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    withdrawn_number: int | None = None
    message: str = ""


def said(message: Any) -> Any:
    """Return a message as JSON has it; what is None is not said."""
    if is_dataclass(message):
        named = ((one.name, getattr(message, one.name)) for one in fields(message))
        return {name: said(value) for name, value in named if value is not None}
    if isinstance(message, list):
        return [said(value) for value in message]
    return message
