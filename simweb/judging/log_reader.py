"""Read a log into what a judge needs of it, compactly: a million requests fit into memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from shared.errors import FormatError

__all__ = ["Crawl", "Event", "Seen", "Span", "read_crawl", "read_log"]

Event = dict[str, Any]


@dataclass(slots=True)
class Seen:
    """One request. Times are seconds of the monotonic clock."""

    start_s: float
    end_s: float
    client: str
    server: str
    host: str
    method: str
    path: str
    user_agent: str
    connection: tuple[int, int]  # run of the server, number
    reused: bool
    disallowed: bool
    aborted: bool
    misdirected: bool
    crawl_delay_s: float
    retry_after_s: float | None

    def __str__(self) -> str:
        return f"{self.client} {self.method} http://{self.host}{self.path}"


@dataclass(slots=True)
class Span:
    """One connection: from its first event to its last."""

    client: str
    server: str
    start_s: float
    end_s: float
    host: str = ""  # of its first request


@dataclass(slots=True)
class Crawl:
    """A crawl as read from a log: requests by start, connections, malformed requests."""

    requests: list[Seen] = field(default_factory=list)
    spans: dict[tuple[int, int], Span] = field(default_factory=dict)
    malformed: int = 0


def read_log(path: Path) -> Iterator[Event]:
    """Yield the events of a log; a broken last line is what a killed server leaves.

    Raises FormatError for a file that simweb did not write.
    """
    broken = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if broken:
                raise FormatError(broken)
            try:
                event = json.loads(line)
                event["event"]
            except (ValueError, TypeError, KeyError):
                broken = f"{path}: line {number} is no event of a simweb log"
                if number == 1:
                    raise FormatError(broken) from None
                continue
            yield event


def read_crawl(events: Iterable[Event]) -> Crawl:
    """Gather events, in the order of the log. Raises FormatError for one that lacks a field."""
    crawl = Crawl()
    run = 0  # connection numbers start again with each run of the server
    try:
        for event in events:
            kind = event["event"]
            run += kind == "start"
            crawl.malformed += kind == "malformed"
            if kind == "request":
                crawl.requests.append(_seen(event, run))
            if kind in ("request", "open", "close"):
                _stretch(crawl.spans, event, run)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"event {event!r} of a simweb log lacks a field: {error}") from error
    crawl.requests.sort(key=lambda seen: seen.start_s)
    return crawl


def _seen(event: Event, run: int) -> Seen:
    retry_after = event.get("retry_after_s")
    return Seen(
        start_s=float(event["mono_start"]),
        end_s=float(event["mono_end"]),
        client=intern(event["client"]),
        server=intern(event["server"]),
        host=intern(event["host"]),
        method=intern(event["method"]),
        path=intern(event["path"]),
        user_agent=intern(event["user_agent"]),
        connection=(run, int(event["connection"])),
        reused=bool(event["reused"]),
        disallowed=bool(event["disallowed"]),
        aborted=bool(event.get("aborted")),
        misdirected=bool(event.get("misdirected")),
        crawl_delay_s=float(event.get("crawl_delay_s", 0)),
        retry_after_s=None if retry_after is None else float(retry_after),
    )


def _stretch(spans: dict[tuple[int, int], Span], event: Event, run: int) -> None:
    """Extend a connection to this event; one whose end is lost ends with its last event."""
    moment: float = event.get("mono", 0.0)
    start, end = event.get("mono_start", moment), event.get("mono_end", moment)
    key = (run, int(event["connection"]))
    span = spans.get(key)
    if span is None:
        span = spans[key] = Span(intern(event["client"]), intern(event["server"]), start, end)
    else:
        span.start_s, span.end_s = min(span.start_s, start), max(span.end_s, end)
    span.host = span.host or intern(event.get("host", ""))
