"""Sync: M4 grown up. One request and one answer, JSON both ways, documented by OpenAPI.

The agent says what it holds and did; the manager says what time it is, when to call again, which
list is current and how long the agent may fetch. Everything in a request is a state, or is
repeated until an answer came, so a lost answer loses nothing and a repeat changes nothing.

Permit. `permit.duration_s` counts from the moment the agent *sent* the request, on
CLOCK_BOOTTIME; at the agent it ends one request deadline plus one interval earlier, and a reboot
voids it. Without a permit an agent sends no request to any site.

Acknowledgement. `generation_held = g` says: the list of generation g is in force here, and no
request to a unit that it no longer names is under way. Only then are units that left the list
given to others.

Each field is declared here once, with its bounds, for both sides. This module loads no library: an
agent is started each night to run for seconds (docs/adr/0148). An agent reads an answer by
`sync_reading`; the manager reads, writes and documents all messages by pydantic (`sync_json`).
Invariant: a message from the network becomes one of these by these two only; they refuse the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, fields, is_dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from shared.frozen import frozen
from shared.wire import PROTOCOL
from shared.wire.fields import Bound, Items, Number, Text, Whole
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
    SCOPE_CHARS,
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
    "ALL_HOURS",
    "AgentState",
    "Capacity",
    "CollectionCondition",
    "CollectionOrder",
    "Command",
    "CommandName",
    "Counters",
    "CrawlScope",
    "DayHours",
    "EpochMs",
    "FinishedUnit",
    "HeldPermit",
    "HostAddresses",
    "HostRest",
    "Hours",
    "KindOfLinks",
    "OrderReport",
    "Permit",
    "RenamedSetting",
    "SegmentAddress",
    "SendingLimits",
    "Settings",
    "SharedAddress",
    "StoppedUrls",
    "SyncAnswer",
    "SyncRequest",
    "said",
]

AgentName: TypeAlias = Annotated[str, Text(pattern=r"^[a-z0-9.-]{1,253}$")]
UnitKey: TypeAlias = Annotated[str, Text(UNIT_CHARS)]
ShortText: TypeAlias = Annotated[str, Text(SHORT_CHARS)]
NameText: TypeAlias = Annotated[str, Text(NAME_CHARS)]
AddressText: TypeAlias = Annotated[str, Text(45)]
Count: TypeAlias = Annotated[int, Whole(0, COUNT_END)]
EpochMs: TypeAlias = Annotated[int, Whole(0, EPOCH_END_MS)]

FailureCode: TypeAlias = Annotated[str, Text(pattern=r"^[a-z_]{0,40}$")]

Minute: TypeAlias = Annotated[int, Whole(0, most=1440)]
Hours: TypeAlias = Annotated[tuple[tuple[Minute, Minute], ...], Items(MAX_HOURS)]
ALL_HOURS: Final[Hours] = ((0, 1440),)


class JsonObject(Bound):
    """Any object of JSON."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's schema of it, whose numbers are finite."""
        from pydantic import JsonValue  # noqa: PLC0415  # an agent reads without it

        return handler(dict[str, JsonValue])


class _Message:
    # A newer side may say more; what is not known is skipped, never guessed. No time is endless.
    __slots__ = ()
    __pydantic_config__: Final = {"extra": "ignore", "allow_inf_nan": False}


@frozen
class HeldPermit(_Message):
    """The permit the agent works under."""

    _: KW_ONLY
    epoch: Count
    remaining_ms: Count


@frozen
class FinishedUnit(_Message):
    """A unit whose frontier ran empty, or whose probe reached its limit.

    Repeated in every request until one was answered.
    """

    _: KW_ONLY
    unit: UnitKey
    kind: OrderKind
    round: Count
    pages: Count
    response_bytes: Count
    reason: ShortText = "complete"  # or why no more: `unreachable: ...`, `page limit`, ...
    failure: FailureCode = ""  # not a single page came, and this is why (`shared.host_failures`)
    crawl_delay_ms: Count | None = None  # of the host's robots.txt, 0: none; None: it was not read


@frozen
class HostAddresses(_Message):
    """Addresses of a host's name, as resolved here; an empty list: it does not resolve."""

    _: KW_ONLY
    host: UnitKey
    addresses: Annotated[tuple[AddressText, ...], Items(64)]


@frozen
class HostRest(_Message):
    """A host that the agent shares with others told it to wait: 429, 503, errors, Retry-After.

    rest_ms: between two requests from here, by its word; remaining_ms: until the next one.
    """

    _: KW_ONLY
    host: UnitKey
    rest_ms: Count
    remaining_ms: Count
    reason: ShortText = ""


@frozen
class StoppedUrls(_Message):
    """URLs that were found and are not fetched, for one reason, with one of them to look at."""

    _: KW_ONLY
    reason: Annotated[str, Text(200)]
    count: Count
    example: ShortText = ""


@frozen
class KindOfLinks(_Message):
    """Counts of one kind of links: URLs that it led to first, their pages (2xx), 404s and 410s.

    kind: as the setting `links.disabled_kinds` has it (`shared.wire.link_kinds`), `listed`, or
    `anchor`.
    """

    _: KW_ONLY
    kind: NameText
    links: Count = 0
    pages: Count = 0
    missing: Count = 0


