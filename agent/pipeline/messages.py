"""Messages between the modules. Frozen, picklable, each with the keys of its receivers.

The attributes `host`, `url` and `address` are partition keys: `host` is a host key with its port
(`http://www.example.jp:80/`), `url` a canonical URL, `address` an IP address as text, or a name as
`//name` where a proxy resolves for us. Times: `*_s` are seconds of the monotonic clock, `*_ms`
epoch milliseconds unless the name says a duration.

A **job** is one order of the manager: a unit to crawl or to probe in one round, or some of its
pages to fetch again. Seen-sets, page
counts and finishing belong to a job, so that a probe does not hide pages from the crawl after it.

Life of a URL: in `Links` (seed, parse, redirect) -> filter -> `Candidate` -> dedup, which enters a
new one in its job's queue on disk -> `Candidate` -> resolve -> `Placed` (the job's host answers
there, and its queue holds something) -> frontier -> `Due` -> robots -> `Due` -> fetch ->
`Fetched` -> parse -> `Processed` -> store -> `Processed` -> frontier forgets it. How its request
ended (`ports.FetchAnswer`) goes from fetch to the frontier, and to report, which writes its log
line. What is on its way between dedup and frontier is thus never only in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, Literal, Protocol

from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.wire.orders import ListHead, Order, OrderKind

__all__ = [
    "INDEXED_DEPTH",
    "SITEMAP_DEPTH",
    "Candidate",
    "Denied",
    "Due",
    "Earlier",
    "Fetched",
    "HandedOver",
    "HostBegun",
    "HostFailed",
    "HostFound",
    "Job",
    "Jobs",
    "Links",
    "ListChanged",
    "ListSlice",
    "Moved",
    "Outcome",
    "Outside",
    "Placed",
    "Processed",
    "RulesDue",
    "RulesFetched",
    "RulesKnown",
    "RulesRedirected",
    "Scope",
    "ServerList",
    "Tick",
    "UnitClosed",
    "UnitFinished",
    "Units",
    "Unreached",
]

SITEMAP_DEPTH: Final = -2
"""Depth of the sitemaps that a robots.txt names: what they list, also by way of an index, lies as
near as the top page, and nothing of it is deeper than 0."""

INDEXED_DEPTH: Final = SITEMAP_DEPTH + 1
"""Depth of the sitemaps that such an index names."""

Outcome = Literal[
    "answered",  # a whole HTTP answer, whatever its status
    "truncated",  # an answer, cut by a limit of ours or by the server; the received part is kept
    "refused",  # no server listens there
    "timeout",  # no first byte, or the total deadline
    "disconnected",  # the connection broke before the header was whole
    "retry",  # not answered because of the connection or the way of asking: once more, in its turn
    "malformed",  # the answer is no HTTP, or none that can be read
    "tls",  # certificate or handshake
    "forbidden_address",  # the name leads into a range that must not be crawled
    "no_permit",  # not sent: the permit was over; goes back to the frontier untouched
    "stopped",  # not finished: the agent is ending; goes back to the frontier untouched
    # Of a unit whose host has no address (`HostFailure`): no request was sent.
    "no_such_name",
    "no_address",
    "not_a_name",
    "name_timeout",
    "name_refused",
    "name_server_failed",
    "name_server_away",
    "name_unanswered",
]


@frozen
class Job:
    """One order: what to do with a unit in one round. `number` is new for each job."""

    number: int
    unit: str
    kind: OrderKind
    round: int
    max_pages: int = 0  # robots.txt not counted; 0: all
    interval_ms: int | None = None  # this unit's share of the host's rate
    excepted: tuple[str, ...] = ()  # paths below the unit that others own
    start_pages: tuple[tuple[str, str | None], ...] = ()  # (url, referer) beside the top page
    share: int = 0  # agents at once on the host; 0: the host is not split

    @property
    def is_piece(self) -> bool:
        """Return whether others crawl the rest of the host: a link into it may come at any time."""
        return self.share > 0 and self.kind == "crawl"


class Units(Protocol):
    """The units of a list."""

    def unit_of(self, url: str) -> str | None:
        """Return the longest unit that holds a canonical URL, or None: outside all units."""
        ...

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return the units of a host."""
        ...

    def finish(self, unit: str) -> None:
        """Note that a unit's job is done."""
        ...

    def begin(self, number: int, unit: str) -> None:
        """Take in a unit that is not held, with the number of its job."""
        ...

    def end(self, unit: str) -> None:
        """Drop a unit; an unknown one is ignored."""
        ...


