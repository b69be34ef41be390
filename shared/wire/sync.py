"""Sync: M4 grown up. One request and one answer, JSON both ways, documented by OpenAPI.

The agent says what it holds and did; the manager says what time it is, when to call again, which
list is current and how long the agent may fetch. Everything in a request is a state, or is
repeated until an answer came, so a lost answer loses nothing and a repeat changes nothing.

Permit. `permit.duration_s` counts from the moment the agent *sent* the request, on
CLOCK_BOOTTIME; at the agent it ends one request deadline plus one interval earlier, and a reboot
voids it. Without a permit an agent sends no request to any site.

These models are the manager's. Agents have the same messages in a form that costs no library
(`sync_light`, docs/adr/0148).

Acknowledgement. `generation_held = g` says: the list of generation g is in force here, and no
request to a unit that it no longer names is under way. Only then are units that left the list
given to others.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from shared.wire import PROTOCOL
from shared.wire.orders import OrderKind
from shared.wire.sync_bounds import (
    COUNT_END,
    EPOCH_END_MS,
    FINGERPRINT,
    MAX_HOURS,
    MAX_ITEMS,
    MAX_KINDS,
    MAX_ORDERS,
    MAX_REASONS,
    MAX_RENAMED,
    NAME_CHARS,
    SERVED_AT,
    SHORT_CHARS,
    UNIT_CHARS,
    YEAR_S,
    AgentState,
    CollectionCondition,
    CollectionWay,
    CommandName,
)

__all__ = [
    "AgentState",
    "Capacity",
    "CollectionCondition",
    "CollectionOrder",
    "Command",
    "CommandName",
    "Counters",
    "EpochMs",
    "FinishedUnit",
    "HeldPermit",
    "HostAddresses",
    "HostRest",
    "KindOfLinks",
    "OrderReport",
    "Permit",
    "RenamedSetting",
    "SendingLimits",
    "Serving",
    "Settings",
    "StoppedUrls",
    "SyncAnswer",
    "SyncRequest",
]

AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]{1,253}$")]
UnitKey = Annotated[str, StringConstraints(max_length=UNIT_CHARS)]
ShortText = Annotated[str, StringConstraints(max_length=SHORT_CHARS)]
NameText = Annotated[str, StringConstraints(max_length=NAME_CHARS)]
AddressText = Annotated[str, StringConstraints(max_length=45)]
Count = Annotated[int, Field(ge=0, lt=COUNT_END)]
EpochMs = Annotated[int, Field(ge=0, lt=EPOCH_END_MS)]

FailureCode = Annotated[str, StringConstraints(pattern=r"^[a-z_]{0,40}$")]

Minute = Annotated[int, Field(ge=0, le=1440)]
Hours = Annotated[list[tuple[Minute, Minute]], Field(max_length=MAX_HOURS)]


class _Message(BaseModel):
    # A newer side may say more; what is not known is skipped, never guessed. No time is endless.
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class HeldPermit(_Message):
    """The permit the agent works under."""

    epoch: Count
    remaining_ms: Count


class FinishedUnit(_Message):
    """A unit whose frontier ran empty, or whose probe reached its limit.

    Repeated in every request until one was answered.
    """

    unit: UnitKey
    kind: OrderKind
    round: Count
    pages: Count
    response_bytes: Count
    reason: ShortText = "complete"  # or why no more: `unreachable: ...`, `page limit`, ...
    failure: FailureCode = ""  # not a single page came, and this is why (`shared.host_failures`)


class HostAddresses(_Message):
    """Addresses of a host's name, as resolved here; an empty list: it does not resolve."""

    host: UnitKey
    addresses: Annotated[
        list[Annotated[str, StringConstraints(max_length=45)]], Field(max_length=64)
    ]


class HostRest(_Message):
    """A host that the agent shares with others told it to wait: 429, 503, errors, Retry-After.

    rest_ms: between two requests from here, by its word; remaining_ms: until the next one.
    """

    host: UnitKey
    rest_ms: Count
    remaining_ms: Count
    reason: ShortText = ""