@frozen
class Counters(_Message):
    """Since the agent's process started (boot_id tells processes apart)."""

    _: KW_ONLY
    requests: Count = 0
    pages: Count = 0
    response_bytes: Count = 0
    errors: Count = 0
    denied: Count = 0  # by robots.txt
    discovered_hosts: Count = 0
    queue: Count = 0  # URLs waiting now
    active_hosts: Count = 0  # hosts with something to do now
    unanswered_hosts: Count = 0  # without an address now, as name servers did not answer
    stopped: Annotated[tuple[StoppedUrls, ...], Items(MAX_REASONS)] = ()  # most first
    kinds: Annotated[tuple[KindOfLinks, ...], Items(MAX_KINDS)] = ()


@frozen
class RenamedSetting(_Message):
    """A setting that the site's file gives by an old name, which a later release refuses."""

    _: KW_ONLY
    old: NameText
    new: NameText


@frozen
class DayHours(_Message):
    """Hours of one day of the week (`sat`) or of one date (`2026-12-29`); none: never then."""

    _: KW_ONLY
    day: Annotated[str, Text(10)]
    hours: Hours = ()


@frozen
class Capacity(_Message):
    """Limits of the agent's work, so that it is given its share.

    The defaults are those of the agent's settings. weekday, weekend: hours in which it may fetch,
    as first and end minute of the day in its zone; an end before the first is after midnight.
    days: where a day has other hours than its part of the week; a date goes before a day.
    """

    _: KW_ONLY
    parallel_hosts: Annotated[int, Whole(1, most=100_000)] = 200
    # Between fetches of one address.
    interval_s: Annotated[float, Number(least=0, most=86_400)] = 20.0
    burst: Annotated[int, Whole(0, most=1000)] = 1  # fetches in a row; 0: no waiting
    fast_interval_s: Annotated[float, Number(least=0, most=86_400)] = 10.0  # of fast hosts
    fast_bytes_per_ms: Annotated[float, Number(least=0, most=1e9)] = 14.0  # fast, at first
    # A rest is at least so many times as long as the last answer took.
    delay_factor: Annotated[float, Number(least=0, most=1000)] = 10.0
    bytes_per_s: Count = 0  # of all fetches together; 0: no limit
    reserve_bytes: Count = 0  # of its disk, not to be filled
    # Of its machine, a core; 0: no limit.
    most_load: Annotated[float, Number(least=0, most=1000)] = 0.0
    # Part of its hours that were below it lately.
    calm: Annotated[float, Number(above=0, most=1)] = 1.0
    weekday: Hours = ALL_HOURS
    weekend: Hours = ALL_HOURS
    days: Annotated[tuple[DayHours, ...], Items(500)] = ()
    zone: NameText = "UTC"


@frozen
class SyncRequest(_Message):
    """Request of a sync: the state of an agent, as it reports it."""

    _: KW_ONLY
    protocol: Annotated[int, Whole(1)] = PROTOCOL
    agent: AgentName
    boot_id: NameText  # new with each start of the process
    sequence: Count  # grows with every sync of the installation, also over restarts
    version: NameText
    clock_ms: EpochMs
    state: AgentState
    state_reason: ShortText = ""  # in English, for managers that know no codes
    # The same by its code in the catalogues, `{"code": ..., "params": {...}}`; what is no such code
    # of an agent, or too large, is not read (`shared.messages.received`).
    state_message: Annotated[dict[str, Any], JsonObject()] | None = None
    next_contact_ms: EpochMs | None = None  # when the agent means to call again, its own clock
    round_held: Count = 0
    generation_held: Count = 0
    permit: HeldPermit | None = None
    finished: Annotated[tuple[FinishedUnit, ...], Items(MAX_ITEMS)] = ()
    addresses: Annotated[tuple[HostAddresses, ...], Items(MAX_ITEMS)] = ()
    rests: Annotated[tuple[HostRest, ...], Items(MAX_ITEMS)] = ()
    counters: Counters = Counters()
    capacity: Capacity | None = None  # None: it did not say; what it said before stays
    refetches: bool = False  # it understands `#Only=`: single pages, to be compared
    reopens: bool = False  # it can continue a unit that it finished, in the same round
    unit_rounds: bool = False  # it understands `#UnitRound=` and `#Continues=`
    disk_free_bytes: Count | None = None
    reports_waiting: Count = 0  # in the outbox, not acknowledged yet
    command_done: NameText | None = None
    update_result: ShortText | None = None  # in English, as `state_reason`
    update_message: Annotated[dict[str, Any], JsonObject()] | None = None  # as `state_message`
    serving: SegmentAddress | None = None
    renamed_settings: Annotated[tuple[RenamedSetting, ...], Items(MAX_RENAMED)] = ()
    scope_held: Count | None = None  # version of the scope; 0: none yet; None: it knows no scope
    withdrawn_held: Count | None = None  # number of the newest withdrawal heard; None: cannot drop
    # Number of the newest change of address rules in force here; None: it knows no such rules.
    shared_held: Count | None = None


