"""The steps of the crawl on one URL, one file, one robots.txt, for a person who wants to see.

It is the crawl's own code: what is printed here is what the agent would do. Nothing here needs a
home or a manager, and nothing breaks a rule: a URL that robots.txt forbids is not fetched, an
address that must not be crawled is not called.
"""

from __future__ import annotations

import asyncio
import getpass
import socket
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from agent.adapters.clock import SystemClock
from agent.adapters.curl import CurlFetcher
from agent.app.mapping import fetch_options, page_limits
from agent.app.session import resolver_of
from agent.modules.limits import CrawlLimits
from agent.modules.page.fields import field_values
from agent.modules.page.work import work_on
from agent.modules.request import REDIRECTS, redirect_target
from agent.modules.robots_rules import Rules
from agent.modules.robots_txt import MAX_BYTES, parse
from agent.pipeline.addresses import pinned
from agent.pipeline.messages import Fetched
from agent.pipeline.ports import FetchAnswer, FetchRequest, LookUp
from agent.settings import Settings
from shared.archive.capture import Capture
from shared.archive.content_coding import decode_content
from shared.errors import UrlError
from shared.naming import AddressRules
from shared.urls import canonical, host_of

__all__ = ["ByHand", "Hop", "Visit", "links_in", "with_contact"]

_DONE: Final = ("answered", "truncated")


@dataclass(slots=True)
class Hop:
    """One request, or why none was sent. Times are milliseconds, sizes bytes with headers.

    outcome: as in the crawl (`agent.pipeline.messages.Outcome`), or `denied` by robots.txt,
    `no_address`, `url_too_long`.
    """

    url: str
    outcome: str
    address: str = ""
    addresses: tuple[str, ...] = ()
    robots: str = ""  # `allow`, `deny`, or why it is not known
    rule: str = ""
    status: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    elapsed_ms: float = 0.0
    lookup_ms: float | None = None  # before it; None: behind a proxy, which looks up itself
    connect_ms: float = 0.0  # of elapsed_ms, until the connection stood; 0: it was open
    first_byte_ms: float = 0.0  # of elapsed_ms, until the answer began
    location: str | None = None
    header: str = ""
    limits: tuple[str, ...] = ()  # of ours, that were hit
    detail: str = ""


@dataclass(slots=True)
class Visit:
    """A URL from its first request to its last. `outcome` is that of the last."""

    url: str
    outcome: str = ""
    status: int = 0
    hops: list[Hop] = field(default_factory=list)
    robots: list[Hop] = field(default_factory=list)
    links: int = 0
    notes: str = ""

    @property
    def good(self) -> bool:
        """Whether a page came, whole or cut, with a status of 2xx."""
        return self.outcome in _DONE and 200 <= self.status < 300

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        return asdict(self)


def with_contact(settings: Settings) -> Settings:
    """Return settings that name somebody: this user at this machine, where nobody is set."""
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