class StoppedUrls(_Message):
    """URLs that were found and are not fetched, for one reason, with one of them to look at."""

    reason: Annotated[str, StringConstraints(max_length=200)]
    count: Count
    example: ShortText = ""


class KindOfLinks(_Message):
    """Counts of one kind of links: URLs that it led to first, their pages (2xx), 404s and 410s.

    kind: as the setting `links.disabled_kinds` has it (`shared.wire.link_kinds`), `listed`, or
    `anchor`.
    """

    kind: NameText
    links: Count = 0
    pages: Count = 0
    missing: Count = 0


class Counters(_Message):
    """Since the agent's process started (boot_id tells processes apart)."""

    requests: Count = 0
    pages: Count = 0
    response_bytes: Count = 0
    errors: Count = 0
    denied: Count = 0  # by robots.txt
    discovered_hosts: Count = 0
    queue: Count = 0  # URLs waiting now
    active_hosts: Count = 0  # hosts with something to do now
    unanswered_hosts: Count = 0  # without an address now, as name servers did not answer
    stopped: Annotated[list[StoppedUrls], Field(max_length=MAX_REASONS)] = []  # most first
    kinds: Annotated[list[KindOfLinks], Field(max_length=MAX_KINDS)] = []


class RenamedSetting(_Message):
    """A setting that the site's file gives by an old name, which a later release refuses."""

    old: NameText
    new: NameText


class DayHours(_Message):
    """Hours of one day of the week (`sat`) or of one date (`2026-12-29`); none: never then."""

    day: Annotated[str, StringConstraints(max_length=10)]
    hours: Hours = []


class Capacity(_Message):
    """Limits of the agent's work, so that it is given its share.

    The defaults are those of the agent's settings. weekday, weekend: hours in which it may fetch,
    as first and end minute of the day in its zone; an end before the first is after midnight.
    days: where a day has other hours than its part of the week; a date goes before a day.
    """

    parallel_hosts: Annotated[int, Field(ge=1, le=100_000)] = 200
    interval_s: Annotated[float, Field(ge=0, le=86_400)] = 20.0  # between fetches of one address
    burst: Annotated[int, Field(ge=0, le=1000)] = 1  # fetches in a row; 0: no waiting
    bytes_per_s: Count = 0  # of all fetches together; 0: no limit
    reserve_bytes: Count = 0  # of its disk, not to be filled
    most_load: Annotated[float, Field(ge=0, le=1000)] = 0.0  # of its machine, a core; 0: no limit
    calm: Annotated[float, Field(gt=0, le=1)] = 1.0  # part of its hours that were below it lately
    weekday: Hours = [(0, 1440)]
    weekend: Hours = [(0, 1440)]
    days: Annotated[list[DayHours], Field(max_length=500)] = []
    zone: NameText = "UTC"


class SyncRequest(_Message):
    """Request of a sync: the state of an agent, as it reports it."""

    protocol: Annotated[int, Field(ge=1)] = PROTOCOL
    agent: AgentName
    boot_id: NameText  # new with each start of the process
    sequence: Count  # grows with every sync of the installation, also over restarts
    version: NameText
    clock_ms: EpochMs
    state: AgentState
    state_reason: ShortText = ""  # in English, for managers that know no codes
    # The same by its code in the catalogues, `{"code": ..., "params": {...}}`; what is no such code
    # of an agent, or too large, is not read.
    state_message: dict[str, JsonValue] | None = None
    next_contact_ms: EpochMs | None = None  # when the agent means to call again, its own clock
    round_held: Count = 0
    generation_held: Count = 0
    permit: HeldPermit | None = None
    finished: Annotated[list[FinishedUnit], Field(max_length=MAX_ITEMS)] = []
    addresses: Annotated[list[HostAddresses], Field(max_length=MAX_ITEMS)] = []
    rests: Annotated[list[HostRest], Field(max_length=MAX_ITEMS)] = []
    counters: Counters = Counters()
    capacity: Capacity | None = None  # None: it did not say; what it said before stays
    refetches: bool = False  # it understands `#Only=`: single pages, to be compared
    disk_free_bytes: Count | None = None
    reports_waiting: Count = 0  # in the outbox, not acknowledged yet
    command_done: NameText | None = None
    update_result: ShortText | None = None
    serving: Serving | None = None
    renamed_settings: Annotated[list[RenamedSetting], Field(max_length=MAX_RENAMED)] = []
    withdrawn_held: Count | None = None  # number of the newest withdrawal heard; None: cannot drop


