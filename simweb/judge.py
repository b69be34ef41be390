"""Judge a crawl from the server's side: was it polite, did it obey?

Reads the log that simweb wrote and nothing else. The gap of two requests is the end of one to
the start of the next, robots.txt included; names that share an address share its clock. What
the log says errs in the crawler's favour (see `connection`), and a gap that is too short by no
more than the tolerance is let pass; so an accusation holds.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.errors import FormatError, SettingError
from simweb.verdict import Verdict

__all__ = ["Rules", "judge_events", "judge_log", "read_log"]

Event = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is demanded of a crawl."""

    interval_ms: float
    per_address: bool = True  # else a clock for each host name
    per_client: bool = False  # else all clients share a clock
    interval_of_host: Mapping[str, float] = field(default_factory=dict)  # milliseconds by name
    tolerance_ms: float = 5.0
    burst: int = 1  # requests in a row on one connection without a gap; 0: any number
    times_last: float = 0.0  # the gap is at least so many times the last request's duration
    robots_first: bool = True

    def __post_init__(self) -> None:
        for name in ("interval_ms", "tolerance_ms", "burst", "times_last"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} = {getattr(self, name)}: must be >= 0")

    def interval_of(self, *hosts: str) -> float:
        """Return the least interval of some hosts, in milliseconds."""
        return min(self.interval_of_host.get(host, self.interval_ms) for host in hosts)


def judge_log(path: Path, *, interval_ms: float, **rules: Any) -> Verdict:
    """Judge a log file. Raises FormatError for one that simweb did not write."""
    return judge_events(read_log(path), Rules(interval_ms=interval_ms, **rules))


def read_log(path: Path) -> Iterator[Event]:
    """Yield the events of a log; a broken last line is what a killed server leaves."""
    broken = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if broken:
                break
            try:
                event = json.loads(line)
                event["event"]
            except (ValueError, TypeError, KeyError):
                broken = f"{path}: line {number} is no event of a simweb log"
                continue
            yield event
        else:
            if not broken or number > 1:
                return
    raise FormatError(broken)


def judge_events(events: Iterable[Event], rules: Rules) -> Verdict:
    """Judge the events of a log, in the order of the log."""
    verdict = Verdict()
    requests: list[Event] = []
    spans: dict[tuple[int, int], list[Event]] = defaultdict(list)
    run = 0  # connection numbers start anew with each run of the server
    for event in events:
        kind = event["event"]
        run += kind == "start"
        if kind in ("request", "open", "close"):
            spans[run, event["connection"]].append(event)
        if kind == "request":
            requests.append({**event, "connection": (run, event["connection"])})
        verdict.malformed += kind == "malformed"
    requests.sort(key=lambda event: float(event["mono_start"]))
    _count(verdict, requests)
    verdict.connections = len(spans)
    _judge_robots(verdict, requests, rules)
    _judge_gaps(verdict, requests, rules)
    _judge_hosts(verdict, requests, rules)
    _judge_retry_after(verdict, requests, rules)
    _judge_connections(verdict, spans.values(), rules)
    return verdict


def _count(verdict: Verdict, requests: list[Event]) -> None:
    asked: Counter[tuple[str, str]] = Counter()
    clients: dict[str, set[str]] = defaultdict(set)
    for event in requests:
        if event["path"] == "/robots.txt":
            verdict.robots_requests += 1
        asked[event["host"], event["path"]] += 1
        clients[event["host"]].add(event["client"])
        verdict.reused += bool(event["reused"])
        verdict.aborted += bool(event.get("aborted"))
    verdict.requests, verdict.urls = len(requests), len(asked)
    verdict.repeated = sum(n - 1 for (_, path), n in asked.items() if path != "/robots.txt")
    verdict.hosts = len(clients)
    verdict.shared_hosts = sum(len(names) > 1 for names in clients.values())
    verdict.addresses = len({event["server"] for event in requests})
    verdict.requests_by_client = dict(Counter(event["client"] for event in requests))
    verdict.user_agents = sorted({event["user_agent"] for event in requests})


def _judge_robots(verdict: Verdict, requests: list[Event], rules: Rules) -> None:
    met: set[tuple[str, str]] = set()
    for event in requests:
        if event["disallowed"]:
            verdict.accuse("disallowed", _named(event))
        key = (event["client"], event["host"])
        if key in met or event.get("misdirected"):
            continue
        met.add(key)
        if rules.robots_first and event["path"] != "/robots.txt":
            verdict.accuse("before_robots", _named(event))


