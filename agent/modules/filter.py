"""Asks of every link whether it is ours to fetch, and worth it. Before dedup: this is cheaper.

Invariant: what passes lies in exactly one unfinished job of the list in force. What is not ours
leaves by `outside`: of a host that we hold nothing of, its top page, once; of a page in a
directory that others own, or of a job that is done or rests, the page itself. All else is counted
with its reason and a few examples.
Most links of a page were on the page before: those that were sorted out lately are skipped at the
cost of one look-up. For this a URL is remembered only if no other page could change its lot; what
equal pages hold back is asked about again, and counted once.
Leaves to others: what a trap looks like (traps), robots.txt (robots), `nofollow` (the page worker),
the limit of pages (dedup, frontier), forbidden addresses (the resolver).
Source: seed 000, 5.2.6 (URL Format Filter, Explicit URL Filter).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, cast

from agent.modules.counts import StopCounts
from agent.modules.limits import CrawlLimits
from agent.modules.recent import Recent
from agent.modules.suffix import is_registrable
from agent.modules.traps import SAME_CONTENT, Traps
from agent.pipeline.messages import Candidate, Job, Links, ListChanged, Outside, Scope
from agent.pipeline.spec import Output
from shared.frozen import frozen
from shared.urls import has_refused_port, host_of

__all__ = ["Filter"]

SORTED_REMEMBERED: Final = 1 << 17  # URLs about which nothing new can be found out
HELD_REMEMBERED: Final = 1 << 15  # URLs that equal pages hold back
OUTSIDE_REMEMBERED: Final = 100_000  # URLs that need not be reported twice
HOSTS_REMEMBERED: Final = 100_000

Blocked = Callable[[str], bool]
"""Tells whether a pattern of the site or the manager forbids a URL; linear time (RE2)."""


@frozen
class _Host:
    """What holds for all URLs that begin alike, up to the path."""

    key: str
    ours: bool  # we hold at least one unit of it
    whole: Job | None  # the job, where the host is one unit
    registrable: bool
    refused: bool  # its port is of another protocol


class Filter:
    """The module `filter`."""

    def __init__(
        self,
        scope: Scope,
        limits: CrawlLimits,
        blocked: Blocked,
        stopped: StopCounts,
        year: Callable[[], int],
    ) -> None:
        """Begin with what the agent holds, as the ledger says. year: the one in which we are."""
        self._traps = Traps(limits, year)
        self._limits = limits
        self._blocked = blocked
        self._stopped = stopped
        self._reported = Recent(OUTSIDE_REMEMBERED)
        self._scope = scope
        self._hold(scope)

    def retune(self, limits: CrawlLimits, blocked: Blocked) -> None:
        """Take new settings; links that were sorted out before are looked at again."""
        self._limits = limits
        self._blocked = blocked
        self._traps.retune(limits)
        self._hold(self._scope)

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take pages' links, or a change of what the agent holds."""
        if port == "changed":
            changes = cast(Sequence[ListChanged], batch)
            before, self._scope = self._scope, changes[-1].scope
            if self._scope.jobs is not before.jobs or any(one.moves_urls for one in changes):
                self._hold(self._scope)
            return ()
        return self._sort_out(cast(Sequence[Links], batch))

    def _hold(self, scope: Scope) -> None:
        self._scope = scope
        self._hosts: dict[str, _Host] = {}
        self._sorted = Recent(SORTED_REMEMBERED)
        self._held = Recent(HELD_REMEMBERED)

    def _sort_out(self, batch: Sequence[Links]) -> Iterator[Output]:
        limits, stop = self._limits, self._stopped.add
        for links in batch:
            if links.content and links.referer is not None:
                self._traps.saw(links.referer, links.content)
            if links.depth > limits.depth:
                for url in links.urls:
                    stop("too deep", url)
                continue
            if links.redirects > limits.redirects:
                for url in links.urls:
                    stop("too many redirects", url)
                continue
            for url in links.urls if links.again else self._sorted.unknown(links.urls):
                if hash(url) in self._held and self._traps.holds_back(url):
                    continue
                output = self._one(url, links)
                if output is not None:
                    yield output

    def _one(self, url: str, links: Links) -> Output | None:
        limits, stop = self._limits, self._stopped.add
        host = self._host(url)
        job = (host.whole or self._scope.job_of(url)) if host.ours else None
        if host.ours and job is None and self._scope.units.holding(url) is not None:
            return None  # its job has just left the list, which is about to be told here
        if job is not None and job.kind == "refetch" and links.from_job:
            return None  # what its pages lead to was found before
        if host.ours and (job is None or _is_excepted(url, job) or self._is_late(job, links)):
            # Whether it is late depends on the page: it may come again from another one.
            if self._blocked(url):
                stop("blocked", url)
            elif self._reported.add(url):
                return "outside", Outside(url, links.referer)
            return None
        if links.depth < 0 and job is not None and job.max_pages:
            return None  # a probe's few pages are to measure the site, not its sitemaps
        self._sorted.enter(hash(url))
        if len(url) > limits.url_chars:
            stop("URL too long", url)
        elif host.refused:
            stop("port of another protocol", url)
        elif job is None and not host.registrable:
            stop("host cannot be registered", url)
        elif self._blocked(url):
            stop("blocked", url)
        elif job is None:
            if self._reported.add(host.key):
                return "outside", Outside(_top_page(url), links.referer)
        elif reason := self._traps.reason(url):
            if reason == SAME_CONTENT:
                self._sorted.forget(hash(url))
                self._held.add(hash(url))
            stop(reason, url)
        else:
            depth, redirects = links.depth, links.redirects
            return (
                "inside",
                Candidate(
                    url,
                    host.key,
                    job.number,
                    depth,
                    redirects,
                    links.referer,
                    links.chain,
                    links.again,
                ),
            )
        return None

    def _is_late(self, job: Job, links: Links) -> bool:
        """Tell whether a job takes no link from there: done, or measured by its own pages only.

        A piece that rests was told to be at rest: what is found for it goes by the manager.
        """
        if job.unit in self._scope.finished or job.unit in self._scope.resting:
            return True
        return job.kind == "probe" and links.from_job not in (0, job.number)

    def _host(self, url: str) -> _Host:
        start = url[: url.find("/", 8)]
        host = self._hosts.get(start)
        if host is None:
            if len(self._hosts) >= HOSTS_REMEMBERED:
                self._hosts.clear()
            key = host_of(url)
            units = self._scope.units.of_host(key)
            host = self._hosts[start] = _Host(
                key,
                bool(units),
                self._scope.jobs.get(key) if units == (key,) else None,
                not self._limits.require_public_suffix or is_registrable(key),
                has_refused_port(key),
            )
        return host


def _top_page(url: str) -> str:
    return url[: url.index("/", 8) + 1]


def _is_excepted(url: str, job: Job) -> bool:
    if not job.excepted:
        return False
    path = url[url.index("/", 8) :]
    return path.startswith(job.excepted)