class Permit(_Message):
    """The right to fetch the units of the list of this generation, for a while."""

    epoch: Count
    duration_s: Annotated[float, Field(gt=0, le=YEAR_S)]


class SendingLimits(_Message):
    """Rate and hours in which segments may go to the centre, beside the site's own limits.

    zone: empty: the agent's own. No window on a kind of day: nothing is sent then.
    """

    bytes_per_s: Annotated[int, Field(ge=1)] | None = None
    weekday: Hours = [(0, 1440)]
    weekend: Hours = [(0, 1440)]
    zone: NameText = ""


class Settings(_Message):
    """Limits that the manager asks for. They only tighten the site's own; None: no wish."""

    interval_s: Annotated[float, Field(ge=0, le=YEAR_S)] | None = None
    parallel_hosts: Annotated[int, Field(ge=1)] | None = None
    bytes_per_s: Annotated[int, Field(ge=1)] | None = None
    blocked: Annotated[list[ShortText], Field(max_length=MAX_ITEMS)] | None = None  # RE2, on URLs
    sending: SendingLimits | None = None


class Command(_Message):
    """One thing to do; acknowledged by its id in `command_done`, repeated until then."""

    id: NameText
    name: CommandName
    argument: ShortText = ""


class CollectionOrder(_Message):
    """An order to send segments to the centre; repeated until its end was reported
    (docs/protocol.md).

    full: all that is kept, asked about one by one. difference: what the centre has not accepted.
    since, period: of that, segments with captures from from_ms on, and before until_ms.
    pull: offer them to be fetched instead of sending them.
    """

    id: Annotated[int, Field(ge=1, lt=COUNT_END)]
    condition: CollectionCondition
    way: CollectionWay = "push"
    from_ms: EpochMs | None = None
    until_ms: EpochMs | None = None


class OrderReport(_Message):
    """Progress of an order; its agent sends it to `/api/v1/collection/orders/ID`."""

    state: Literal["open", "done", "failed"]
    tries: Count = 0
    next_try_ms: EpochMs | None = None
    segments: Count = 0  # of this order that the centre has settled
    sent_bytes: Count = 0
    result: ShortText = ""


class Serving(_Message):
    """The URL that serves segments (`prs serve`), and the SHA-256 of its certificate."""

    url: Annotated[str, StringConstraints(pattern=SERVED_AT)]
    fingerprint: Annotated[str, StringConstraints(pattern=FINGERPRINT)]


class SyncAnswer(_Message):
    """Answer of the manager to a sync."""

    protocol: Annotated[int, Field(ge=1)] = PROTOCOL
    server_time_ms: EpochMs
    next_poll_s: Annotated[float, Field(gt=0)]
    round: Count
    generation: Count  # not the one held: take M1
    permit: Permit | None = None  # None: no right to fetch
    settings: Settings = Settings()
    command: Command | None = None
    collection: Annotated[list[CollectionOrder], Field(max_length=MAX_ORDERS)] = []
    withdrawn: Annotated[list[UnitKey], Field(max_length=MAX_ITEMS)] = []  # hosts to delete here
    withdrawn_number: Count | None = None  # to be said as `withdrawn_held` from now on
    message: ShortText = ""  # for the partner, to show