class Jobs(Protocol):
    """The orders of a list. To go through all of them reads all of them from the disk."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def __iter__(self) -> Iterator[str]:
        """Yield their units."""
        ...

    def __contains__(self, unit: object) -> bool:
        """Return whether a unit is held."""
        ...

    def __getitem__(self, unit: str) -> Job:
        """Return the order for a unit; raises KeyError."""
        ...

    def get(self, unit: str) -> Job | None:
        """Return the order for a unit, or None."""
        ...

    def numbered(self, number: int) -> Job | None:
        """Return the order with a number, or None."""
        ...

    def values(self) -> Iterable[Job]:
        """Yield all."""
        ...

    def forget(self, number: int) -> None:
        """Read an order from the disk again when it is asked for: it changed, or is gone."""
        ...


@frozen
class Scope:
    """Scope of the agent: the job of each page. One for all modules, changed by seed.

    finished: units whose job is done, so that nothing of them is fetched again. resting: pieces of
    split hosts of which nothing is left to fetch, and which only a list wakes again. It is changed
    in place, with each unit that is done and each slice of a list: to copy it for each of
    them would cost more and more. `ListChanged` tells of every change.
    """

    units: Units
    jobs: Jobs  # by unit
    finished: AbstractSet[str]
    resting: AbstractSet[str] = frozenset()

    def job_of(self, url: str) -> Job | None:
        """Return the job whose unit is the longest that holds a canonical URL, or None."""
        unit = self.units.unit_of(url)
        return None if unit is None else self.jobs.get(unit)


@frozen
class ServerList:
    """M1 as it came: what the list says of itself, and its units and start pages."""

    head: ListHead
    orders: tuple[Order, ...]


@frozen
class ListSlice:
    """Some of the changes of a new list: a long list at once would hold up every request.

    A job that begins has no number yet; beside it stands the referer of its top page. shares_hosts:
    whether the whole list has pieces of split hosts. last: now the list is in force.
    """

    ended: tuple[int, ...] = ()  # numbers of jobs that left the list, or begin again here
    altered: tuple[Job, ...] = ()  # jobs that continue under other orders
    begun: tuple[tuple[Job, str | None], ...] = ()
    shares_hosts: bool = False
    last: bool = False


@frozen
class ListChanged:
    """Event: the scope has changed, by a slice of a new list, or because jobs are done.

    closed: those of `ended` that no frontier has anything of, so that none need say it is quiet.
    """

    scope: Scope
    begun: tuple[Job, ...] = ()
    ended: tuple[Job, ...] = ()
    closed: frozenset[int] = frozenset()
    done: tuple[Job, ...] = ()
    woken: tuple[Job, ...] = ()  # rested, and may have something to fetch again
    altered: tuple[Job, ...] = ()  # continue under other orders
    last: bool = False  # the whole list is in force now

    @property
    def moves_urls(self) -> bool:
        """Return whether a URL may belong to another job than before, or be worth it now."""
        return bool(self.begun or self.ended or self.altered or self.woken)


@frozen
class Tick:
    """The time, sent when no message is under way inside the process.

    fetching: whether requests may start now (permit, window, not paused, disk not full).
    crowded: no request starts now, because bodies fill the memory; no address rests for it.
    """

    now_s: float
    epoch_ms: int
    fetching: bool
    crowded: bool = False


@frozen
class Links:
    """Links of one page (or redirect, or the list), before they are filtered.

    One message a page and not one a link: a page has dozens, and most are known already.
    """

    urls: tuple[str, ...]  # canonical
    referer: str | None
    from_job: int  # 0: from the list itself
    depth: int  # of the page they stand on, plus one; a list's own pages have 0, sitemaps below it
    redirects: int = 0  # hops that led here in a row
    content: str = ""  # digest of the page; "": of none
    chain: str = ""  # cookies of the redirects that led here (`redirect_chain`)
    again: bool = False  # known in this chain, and worth a request with other cookies
    kinds: bytes = b""  # `link_kinds`, one for each URL; empty: all of kind 0
    is_embedded: bool = False  # the page itself was loaded for another one


@frozen
class Candidate:
    """A URL inside a job that passed the filters."""

    url: str
    host: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    chain: str = ""
    again: bool = False
    link_kind: int = 0  # how it was found: `link_kinds`


@frozen
class Outside:
    """A URL that is not ours to fetch: a new host, or a page of a unit that others own."""

    url: str
    referer: str | None


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


@frozen
class Due:
    """A URL whose turn it is. Holds its address's token until its request ends, or a Denied."""

    url: str
    host: str
    address: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    attempt: int  # from 1
    round: int
    kind: OrderKind
    chain: str = ""  # cookies of the redirects that led here
    link_kind: int = 0  # how it was found: `link_kinds`


