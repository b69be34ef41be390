"""Jobs, the changes of the list that begin and end them, and their ends."""

from __future__ import annotations

from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.wire.orders import ListHead, Order, OrderKind

__all__ = ["Job", "ListChanged", "ListSlice", "ServerList", "UnitClosed", "UnitFinished"]


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
    pages_before: int = 0  # of former rounds, from which it was carried over; likewise bytes
    bytes_before: int = 0

    @property
    def is_piece(self) -> bool:
        """Return whether others crawl the rest of the host: a link into it may come at any time."""
        return self.share > 0 and self.kind == "crawl"


@frozen
class ServerList:
    """Server list (M1): its head, its units and its start pages."""

    head: ListHead
    orders: tuple[Order, ...]


@frozen
class ListSlice:
    """Part of the changes of a new list: a long list at once would hold up every request.

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
    """Change of the scope by a slice of a new list, or because jobs are done.

    closed: those of `ended` that no frontier has anything of, so that none need say it is quiet.
    """

    begun: tuple[Job, ...] = ()
    ended: tuple[Job, ...] = ()
    closed: frozenset[int] = frozenset()
    done: tuple[Job, ...] = ()
    woken: tuple[Job, ...] = ()  # rested, and may have something to fetch again
    altered: tuple[Job, ...] = ()  # continue under other orders
    probed: tuple[Job, ...] = ()  # crawls that begin where their probes ended
    last: bool = False  # the whole list is in force now

    @property
    def moves_urls(self) -> bool:
        """Return whether a URL may belong to another job than before, or be worth it now."""
        return bool(self.begun or self.ended or self.altered or self.woken)


@frozen
class UnitFinished:
    """End of a job: nothing of it waits or is under way, or its limit is reached."""

    job: int
    unit: str
    host: str
    kind: OrderKind
    round: int
    pages: int
    response_bytes: int
    reason: str = "complete"
    failure: HostFailure | None = None  # the cause, where not a single page came
    crawl_delay_s: float | None = None  # of its robots.txt, 0: none; None: that was not read now

    @classmethod
    def of(
        cls,
        job: Job,
        host: str,
        reason: str,
        failure: HostFailure | None = None,
        pages: int = 0,
        response_bytes: int = 0,
        crawl_delay_s: float | None = None,
    ) -> UnitFinished:
        """Return the end of a job, with what it fetched in its round. pages: of the whole job."""
        unit = job.unit, host, job.kind, job.round
        pages = max(0, pages - job.pages_before)
        response_bytes = max(0, response_bytes - job.bytes_before)
        return cls(job.number, *unit, pages, response_bytes, reason, failure, crawl_delay_s)


@frozen
class UnitClosed:
    """End of the last request of a job that left the list: its right may be granted to others.

    Not repeated after a crash, which ends all requests by itself.
    """

    job: int
    unit: str
    host: str
