"""Fetch of one URL or reading of one file by the steps of the crawl, for a person.

Each decision is made by the crawl's own modules: `filter` says whether a URL is worth a request,
`rules_fetch` and `robots` whether it may be fetched, `fetch` what an answer means and where it
leads, and the page work which links it has. This module only carries their messages from one to
the next, and writes down what they said. Nothing here needs a home or a manager.
"""

from __future__ import annotations

import asyncio
import getpass
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from agent.adapters.clock import SystemClock
from agent.adapters.curl import CurlFetcher
from agent.app.session.visit import ANSWERED, Hop, Visit, hop_of
from agent.app.startup.settings_mapping import (
    blocked_by,
    crawl_limits,
    fetch_options,
    page_limits,
    resolver_of,
)
from agent.modules.counts import StopCounts
from agent.modules.fetch import Fetch
from agent.modules.filter import Filter
from agent.modules.page.work import work_on
from agent.modules.retry import gets_another_attempt
from agent.modules.robots.robots import Robots
from agent.modules.robots.robots_fetch import RulesFetch
from agent.modules.server_list.scope import scope_of_jobs
from agent.pipeline.handler import Output
from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.pages import Candidate, Fetched, Links
from agent.pipeline.messages.requests import Denied, Due, FetchAnswer
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesKnown, RulesRedirected
from agent.settings import Settings
from shared.archive.capture import Capture
from shared.naming import AddressRules
from shared.urls import canonical, host_of

__all__ = ["SingleFetch", "links_in", "with_contact"]

_JOB: Final = 1  # a request by hand is a separate job
_OUTCOMES: Final = {"URL too long": "url_too_long", "too many redirects": "too_many_redirects"}
_LIMITS: Final = {"URL too long": ("limits.url_chars",)}


def with_contact(settings: Settings) -> Settings:
    """Return settings with a contact: this user at this machine, where none is set."""
    if settings.robot.contact:
        return settings
    contact = f"{getpass.getuser()}@{socket.getfqdn()}"
    return replace(settings, robot=replace(settings.robot, contact=contact))


def links_in(body: bytes, base: str, content_type: str) -> tuple[str, ...]:
    """Return the canonical links of a page that came from `base`. Raises UrlError."""
    url = canonical(base)
    header = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type.encode("latin-1", "replace")
    capture = Capture(
        url=url,
        fetched_at_ms=0,
        request=b"",
        response_header=header + b"\r\n\r\n",
        body=body,
        ip=None,
    )
    page = Fetched(capture, url, host_of(url), "", 0, 0, 0)
    return work_on(page, page_limits(Settings(home=Path()))).links.urls