@frozen
class Denied:
    """robots.txt forbids it: the token goes back without an interval.

    rule: the line that forbids; "": the rules are no longer at hand and must be fetched again,
    so the URL keeps its place.
    """

    due: Due
    host: str
    address: str
    rule: str


@frozen
class RulesDue:
    """A host's robots.txt must be fetched before anything else; holds the address's token."""

    host: str  # whose rules
    address: str  # where to fetch them; another host's after a redirect
    url: str
    hop: int  # redirects so far, at most 5
    round: int
    kind: OrderKind
    lookup_ms: float | None = None  # of the host's name, since the last time; None: there was none
    chain: str = ""  # cookies of the redirects that led here
    attempt: int = 1  # more after an outcome `retry`


@frozen
class RulesRedirected:
    """robots.txt of `rules_of` lies behind a redirect; `host` is where it leads."""

    rules_of: str
    host: str
    url: str
    hop: int
    round: int
    kind: OrderKind
    address: str = ""  # filled in by resolve
    chain: str = ""  # cookies of the redirects that led here


@frozen
class RulesFetched:
    """Answer for robots.txt: status 0 and a reason where none came."""

    host: str
    address: str
    status: int
    body: bytes  # decoded
    reason: str = ""


@frozen
class RulesKnown:
    """The rules of a host are known until `expires_s`; its URLs may have their turn."""

    host: str
    address: str
    expires_s: float
    crawl_delay_s: float | None
    all_denied: bool = False  # 5xx or unreachable: RFC 9309, 2.3.1.4
    reason: str = ""  # why all is denied


@frozen
class Earlier:
    """The last whole capture of a URL, that a later one may refer to.

    digest: `sha256:` and hexadecimal. etag, modified: header fields as the server sent them, to
    ask by; "" where there are none, or where the body must come for its links.
    """

    fetched_at_ms: int
    digest: str
    etag: str = ""
    modified: str = ""


@frozen
class Fetched:
    """An answer with a header, whole or truncated. `capture.body` is as sent by the server.

    A capture with a body *and* a revisit is a question: is the body still what it was?
    """

    capture: Capture
    url: str
    host: str
    address: str
    job: int
    depth: int
    redirects: int
    is_rules: bool = False  # robots.txt: archived, not parsed for links
    link_kind: int = 0  # how it was found: `link_kinds`


@frozen
class Processed:
    """A page after decoding, parsing and compressing: its links travel separately."""

    encoded: EncodedCapture
    url: str
    host: str
    address: str
    job: int
    is_rules: bool
    outward: tuple[str, ...] = ()  # canonical links to other hosts, for `extserver.list`
    note: str = ""  # `noindex`, `parse-error: ...`, `decode-error: ...`
    validators: tuple[str, str] | None = None  # ETag, Last-Modified; None: no capture to refer to


@frozen
class UnitFinished:
    """Nothing of a job still waits or is under way, or its limit is reached."""

    job: int
    unit: str
    host: str
    kind: OrderKind
    round: int
    pages: int
    response_bytes: int
    reason: str = "complete"
    failure: HostFailure | None = None  # not a single page came, and this is why


@frozen
class UnitClosed:
    """The last request of a job that left the list is over: its right may be given on.

    Not repeated after a crash, which ends all requests by itself.
    """

    job: int
    unit: str
    host: str