@frozen
class Permit(_Message):
    """The right to fetch the units of the list of this generation, for a while."""

    _: KW_ONLY
    epoch: Count
    duration_s: Annotated[float, Number(above=0, most=YEAR_S)]


@frozen
class SendingLimits(_Message):
    """Rate and hours in which segments may go to the centre, beside the site's own limits.

    zone: empty: the agent's own. No window on a kind of day: nothing is sent then.
    """

    _: KW_ONLY
    bytes_per_s: Annotated[int, Whole(1)] | None = None
    weekday: Hours = ALL_HOURS
    weekend: Hours = ALL_HOURS
    zone: NameText = ""


@frozen
class Settings(_Message):
    """Limits that the manager asks for. They only tighten the site's own; None: no wish."""

    _: KW_ONLY
    interval_s: Annotated[float, Number(least=0, most=YEAR_S)] | None = None
    parallel_hosts: Annotated[int, Whole(1)] | None = None
    bytes_per_s: Annotated[int, Whole(1)] | None = None
    blocked: Annotated[tuple[ShortText, ...], Items(MAX_ITEMS)] | None = None  # RE2, on URLs
    sending: SendingLimits | None = None


@frozen
class CrawlScope(_Message):
    """The scope of the whole crawl: rules as people write them (`shared.crawl_scope.rules`).

    version: grows with each change, and is reported back as `scope_held`.
    """

    _: KW_ONLY
    version: Count
    text: Annotated[str, Text(SCOPE_CHARS)] = ""


@frozen
class Command(_Message):
    """One thing to do; acknowledged by its id in `command_done`, repeated until then."""

    _: KW_ONLY
    id: NameText
    name: CommandName
    argument: ShortText = ""


@frozen
class CollectionOrder(_Message):
    """An order to send segments to the centre; repeated until its end was reported
    (docs/protocol.md).

    full: all that is kept, asked about one by one. difference: what the centre has not accepted.
    since, period: of that, segments with captures from from_ms on, and before until_ms.
    pull: offer them to be fetched instead of sending them.
    """

    _: KW_ONLY
    id: Annotated[int, Whole(1, COUNT_END)]
    condition: CollectionCondition
    way: CollectionWay = "push"
    from_ms: EpochMs | None = None
    until_ms: EpochMs | None = None


@frozen
class OrderReport(_Message):
    """Progress of an order; its agent sends it to `/api/v1/collection/orders/ID`."""

    _: KW_ONLY
    state: Literal["open", "done", "failed"]
    tries: Count = 0
    next_try_ms: EpochMs | None = None
    segments: Count = 0  # of this order that the centre has settled
    sent_bytes: Count = 0
    result: ShortText = ""  # in English, as `state_reason` of a sync
    result_message: Annotated[dict[str, Any], JsonObject()] | None = None  # as `state_message`


@frozen
class SegmentAddress(_Message):
    """The URL that serves segments (`prs serve`), and the SHA-256 of its certificate."""

    _: KW_ONLY
    url: Annotated[str, Text(pattern=SERVED_AT)]
    fingerprint: Annotated[str, Text(pattern=FINGERPRINT)]


@frozen
class SharedAddress(_Message):
    """Rule of an address that many sites share.

    Clocks count by registrable domain there, beside an interval for the whole address: that of the
    agent over the square root of the domains, at least least_interval_ms, times the shares: the
    agents that divide its rate. domains 0: it is shared no longer, and is one clock.
    """

    _: KW_ONLY
    address: AddressText
    domains: Count
    shares: Annotated[int, Whole(1, COUNT_END)] = 1
    least_interval_ms: Count = 0


@frozen
class SyncAnswer(_Message):
    """Answer of the manager to a sync."""

    _: KW_ONLY
    protocol: Annotated[int, Whole(1)] = PROTOCOL
    server_time_ms: EpochMs
    next_poll_s: Annotated[float, Number(above=0)]
    round: Count
    generation: Count  # not the one held: take M1
    permit: Permit | None = None  # None: no right to fetch
    settings: Settings = Settings()
    scope: CrawlScope | None = None  # None: the one that is held is in force
    command: Command | None = None
    collection: Annotated[tuple[CollectionOrder, ...], Items(MAX_ORDERS)] = ()
    withdrawn: Annotated[tuple[UnitKey, ...], Items(MAX_ITEMS)] = ()  # hosts to delete here
    withdrawn_number: Count | None = None  # to be said as `withdrawn_held` from now on
    # Changes of address rules after shared_from (0: after none; all others are void), up to
    # shared_number, which is to be said as `shared_held` once they are in force.
    shared: Annotated[tuple[SharedAddress, ...], Items(MAX_ITEMS)] = ()
    shared_from: Count | None = None
    shared_number: Count | None = None
    message: ShortText = ""  # for the partner, to show


def said(message: Any) -> Any:
    """Return a message as JSON has it; what is None is not said."""
    if is_dataclass(message):
        named = ((one.name, getattr(message, one.name)) for one in fields(message))
        return {name: said(value) for name, value in named if value is not None}
    if isinstance(message, list | tuple):
        return [said(value) for value in message]
    return message