class SingleFetch:
    """Fetches URLs one by one. Make it inside a running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = with_contact(settings)
        addresses = AddressRules(settings.dns.allowed_networks)
        self._resolver = resolver_of(settings, addresses)
        clock = SystemClock()
        self._fetcher = CurlFetcher(
            fetch_options(self._settings), lambda: True, addresses.refusal, clock
        )
        self._limits = limits = crawl_limits(settings)
        robot = self._settings.robot
        self._answer: asyncio.Future[FetchAnswer]
        self._stopped = StopCounts()
        self._filter = Filter(
            scope_of_jobs(()),
            limits,
            blocked_by(settings.politeness.blocked_url_patterns),
            self._stopped,
            lambda: datetime.now(UTC).year,
        )
        self._rules_fetch = RulesFetch(self._fetcher, limits, self._set_answer)
        self._robots = Robots(robot.product_token, settings.politeness.strict_robots, clock, limits)
        self._fetch = Fetch(self._fetcher, limits, self._set_answer)
        self._unreachable: dict[str, str] = {}  # hosts that are denied as a whole, and why
        self._known: set[str] = set()  # hosts whose rules are known

    async def close(self) -> None:
        """Close connections and look-ups."""
        self._fetcher.close()
        await self._resolver.close()

    async def visit(self, text: str) -> Visit:
        """Fetch a URL and follow its redirects, as the crawl would. Raises UrlError."""
        visit = Visit(canonical(text))
        asked: set[str] = set()
        links: Links | None = Links((visit.url,), None, 0, 0)
        while links is not None:
            url = links.urls[0]
            if url in asked and not links.again:
                visit.outcome = "too_many_redirects"  # a loop: the crawl knows the URL already
                break
            asked.add(url)
            hop, links = await self._fetch_one(links, visit)
            if hop.outcome == "too_many_redirects":
                visit.outcome = hop.outcome
                break
            visit.hops.append(hop)
            visit.outcome, visit.status = hop.outcome, hop.status
        return visit

    async def _fetch_one(self, links: Links, visit: Visit) -> tuple[Hop, Links | None]:
        """Return the result of one URL, and its redirect target."""
        url = links.urls[0]
        host = host_of(url)
        candidate, reason = self._filtered(links, host)
        if candidate is None:
            outcome = _OUTCOMES.get(reason, "filtered")
            detail = reason if outcome == "filtered" else ""
            return Hop(url, outcome, limits=_LIMITS.get(reason, ()), detail=detail), None
        found = await self._resolver.look_up(host)
        if not found.addresses:
            forbidden = found.reason.startswith("forbidden")
            outcome = "forbidden_address" if forbidden else "no_address"
            return Hop(url, outcome, detail=found.reason), None
        if host not in self._known and host not in self._unreachable:
            await self._fetch_rules(host, found, visit)
        due = _due(candidate, found.addresses[0])
        robots, rule = self._verdict(due)
        if robots != "allow":
            # Where robots.txt got no answer at all, the host's failure is the news.
            last = visit.robots[-1].outcome if visit.robots and not rule else "answered"
            outcome = "denied" if last in ANSWERED else last
            return Hop(url, outcome, robots=robots, rule=rule, addresses=found.addresses), None
        answer, outputs = await self._send(self._fetch, partial(self._fetch.handle_due, [due]))
        while self._is_retried(answer):
            visit.hops.append(hop_of(answer, found))
            due = replace(due, attempt=due.attempt + 1)
            answer, outputs = await self._send(self._fetch, partial(self._fetch.handle_due, [due]))
        hop = hop_of(answer, found)
        hop.robots, hop.rule = robots, rule
        following: Links | None = None
        for port, message in outputs:
            if port == "redirect" and isinstance(message, Links):
                following = message
            elif port == "page" and isinstance(message, Fetched):
                self._read_links(visit, message)
        return hop, following

    def _filtered(self, links: Links, host: str) -> tuple[Candidate | None, str]:
        """Return a URL as the filter lets it through, or None and why it does not."""
        self._filter.use_scope(scope_of_jobs((Job(_JOB, host, "crawl", 0),)))
        before = {reason: one.count for reason, one in self._stopped.by_reason.items()}
        for _, message in self._filter.handle_links([links]):
            if isinstance(message, Candidate):
                return message, ""
        for reason, one in self._stopped.by_reason.items():
            if one.count > before.get(reason, 0):
                return None, reason
        return None, "outside"

    async def _fetch_rules(self, host: str, found: LookUp, visit: Visit) -> None:
        """Fetch a host's robots.txt and have it read."""
        due: RulesDue | None = RulesDue(
            host, found.addresses[0], canonical(host) + "robots.txt", 0, 0, "crawl"
        )
        while due is not None:
            start = partial(self._rules_fetch.handle_due, [due])
            answer, outputs = await self._send(self._rules_fetch, start)
            visit.robots.append(hop_of(answer, found))
            due = replace(due, attempt=2) if answer.is_free_retry else None
            for port, message in outputs:
                if port == "redirect" and isinstance(message, RulesRedirected):
                    found = await self._resolver.look_up(message.host)
                    if found.addresses:
                        due = _rules_due(message, found.addresses[0])
                    else:
                        reason = f"no address of {message.url}: {found.reason}"
                        lost = RulesFetched(host, "", 0, b"", reason)
                        self._read_rules(host, lost)
                elif port == "fetched" and isinstance(message, RulesFetched):
                    self._read_rules(host, message)

    def _read_rules(self, host: str, fetched: RulesFetched) -> None:
        outputs = list(self._robots.handle_fetched([fetched]))
        while self._robots.goes_on:  # a long text is read in portions
            outputs += self._robots.handle_tick([])
        for _, message in outputs:
            if isinstance(message, RulesKnown):
                if message.all_denied:
                    self._unreachable[host] = message.reason
                else:
                    self._known.add(host)

    def _verdict(self, due: Due) -> tuple[str, str]:
        """Return what robots.txt says of a URL: (`allow`, or `deny` with a reason, its rule)."""
        reason = self._unreachable.get(due.host)
        if reason is not None:
            return f"deny: {due.host}robots.txt is unreachable: {reason}", ""
        for _, message in self._robots.handle_due([due]):
            if isinstance(message, Denied):
                return "deny", message.rule
            if isinstance(message, Due):
                verdict = self._robots.rule_of(message)
                return "allow", verdict
        return "deny", ""

    async def _send(
        self, module: Fetch | RulesFetch, start: Callable[[], Iterable[Output]]
    ) -> tuple[FetchAnswer, list[Output]]:
        """Start a request by a module; return the answer and the outputs that follow from it."""
        self._answer = asyncio.get_running_loop().create_future()
        _drain(start())
        answer = await self._answer
        return answer, list(module.handle_answer([answer]))

    def _is_retried(self, answer: FetchAnswer) -> bool:
        """Return whether a page is asked for again because of the way in which it was asked."""
        due, retries = answer.due, self._limits.retries
        return answer.outcome == "retry" and gets_another_attempt(
            answer.outcome, answer.status, due.attempt, retries
        )

    def _set_answer(self, answer: FetchAnswer) -> None:
        self._answer.set_result(answer)

    def _read_links(self, visit: Visit, page: Fetched) -> None:
        work = work_on(page, page_limits(self._settings))
        visit.found, visit.notes = work.links.urls, work.processed.note
        visit.links = len(visit.found)


def _due(one: Candidate, address: str) -> Due:
    return Due(
        one.url,
        one.host,
        address,
        one.job,
        one.depth,
        one.redirects,
        one.referer,
        1,
        0,
        "crawl",
        one.chain,
    )


def _rules_due(one: RulesRedirected, address: str) -> RulesDue:
    return RulesDue(one.rules_of, address, one.url, one.hop, one.round, one.kind, chain=one.chain)


def _drain(outputs: Iterable[Output]) -> None:
    """Run a module whose outputs come later."""
    for _ in outputs:
        pass