def _judge_gaps(verdict: Verdict, requests: list[Event], rules: Rules) -> None:
    place = "server" if rules.per_address else "host"

    def clock(event: Event) -> Hashable:
        return (event[place], event["client"] if rules.per_client else None)

    for group in _grouped(requests, clock):
        last, row = group[0], 1
        for event in group[1:]:
            gap_ms = _gap_ms(last, event)
            needed = rules.interval_of(last["host"], event["host"])
            needed = max(needed, rules.times_last * _duration_ms(last))
            in_a_row = event["connection"] == last["connection"] and gap_ms >= 0
            if gap_ms >= needed - rules.tolerance_ms:
                row = 1
                verdict.gap(gap_ms)
            elif in_a_row and (not rules.burst or row < rules.burst):
                row += 1
            else:
                row = 1
                verdict.gap(gap_ms)
                verdict.accuse("too_close", _pair(last, event, gap_ms, needed))
            if event["mono_end"] >= last["mono_end"]:
                last = event


def _judge_hosts(verdict: Verdict, requests: list[Event], rules: Rules) -> None:
    """Judge what a host asks for itself: its Crawl-delay, or an interval longer than the rule."""

    def clock(event: Event) -> Hashable:
        return (event["host"], event["client"] if rules.per_client else None)

    for group in _grouped(requests, clock):
        delay_ms = max(float(event.get("crawl_delay_s", 0)) * 1_000 for event in group)
        needed = max(delay_ms, rules.interval_of_host.get(group[0]["host"], 0.0))
        if needed <= rules.interval_ms and not delay_ms:
            continue
        last = group[0]
        for event in group[1:]:
            gap_ms = _gap_ms(last, event)
            # Whoever asks for robots.txt may not know of the delay yet.
            if event["path"] != "/robots.txt" and gap_ms < needed - rules.tolerance_ms:
                verdict.accuse("crawl_delay", _pair(last, event, gap_ms, needed))
            if event["mono_end"] >= last["mono_end"]:
                last = event


def _judge_retry_after(verdict: Verdict, requests: list[Event], rules: Rules) -> None:
    for group in _grouped(requests, lambda event: (event["host"], event["client"])):
        asked: Event | None = None
        for event in group:
            if asked is not None:
                gap_ms, needed = _gap_ms(asked, event), asked["retry_after_s"] * 1_000
                if gap_ms < needed - rules.tolerance_ms:
                    verdict.accuse("retry_after", _pair(asked, event, gap_ms, needed))
            if event.get("retry_after_s") is not None:
                asked = event


def _judge_connections(verdict: Verdict, spans: Iterable[list[Event]], rules: Rules) -> None:
    """Accuse each connection that opens while another of the same client to the address is open."""
    by_pair: dict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    for events in spans:
        # A connection without an end (the server was killed) lasts as long as it was heard of.
        starts = [_moment(event, "mono_start") for event in events]
        times = [_moment(event, "mono_end") for event in events]
        first = events[0]
        span = (min(starts), max(times), int(first["connection"]))
        by_pair[first["client"], first["server"]].append(span)
    for (client, server), pairs in by_pair.items():
        pairs.sort()
        until, number = pairs[0][1:]
        for start, end, other in pairs[1:]:
            over_ms = (until - start) * 1_000
            if over_ms > rules.tolerance_ms:
                verdict.accuse(
                    "overlapping",
                    f"{client} to {server}: connections {number} and {other}, {over_ms:.1f} ms",
                )
            if end > until:
                until, number = end, other


def _grouped(requests: list[Event], key: Callable[[Event], Hashable]) -> Iterable[list[Event]]:
    groups: dict[Hashable, list[Event]] = defaultdict(list)
    for event in requests:
        groups[key(event)].append(event)
    return groups.values()


def _moment(event: Event, name: str) -> float:
    """Return when a request began or ended, or when anything else happened."""
    return float(event[name] if name in event else event["mono"])


def _gap_ms(last: Event, event: Event) -> float:
    return float(event["mono_start"] - last["mono_end"]) * 1_000


def _duration_ms(event: Event) -> float:
    return float(event["mono_end"] - event["mono_start"]) * 1_000


def _named(event: Event) -> str:
    return f"{event['client']} {event['method']} http://{event['host']}{event['path']}"


def _pair(last: Event, event: Event, gap_ms: float, needed_ms: float) -> str:
    return (
        f"{event['server']}: {gap_ms:.1f} ms of {needed_ms:.0f} between "
        f"{_named(last)} and {_named(event)}"
    )
