"""Asks of every link whether it is ours to fetch, and worth it. Before dedup: this is cheaper.

Invariant: what passes lies in exactly one unfinished job of the list in force. What is not ours
leaves by `outside`, each page with its referer: pages of hosts that we hold nothing of, pages in a
directory that others own, and those of a job that is done or rests that it never met. A page is
reported once a round, as far as `limits.foreign_in_memory` are remembered, and of one host at most
`limits.foreign_pages` (ADR 203). All else is counted with its reason and a few examples.
Most links of a page were on the page before: those that were sorted out lately are skipped at the
cost of one look-up. For this a URL is remembered only if no other page could change its lot; what
equal pages hold back is asked about again, and counted once.
Rules of the scope by language depend on the page that links; an entry of a sitemap or feed has the
language of its host. Such a link may come again from a page in another language.
What a browser loads with a page lies as near as the page, because a replay needs it; what that
loads in its turn may lie `EMBEDDED_HOPS` beyond the limit of depth, so that chains of it end.
Leaves to others: what a trap looks like (traps), robots.txt (robots), `nofollow` (the page worker),
the limit of pages (dedup, frontier), URLs that
were queued under another scope of the crawl (frontier), forbidden addresses (the resolver).
Source: seed 000, 5.2.6 (URL Format Filter, Explicit URL Filter).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent.modules.counts import StopCounts
from agent.modules.host_languages import HostLanguages
from agent.modules.limits import OUTSIDE_SCOPE, CrawlLimits, SeenUrls
from agent.modules.public_suffix import is_registrable
from agent.modules.recent_memory import Recent
from agent.modules.seen import make_seen
from agent.modules.server_list.scope import Scope
from agent.modules.traps import SAME_CONTENT, Traps
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.link_kinds import EMBEDDED, LinkKind
from agent.pipeline.messages.jobs import Job, ListChanged
from agent.pipeline.messages.pages import Candidate, Links, Outside
from shared.frozen import frozen
from shared.urls import has_refused_port, host_of

__all__ = ["Filter"]

SORTED_REMEMBERED: Final = 1 << 17  # URLs about which nothing new can be found out
HELD_REMEMBERED: Final = 1 << 15  # URLs that equal pages hold back
HOSTS_REMEMBERED: Final = 100_000
EMBEDDED_HOPS: Final = 5  # a style sheet, three imports and a font

Blocked = Callable[[str], bool]
"""Tells whether a pattern of the site or the manager forbids a URL; linear time (RE2)."""


HasMet = Callable[[int, str], bool]
"""Tells whether a job, by its number, has met a URL."""


@frozen
class _Host:
    """Verdict for all URLs with the same beginning, up to the path."""

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
        has_met: HasMet = lambda _job, _url: False,
        languages: HostLanguages | None = None,
    ) -> None:
        """Begin with what the agent holds, as the ledger says. year: the one in which we are.

        has_met: returns whether a job has met a URL, also after its end. languages: of hosts, where
        others look them up as well.
        """
        self._has_met = has_met
        self._languages = languages or HostLanguages()
        self._traps = Traps(limits, year)
        self._limits = limits
        self._blocked = blocked
        self._stopped = stopped
        self._round = 0  # the newest of which a unit began since the process started
        self._forget_reported()
        self.use_scope(scope)

    def retune(self, limits: CrawlLimits, blocked: Blocked) -> None:
        """Take new settings; links that were sorted out before are looked at again."""
        self._limits = limits
        self._blocked = blocked
        self._traps.retune(limits)
        self.use_scope(self._scope)

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "links": Input(Links, self.handle_links),
            "changed": Input(ListChanged, self.handle_changed),
        }

    def handle_changed(self, changes: Sequence[ListChanged]) -> Iterable[Output]:
        """Check links again where a change of the scope may decide otherwise about them."""
        newest = max((job.round for one in changes for job in one.begun), default=0)
        if newest > self._round:
            self._round = newest
            self._forget_reported()
        if any(one.moves_urls for one in changes):
            self.use_scope(self._scope)
        return ()

    def use_scope(self, scope: Scope) -> None:
        """Go by a scope; links that were sorted out before are checked again."""
        self._scope = scope
        self._hosts: dict[str, _Host] = {}
        self._sorted = Recent(SORTED_REMEMBERED)
        self._held = Recent(HELD_REMEMBERED)
        self._unnamed = Recent(HELD_REMEMBERED)  # counted already: their hosts cannot be registered
        self._foreign_language = Recent(HELD_REMEMBERED)  # counted already: outside by their page

    def handle_links(self, batch: Sequence[Links]) -> Iterator[Output]:
        """Pass on the links that are worth a request, and those that others own."""
        limits, stop = self._limits, self._stopped.add
        for page in batch:
            if page.content and page.referer is not None:
                self._traps.saw(page.referer, page.content)
            language = self._language(page) if limits.scope.has_languages else ""
            links = self._embedded(page) if page.depth > limits.depth else page
            if links.redirects > limits.redirects:
                for url in links.urls:
                    stop("too many redirects", url)
                continue
            unknown = links.urls if links.again else self._sorted.unknown(links.urls)
            if not unknown:
                continue
            kinds = dict(zip(links.urls, links.kinds, strict=True)) if links.kinds else {}
            for url in unknown:
                if hash(url) in self._held and self._traps.holds_back(url):
                    continue
                output = self._one(url, links, kinds.get(url, 0), language)
                if output is not None:
                    yield output

    def _embedded(self, links: Links) -> Links:
        """Return of links that are too deep those that a browser loads with their page."""
        kept: list[int] = []
        reaches = links.depth - (not links.is_embedded) <= self._limits.depth + EMBEDDED_HOPS
        for place, url in enumerate(links.urls):
            if reaches and links.kinds and links.kinds[place] & EMBEDDED:
                kept.append(place)
            else:
                self._stopped.add("too deep", url)
        return replace(
            links,
            urls=tuple(links.urls[place] for place in kept),
            kinds=bytes(links.kinds[place] for place in kept),
        )

    def _language(self, links: Links) -> str:
        """Return the language of the page of some links, or of its host; "": not known.

        A list of the manager has none, and a redirect leads where its link would have led.
        """
        if links.referer is None or not links.from_job or links.redirects:
            return ""
        host = host_of(links.referer)
        if links.language:
            self._languages.saw(host, links.language)
            return links.language
        return self._languages.language_of(host)

    def _one(self, url: str, links: Links, kind: int, language: str) -> Output | None:
        limits, stop = self._limits, self._stopped.add
        host = self._host(url)
        job = (host.whole or self._scope.job_of(url)) if host.ours else None
        if host.ours and job is None and self._scope.units.unit_of(url) is not None:
            return None  # its job has just left the list, which is about to be told here
        ours = host.ours
        if job is not None and job.kind == "probe" and job.unit in self._scope.finished:
            # Until its crawl begins here the unit may be another agent's.
            job, ours = None, host.whole is None
        if kind == LinkKind.WELL_KNOWN and (
            job is None or job.number != links.from_job or job.max_pages
        ):
            return None  # tried for the owner of the host's top, and not reported
        if job is not None and job.kind == "refetch" and links.from_job:
            return None  # what its pages lead to was found before
        if ours and (job is None or _is_excepted(url, job) or self._is_late(job, links)):
            # Whether it is late depends on the page: it may come again from another one.
            if self._blocked(url):
                stop("blocked", url)
            elif not self._limits.scope.decide(url, language).is_inside:
                self._stop_outside(url)
            elif job is None or not self._has_met(job.number, url):
                return self._outside(url, links.referer)
            return None
        if links.depth < 0 and job is not None and job.max_pages:
            return None  # a probe's few pages are to measure the site, not its sitemaps
        self._sorted.enter(hash(url))
        if len(url) > limits.url_chars:
            stop("URL too long", url)
        elif host.refused:
            stop("port of another protocol", url)
        elif job is None and not host.registrable and self._is_public(links.referer):
            self._sorted.forget(hash(url))  # a page of a host like it may name it too
            if self._unnamed.add(hash(url)):
                stop("host cannot be registered", url)
        elif self._blocked(url):
            stop("blocked", url)
        elif not (rule := limits.scope.decide(url, language).rule).includes:
            self._stop_outside(url)
        elif job is None:
            return self._foreign(host.key, url, links.referer)
        elif rule.depth is not None and links.depth > rule.depth and not kind & EMBEDDED:
            self._sorted.forget(hash(url))  # another page may lie nearer
            stop("too deep", url)
        elif reason := self._traps.reason(url):
            if reason == SAME_CONTENT:
                self._sorted.forget(hash(url))
                self._held.add(hash(url))
            stop(reason, url)
        else:
            depth, redirects = links.depth, links.redirects
            if kind & EMBEDDED and not links.is_embedded:
                depth -= 1
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
                    kind,
                ),
            )
        return None

    def _stop_outside(self, url: str) -> None:
        """Count a URL outside of the scope; by language a page in another one may bring it in."""
        if self._limits.scope.has_languages:
            self._sorted.forget(hash(url))
            if not self._foreign_language.add(hash(url)):
                return
        self._stopped.add(OUTSIDE_SCOPE, url)

    def _is_public(self, referer: str | None) -> bool:
        """Return whether a page lies at a name below a public suffix.

        Another page is fetched because the list has its host: the network uses private names.
        """
        return referer is None or self._host(referer).registrable

    def _forget_reported(self) -> None:
        """Report pages of others again: what a manager lost or had no room for comes back."""
        self._reported = make_seen(SeenUrls(urls=self._limits.foreign_in_memory))
        self._of_host: dict[str, int] = {}  # pages reported of hosts that we hold nothing of

    def _outside(self, url: str, referer: str | None) -> Output | None:
        """Return the report of a page of others; None: it was reported."""
        known = self._reported.meet([hash(url)])[0]
        return None if known else ("outside", Outside(url, referer))

    def _foreign(self, host: str, url: str, referer: str | None) -> Output | None:
        """Return the report of a page of a host that we hold nothing of, within its share."""
        reported = self._of_host.get(host, 0)
        if reported >= self._limits.foreign_pages:
            self._stopped.add("enough pages of a host of others reported", url)
            return None
        output = self._outside(url, referer)
        if output is not None:
            if len(self._of_host) >= HOSTS_REMEMBERED:
                self._of_host.clear()
            self._of_host[host] = reported + 1
        return output

    def _is_late(self, job: Job, links: Links) -> bool:
        """Return whether a job takes no link from there: done, or measured by its own pages only.

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


def _is_excepted(url: str, job: Job) -> bool:
    if not job.excepted:
        return False
    path = url[url.index("/", 8) :]
    return path.startswith(job.excepted)
