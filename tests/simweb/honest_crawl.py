"""A plain, honest crawler to prove that the expected sets are what a crawl really gets.

One thread, one connection a request, standard library only. It knows nothing of the plan: names
come from the simulated DNS, links from the pages, permission from robots.txt.
"""

from __future__ import annotations

import http.client
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

import brotli
from dnslib import DNSRecord

from simweb.sites.file_site_crawl import LinkReader
from simweb.sites.robots import forbids

USER_AGENT = "HonestBot/1.0 (+http://honest.example/; bot@honest.example)"
LIMIT_BYTES = 2_000_000
MOST_HOPS = 10
RETRIES = 2


class FetchError(Exception):
    """A URL gives no answer that can be used; the text says why."""


@dataclass
class Page:
    """An answer with its body decoded."""

    status: int
    headers: dict[str, str]
    body: bytes


def ask_dns(name: str, port: int, tcp: bool = False, kind: str = "A") -> DNSRecord:
    """Ask the simulated name server once."""
    question = DNSRecord.question(name, kind)
    return DNSRecord.parse(question.send("127.0.0.1", port, tcp=tcp, timeout=1.0))


def decoded(body: bytes, coding: str) -> bytes:
    """Undo a content coding. Raises FetchError for a broken or too large body."""
    if not coding:
        return body
    try:
        if coding == "br":
            return bytes(brotli.decompress(body))
        # Some hosts send deflate without its wrapper, as some real ones do.
        wbits = 31 if coding == "gzip" else 15 if body[0] & 15 == 8 else -15
        unpacker = zlib.decompressobj(wbits)
        plain = unpacker.decompress(body, LIMIT_BYTES)
    except (zlib.error, brotli.error) as error:
        raise FetchError(f"broken {coding}: {error}") from error
    if not unpacker.eof:
        raise FetchError(f"{coding} ends early or is too large")
    return plain


@dataclass
class HonestCrawl:
    """Crawls from seeds, host by host, until nothing is left."""

    dns_port: int
    source: str = "127.10.0.1"
    timeout_s: float = 1.0
    captures: dict[str, bytes] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    redirects: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    noindex: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._rules: dict[str, str | None] = {}  # None: all is forbidden
        self._seen: set[str] = set()
        self._queue: deque[tuple[str, int]] = deque()

    def run(self, seeds: list[str]) -> None:
        """Crawl everything that links from the seeds lead to."""
        for url in seeds:
            self._add(url, 0)
        while self._queue:
            url, hops = self._queue.popleft()
            try:
                self._visit(url, hops)
            except FetchError as error:
                self.failed[url] = str(error)

    def fetch(self, url: str) -> Page:
        """Fetch a URL once. Raises FetchError."""
        parts = urlsplit(url)
        name = parts.hostname or ""
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection = http.client.HTTPConnection(
            self._address_of(name), parts.port, self.timeout_s, (self.source, 0)
        )
        headers = {
            "Host": parts.netloc,
            "User-Agent": USER_AGENT,
            "Accept-Encoding": "gzip, deflate, br",
            "Connection": "close",
        }
        try:
            connection.request("GET", target, headers=headers)
            answer = connection.getresponse()
            body = answer.read(LIMIT_BYTES)
            if answer.read(1):
                raise FetchError("too large")
            found = {name.lower(): value for name, value in answer.getheaders()}
            length = found.get("content-length")
            if length is not None and len(body) != int(length):
                raise FetchError("short")
            return Page(answer.status, found, decoded(body, found.get("content-encoding", "")))
        except (OSError, http.client.HTTPException) as error:
            raise FetchError(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def _visit(self, url: str, hops: int) -> None:
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        rules = self._rules_of(url)
        if rules is None or forbids(rules, USER_AGENT, target):
            self.denied.add(url)
            return
        page = self.fetch(url)
        for _ in range(RETRIES):
            if page.status in (429, 503):
                time.sleep(float(page.headers.get("retry-after", 0)) + 0.01)
                page = self.fetch(url)
        if page.status in (301, 302, 303, 307, 308):
            self.redirects.add(url)
            if hops < MOST_HOPS:
                self._add(urljoin(url, page.headers["location"]), hops + 1)
        elif page.status == 200:
            self._keep(url, page)
        else:
            raise FetchError(f"status {page.status}")

    def _keep(self, url: str, page: Page) -> None:
        if b'name="robots" content="noindex"' in page.body:
            self.noindex.add(url)
        else:
            self.captures[url] = page.body
        if page.headers.get("content-type", "").startswith("text/html"):
            reader = LinkReader(url)
            reader.feed(page.body.decode("latin-1"))
            for link in reader.links():
                self._add(link, 0)

    def _add(self, url: str, hops: int) -> None:
        url = urljoin(url, url).replace(urlsplit(url).netloc, urlsplit(url).netloc.lower())
        if url not in self._seen:
            self._seen.add(url)
            self._queue.append((url, hops))

    def _rules_of(self, url: str) -> str | None:
        place = urlsplit(url).netloc
        if place not in self._rules:
            self._rules[place] = self._fetch_rules(f"http://{place}/robots.txt")
        return self._rules[place]

    def _fetch_rules(self, url: str) -> str | None:
        for _ in range(6):
            page = self.fetch(url)
            if page.status not in (301, 302, 303, 307, 308):
                break
            url = urljoin(url, page.headers["location"])
        if page.status >= 500:
            return None
        return page.body.decode() if page.status == 200 else ""

    def _address_of(self, name: str) -> str:
        if name not in self._addresses:
            answer = ask_dns(name, self.dns_port)
            if answer.header.tc:
                answer = ask_dns(name, self.dns_port, tcp=True)
            if not answer.rr:
                raise FetchError(f"no address of {name}: rcode {answer.header.rcode}")
            self._addresses[name] = str(answer.rr[0].rdata)
        return self._addresses[name]