class ByHand:
    """Fetches single URLs. Make it inside a running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = with_contact(settings)
        self._rules = AddressRules(settings.network.allowed_ranges)
        self._resolver = resolver_of(settings, self._rules)
        self._fetcher = CurlFetcher(
            fetch_options(self._settings), lambda: True, self._rules.refusal, SystemClock()
        )
        self._verdicts: dict[str, tuple[Rules | None, str]] = {}  # by host; or why all is denied

    async def close(self) -> None:
        """Let go of connections and look-ups."""
        self._fetcher.close()
        await self._resolver.close()

    async def visit(self, text: str) -> Visit:
        """Fetch a URL and follow its redirects, as the crawl would. Raises UrlError."""
        visit = Visit(canonical(text))
        url: str | None = visit.url
        while url is not None:
            if len(visit.hops) > self._settings.limits.redirects:
                visit.outcome = "too_many_redirects"
                break
            hop, answer = await self._one(url, visit)
            visit.hops.append(hop)
            visit.outcome, visit.status = hop.outcome, hop.status
            url = None if answer is None else redirect_target(answer)
            if url is None and answer is not None and answer.capture is not None:
                self._look_at_page(visit, answer.capture)
        return visit

    async def _one(self, url: str, visit: Visit) -> tuple[Hop, FetchAnswer | None]:
        if len(url) > self._settings.limits.url_chars:
            return Hop(url, "url_too_long", limits=("limits.url_chars",)), None
        found = await self._resolver.look_up(host_of(url))
        if not found.addresses:
            forbidden = found.reason.startswith("forbidden")
            outcome = "forbidden_address" if forbidden else "no_address"
            return Hop(url, outcome, detail=found.reason), None
        robots, rule = await self._robots(url, visit)
        if robots != "allow":
            # Where robots.txt got no answer at all, the host's failure is the news.
            last = visit.robots[-1].outcome if visit.robots and not rule else "answered"
            outcome = "denied" if last in _DONE else last
            hop = Hop(url, outcome, robots=robots, rule=rule, addresses=found.addresses)
            return hop, None
        hop, answer = await self._fetch(url, found, self._settings.limits.body_bytes, rules=False)
        hop.robots, hop.rule = robots, rule
        return hop, answer

    async def _robots(self, url: str, visit: Visit) -> tuple[str, str]:
        """Return what robots.txt says of a URL: (`allow` or `deny` with a reason, its rule)."""
        host = host_of(url)
        if host not in self._verdicts:
            self._verdicts[host] = await self._rules_of(host, visit)
        rules, reason = self._verdicts[host]
        if rules is None:
            return f"deny: {reason}", ""
        verdict = rules.allowed(url[url.index("/", 8) :])
        return ("allow" if verdict.allowed else "deny"), verdict.rule or ""

    async def _rules_of(self, host: str, visit: Visit) -> tuple[Rules | None, str]:
        url: str | None = canonical(f"{host}robots.txt")
        token, strict = self._settings.robot.token, self._settings.politeness.strict_robots
        for _ in range(CrawlLimits().rules_hops + 1):
            assert url is not None
            found = await self._resolver.look_up(host_of(url))
            if not found.addresses:
                return None, f"no address of {url}: {found.reason}"
            hop, answer = await self._fetch(url, found, MAX_BYTES, rules=True)
            visit.robots.append(hop)
            if answer.outcome not in _DONE or answer.status >= 500 or answer.capture is None:
                return None, f"{url} is unreachable: {answer.outcome} {answer.status or ''}".strip()
            if not (answer.status in REDIRECTS and (url := redirect_target(answer))):
                break
        if answer.capture is None or not 200 <= answer.status < 300:
            return parse(b"", token, strict), ""
        coding = ",".join(field_values(answer.capture.response_header, "Content-Encoding"))
        body = decode_content(answer.capture.body, coding, MAX_BYTES).body
        return parse(body, token, strict), ""

    async def _fetch(
        self, url: str, found: LookUp, max_bytes: int, *, rules: bool
    ) -> tuple[Hop, FetchAnswer]:
        done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
        request = FetchRequest(url, pinned(found.addresses[0]), max_bytes, rules=rules)
        self._fetcher.start(request, done.set_result)
        answer = await done
        header, cut = "", None
        if answer.capture is not None:
            header = answer.capture.response_header.decode("latin-1")
            cut = answer.capture.truncated
        hop = Hop(
            url,
            answer.outcome,
            address=found.addresses[0],
            addresses=found.addresses,
            status=answer.status,
            request_bytes=answer.request_bytes,
            response_bytes=answer.response_bytes,
            elapsed_ms=round(answer.elapsed_ms, 3),
            lookup_ms=None if found.took_ms is None else round(found.took_ms, 3),
            connect_ms=round(answer.connect_ms, 3),
            first_byte_ms=round(answer.first_byte_ms, 3),
            location=answer.location,
            header=header,
            limits=() if cut is None else (f"cut: {cut}",),
            detail=answer.detail,
        )
        return hop, answer

    def _look_at_page(self, visit: Visit, capture: Capture) -> None:
        page = Fetched(capture, capture.url, host_of(capture.url), "", 0, 0, 0)
        try:
            work = work_on(page, page_limits(self._settings))
        except UrlError as error:
            visit.notes = str(error)
            return
        visit.links, visit.notes = len(work.links.urls), work.processed.note
