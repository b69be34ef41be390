"""Judge a crawl from the server's side: was it polite, did it obey?

Knows the log that simweb wrote and nothing else. The gap of two requests is the end of one to
the start of the next, robots.txt included; names that share an address share its clock, or those
of one registrable domain do, and the address has a rate for all of them (`per_domain`). What
the log says errs in the crawler's favour (see `connection`), and a gap that is too short by no
more than the tolerance is let pass; so an accusation holds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.errors import SettingError
from shared.naming.registrable_domain import registrable_domain
from simweb.judging.log_reader import Event, Seen, Span, read_crawl, read_log
from simweb.judging.verdict import Verdict

__all__ = ["Rules", "judge_events", "judge_log"]

_ROBOTS = "/robots.txt"
_AT_LEAST_0 = ("interval_ms", "tolerance_ms", "burst", "times_last", "address_interval_ms",
               "address_agents", "address_tolerance_ms")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Demands on a crawl."""

    interval_ms: float
    per_address: bool = True  # else a clock for each host name
    per_domain: bool = False  # a clock for each registrable domain at an address, if per_address
    address_interval_ms: float = 0.0  # between two requests to an address, of all clients; 0: any
    address_agents: int = 1  # clients that divide this rate, each with a separate clock
    address_tolerance_ms: float = 250.0  # how late the server may see a request
    per_client: bool = False  # else all clients share a clock
    interval_of_host: Mapping[str, float] = field(default_factory=dict)  # milliseconds by name
    tolerance_ms: float = 5.0
    burst: int = 1  # requests in a row on one connection without a gap; 0: any number
    times_last: float = 0.0  # the gap is at least so many times the last request's duration
    robots_first: bool = True

    def __post_init__(self) -> None:
        for name in _AT_LEAST_0:
            if getattr(self, name) < 0:
                raise SettingError(f"{name} = {getattr(self, name)}: must be >= 0")

    def clock_of(self, server: str, host: str) -> Hashable:
        """Return what politeness counts by."""
        if not self.per_address:
            return host
        return (server, registrable_domain(f"http://{host}:80/")) if self.per_domain else server

    def interval_of(self, *hosts: str) -> float:
        """Return the least interval of some hosts, in milliseconds."""
        return min(self.interval_of_host.get(host, self.interval_ms) for host in hosts)

    def client_of(self, seen: Seen) -> str:
        """Return the client that has a separate clock; empty when all share one."""
        return seen.client if self.per_client else ""


def judge_log(path: Path, *, interval_ms: float, **rules: Any) -> Verdict:
    """Judge a log file; `rules` are the other fields of `Rules`. Raises FormatError."""
    return judge_events(read_log(path), Rules(interval_ms=interval_ms, **rules))


def judge_events(events: Iterable[Event], rules: Rules) -> Verdict:
    """Judge the events of a log, in the order of the log."""
    crawl = read_crawl(events)
    verdict = Verdict(malformed=crawl.malformed, connections=len(crawl.spans))
    _count(verdict, crawl.requests)
    _judge_robots(verdict, crawl.requests, rules)
    _judge_gaps(verdict, crawl.requests, rules)
    _judge_rates(verdict, crawl.requests, rules)
    _judge_hosts(verdict, crawl.requests, rules)
    _judge_retry_after(verdict, crawl.requests, rules)
    _judge_connections(verdict, crawl.spans, rules)
    return verdict


def _count(verdict: Verdict, requests: list[Seen]) -> None:
    asked = Counter((seen.host, seen.path) for seen in requests)
    clients: dict[str, set[str]] = defaultdict(set)
    for seen in requests:
        clients[seen.host].add(seen.client)
    verdict.requests, verdict.urls = len(requests), len(asked)
    verdict.robots_requests = sum(seen.path == _ROBOTS for seen in requests)
    verdict.repeated = sum(count - 1 for (_, path), count in asked.items() if path != _ROBOTS)
    verdict.reused = sum(seen.reused for seen in requests)
    verdict.aborted = sum(seen.aborted for seen in requests)
    verdict.hosts = len(clients)
    verdict.shared_hosts = sum(len(names) > 1 for names in clients.values())
    verdict.addresses = len({seen.server for seen in requests})
    verdict.requests_by_client = dict(Counter(seen.client for seen in requests))
    verdict.user_agents = sorted({seen.user_agent for seen in requests})


def _judge_robots(verdict: Verdict, requests: list[Seen], rules: Rules) -> None:
    met: set[tuple[str, str]] = set()
    for seen in requests:
        if seen.disallowed:
            verdict.accuse("disallowed", str(seen))
        key = (seen.client, seen.host)
        if key in met or seen.misdirected:
            continue
        met.add(key)
        if rules.robots_first and seen.path != _ROBOTS:
            verdict.accuse("before_robots", str(seen))


