"""Keeps the rules of each host, and asks them before every page.

    2xx                      the rules that it says
    4xx, other 3xx, 1xx      there are none: everything is allowed
    5xx, no answer, garbage  nothing is allowed until it answers; rules that were known hold on
    408, 425, 429            as 5xx: this request came too slowly, too early or too soon, which says
                             nothing of rules; 421 and 451 are as any other 4xx (ADR 185)
    more rules than memory   as 5xx: where hosts with as long ones are in work (rules_kept)

The sitemaps that a robots.txt names leave as links when the first page of a job asks for the rules,
and so do the files that a standard puts at one place of every host.

Invariant: no page leaves by `allowed` without rules of its host that allow it. A robots.txt holds
for 24 hours at most, unless its host is unreachable. A long one is read some milliseconds at each
tick: its host waits for that, the loop does not.
Leaves to others: matching (`robots_rules`), redirects (`robots_fetch`), the next fetch (frontier).
Source: RFC 9309, 2.3.1 and 2.4; RFC 6585, 4 (429; ADR 55); RFC 9110, 15.5.9 (408); RFC 8470, 5.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Final

from agent.modules.limits import CrawlLimits
from agent.modules.robots.robots_cache import RulesKept
from agent.modules.robots.robots_parser import parse_in_portions
from agent.modules.robots.robots_rules import Rules
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import RULES_DEPTH, SITEMAP_DEPTH, Links
from agent.pipeline.messages.requests import Denied, Due, Tick
from agent.pipeline.messages.robots import RulesFetched, RulesKnown
from agent.pipeline.ports import Clock, RulesStore
from shared.errors import UrlError
from shared.frozen import frozen
from shared.plurals import with_plurals
from shared.urls import canonical, crawlable
from shared.well_known import SITEMAP_PATHS, WELL_KNOWN_FOLDER

__all__ = ["Robots"]

RULES_ASKED: Final = "only its rules were asked for"
"""Reason of the denial of an entry of `RULES_DEPTH`, which is never fetched."""

OF_THIS_REQUEST: Final = frozenset({408, 425, 429})
"""Answers of 4xx that are of one request, and would be others later."""

PORTIONS: Final = 4
"""Of texts that are read at once, and at each tick: some twelve milliseconds, in which nothing else
runs. Nearly every robots.txt is shorter than that."""

CROWD_BYTES: Final = 16_000_000
"""Of texts that wait to be read, until no request starts."""


@frozen
class _ParseJob:
    fetched: RulesFetched
    portions: Generator[None, None, Rules]
    size_bytes: int


class Robots:
    """The module `robots`."""

    def __init__(
        self,
        token: str,
        strict: bool,
        clock: Clock,
        limits: CrawlLimits,
        store: RulesStore | None = None,
    ) -> None:
        """Begin without any rules.

        token: how a robots.txt addresses us. strict: obey every Disallow, whomever it addresses.
        store: for rules that have no room in memory; None: they are fetched again.
        """
        self._token = token
        self._strict = strict
        self._clock = clock
        self._limits = limits
        self._known = RulesKept(limits.rules_kept, limits.short_rules, limits.long_rules, store)
        self._readings: deque[_ParseJob] = deque()
        self._to_read_bytes = 0

    @property
    def crowded(self) -> bool:
        """Return whether so much waits to be read that nothing more should be fetched."""
        return self._to_read_bytes > CROWD_BYTES

    @property
    def goes_on(self) -> bool:
        """Return whether a text is read on at the next tick."""
        return bool(self._readings)

    def rule_of(self, due: Due) -> str:
        """Return the line that decides about a URL whose rules are known; "": no line does."""
        known = self._known.get(due.host, self._clock.monotonic_s())
        if known is None:
            return ""
        return known.rules.allowed(due.url[due.url.index("/", 8) :]).rule or ""

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "fetched": Input(RulesFetched, self.handle_fetched),
            "due": Input(Due, self.handle_due),
            "tick": Input(Tick, self.handle_tick),
        }

    def wants_tick(self, _: Tick) -> bool:
        """Return whether anything waits for the time."""
        return bool(self._readings)

    def handle_tick(self, _: Sequence[Tick]) -> Iterable[Output]:
        """Parse the next portions of long texts."""
        return self._read()

    def handle_due(self, batch: Sequence[Due]) -> Iterator[Output]:
        """Check URLs whose turn it is against the rules of their hosts."""
        now_s = self._clock.monotonic_s()
        for due in batch:
            known = self._known.get(due.host, now_s)
            if known is None:
                yield "denied", Denied(due, due.host, due.address, "")
                continue
            asks = due.depth == RULES_DEPTH
            if (asks or due.job not in known.told) and (known.rules.sitemaps or self._tries(due)):
                known.told.add(due.job)
                yield from self._sitemaps(due, known.rules)
                yield from self._well_known(due)
            if asks:
                yield "denied", Denied(due, due.host, due.address, RULES_ASKED)
                continue
            url = due.url
            verdict = known.rules.allowed(url[url.index("/", 8) :])
            if verdict.allowed:
                yield "allowed", due
            else:
                rule = verdict.rule or "Disallow"
                yield "denied", Denied(due, due.host, due.address, rule)

    def _sitemaps(self, due: Due, rules: Rules) -> Iterator[Output]:
        """Yield the sitemaps of a host as links, once for each job: its seen-set is its own."""
        urls: dict[str, None] = {}
        base = canonical(due.host) + "robots.txt"
        for text in rules.sitemaps:
            try:
                urls[crawlable(text, base)] = None
            except UrlError:
                continue
            if len(urls) == self._limits.sitemaps:
                break
        if urls and self._limits.sitemaps:
            kinds = bytes((LinkKind.SITEMAP,)) * len(urls)
            yield "links", Links(tuple(urls), base, due.job, SITEMAP_DEPTH, kinds=kinds)

    def _tries(self, due: Due) -> bool:
        """Return whether well-known files are asked for: by a crawl, not by a probe."""
        return due.kind == "crawl" and bool(self._limits.guess_sitemaps or self._limits.well_known)

    def _well_known(self, due: Due) -> Iterator[Output]:
        """Yield the files that a standard puts at one place of every host, once for each job."""
        if not self._tries(due):
            return
        top, limits = canonical(due.host), self._limits
        if limits.guess_sitemaps and limits.sitemaps:
            urls = tuple(top[:-1] + path for path in SITEMAP_PATHS)
            kinds = bytes((LinkKind.WELL_KNOWN,)) * len(urls)
            yield "links", Links(urls, None, due.job, SITEMAP_DEPTH, kinds=kinds)
        if limits.well_known:
            folder = top[:-1] + WELL_KNOWN_FOLDER
            urls = tuple(folder + name for name in limits.well_known)
            kinds = bytes((LinkKind.WELL_KNOWN,)) * len(urls)
            yield "links", Links(urls, None, due.job, 0, kinds=kinds)

    def handle_fetched(self, batch: Sequence[RulesFetched]) -> Iterator[Output]:
        """Parse answers for robots.txt, long ones in portions."""
        for one in batch:
            if _unreachable(one):
                yield self._fail(one)
                continue
            body = one.body if 200 <= one.status < 300 else b""
            portions = parse_in_portions(body, self._token, self._strict)
            self._readings.append(_ParseJob(one, portions, len(body)))
            self._to_read_bytes += len(body)
        yield from self._read()

    def _read(self) -> Iterator[Output]:
        """Read on for some portions, and yield what is known then."""
        left = PORTIONS
        while left and self._readings:
            one = self._readings[0]
            try:
                next(one.portions)
                left -= 1
            except StopIteration as end:
                self._readings.popleft()
                self._to_read_bytes -= one.size_bytes
                yield self._learn(one.fetched, end.value)

    def _fail(self, fetched: RulesFetched) -> Output:
        now = self._clock.monotonic_s()
        reason = _unreachable(fetched)
        before = self._known.get(fetched.host, now)
        if before is None:
            return _denied(fetched, now, reason)
        # A page allowed an hour ago is not forbidden because a server is down now.
        return _known(fetched, before.rules, now + self._limits.rules_retry_s)

    def _learn(self, fetched: RulesFetched, rules: Rules) -> Output:
        now = self._clock.monotonic_s()
        limits = self._limits
        if not self._known.put(fetched.host, rules, now):
            reason = with_plurals(
                f"its robots.txt takes the room of {rules.size} rules, of {limits.long_rules} for "
                "all long ones, and hosts in work need the rest; it is asked again later"
            )
            return _denied(fetched, now, reason)
        return _known(fetched, rules, now + limits.rules_s)


def _known(fetched: RulesFetched, rules: Rules, until_s: float) -> Output:
    return "known", RulesKnown(fetched.host, fetched.address, until_s, rules.crawl_delay_s)


def _denied(fetched: RulesFetched, now_s: float, reason: str) -> Output:
    host, address = fetched.host, fetched.address
    return "known", RulesKnown(host, address, now_s, None, all_denied=True, reason=reason)


def _unreachable(fetched: RulesFetched) -> str:
    """Return why a robots.txt counts as unreachable; "": it does not."""
    if fetched.status >= 500 or fetched.status in OF_THIS_REQUEST:
        return f"status {fetched.status}"
    if fetched.status < 100:
        return fetched.reason or "no answer"
    return ""