def _judge_gaps(verdict: Verdict, requests: list[Seen], rules: Rules) -> None:
    def clock(seen: Seen) -> Hashable:
        return (rules.clock_of(seen.server, seen.host), rules.client_of(seen))

    for group in _grouped(requests, clock):
        last, row = group[0], 1
        for seen in group[1:]:
            gap_ms = _gap_ms(last, seen)
            needed_ms = rules.interval_of(last.host, seen.host)
            needed_ms = max(needed_ms, rules.times_last * (last.end_s - last.start_s) * 1_000)
            in_a_row = seen.connection == last.connection and gap_ms >= 0
            if gap_ms >= needed_ms - rules.tolerance_ms:
                row = 1
                verdict.gap(gap_ms)
            elif in_a_row and (not rules.burst or row < rules.burst):
                row += 1
            else:
                row = 1
                verdict.gap(gap_ms)
                verdict.accuse("too_close", _pair(last, seen, gap_ms, needed_ms))
            last = _later(last, seen)


def _judge_rates(verdict: Verdict, requests: list[Seen], rules: Rules) -> None:
    """Accuse what is above the rate of an address in any span of time.

    A span has one request for each interval, one more for each client, and those that the server
    may have seen late.
    """
    if not rules.address_interval_ms:
        return
    most = rules.address_agents + rules.address_tolerance_ms / rules.address_interval_ms
    for group in _grouped(requests, lambda seen: seen.server):
        level, last_s = 0.0, group[0].start_s
        for seen in group:
            passed = (seen.start_s - last_s) * 1_000 / rules.address_interval_ms
            level, last_s = max(0.0, level - passed) + 1, seen.start_s
            if level > most + 1e-9:
                text = f"{seen.server}: {level - most:.1f} requests too many at {seen}"
                verdict.accuse("address_rate", text)
                level = most


def _judge_hosts(verdict: Verdict, requests: list[Seen], rules: Rules) -> None:
    """Judge what a host asks for itself: its Crawl-delay, or an interval longer than the rule."""
    for group in _grouped(requests, lambda seen: (seen.host, rules.client_of(seen))):
        delay_ms = max(seen.crawl_delay_s for seen in group) * 1_000
        needed_ms = max(delay_ms, rules.interval_of_host.get(group[0].host, 0.0))
        if not delay_ms and needed_ms <= rules.interval_ms:
            continue
        last = group[0]
        for seen in group[1:]:
            gap_ms = _gap_ms(last, seen)
            # A client that requests robots.txt may not know the delay yet.
            if seen.path != _ROBOTS and gap_ms < needed_ms - rules.tolerance_ms:
                verdict.accuse("crawl_delay", _pair(last, seen, gap_ms, needed_ms))
            last = _later(last, seen)


def _judge_retry_after(verdict: Verdict, requests: list[Seen], rules: Rules) -> None:
    for group in _grouped(requests, lambda seen: (seen.host, seen.client)):
        told: Seen | None = None
        for seen in group:
            if told is not None:
                gap_ms, needed_ms = _gap_ms(told, seen), (told.retry_after_s or 0) * 1_000
                if gap_ms < needed_ms - rules.tolerance_ms:
                    verdict.accuse("retry_after", _pair(told, seen, gap_ms, needed_ms))
            if seen.retry_after_s is not None:
                told = seen


def _judge_connections(
    verdict: Verdict, spans: Mapping[tuple[int, int], Span], rules: Rules
) -> None:
    """Accuse a connection that opens while the client has another to the same address."""
    by_pair: dict[tuple[str, str, Hashable], list[tuple[float, float, int]]] = defaultdict(list)
    for (_, number), span in spans.items():
        clock = rules.clock_of(span.server, span.host) if rules.per_domain else None
        by_pair[span.client, span.server, clock].append((span.start_s, span.end_s, number))
    for (client, server, _), times in by_pair.items():
        times.sort()
        _, until, number = times[0]
        for start, end, other in times[1:]:
            over_ms = (until - start) * 1_000
            if over_ms > rules.tolerance_ms:
                text = f"{client} to {server}: connections {number} and {other}, {over_ms:.1f} ms"
                verdict.accuse("overlapping", text)
            if end > until:
                until, number = end, other


def _grouped(requests: list[Seen], key: Callable[[Seen], Hashable]) -> Iterable[list[Seen]]:
    groups: dict[Hashable, list[Seen]] = defaultdict(list)
    for seen in requests:
        groups[key(seen)].append(seen)
    return groups.values()


def _later(last: Seen, seen: Seen) -> Seen:
    """Return the request that ended later: a long one may cover several others."""
    return seen if seen.end_s >= last.end_s else last


def _gap_ms(last: Seen, seen: Seen) -> float:
    return (seen.start_s - last.end_s) * 1_000


def _pair(last: Seen, seen: Seen, gap_ms: float, needed_ms: float) -> str:
    return f"{seen.server}: {gap_ms:.1f} ms of {needed_ms:.0f} between {last} and {seen}"
