"""Verdict of a judge: counts, violations by kind, and first examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["KINDS", "Verdict"]

KINDS = {
    "disallowed": "requests that robots.txt forbids to this robot",
    "too_close": "requests to one address closer than the interval",
    "address_rate": "requests of all clients to one address above its rate",
    "overlapping": "connections of one client to one address, or domain there, at a time",
    "crawl_delay": "requests to one host closer than its Crawl-delay or own interval",
    "retry_after": "requests to a host before its Retry-After was over",
    "before_robots": "clients that asked a host for something before its robots.txt",
}
_EXAMPLES = 5


@dataclass(slots=True)
class Verdict:
    """The result of `judge`; `ok` when nothing was violated."""

    requests: int = 0
    urls: int = 0  # distinct
    repeated: int = 0  # requests for a URL that was asked before, robots.txt apart
    robots_requests: int = 0
    hosts: int = 0
    shared_hosts: int = 0  # asked by more than one client
    addresses: int = 0
    connections: int = 0
    reused: int = 0  # requests on a connection that had one before
    aborted: int = 0  # the client left before the answer was complete
    malformed: int = 0  # refused before there was a request to log
    least_gap_ms: float | None = None  # of all pairs that needed a gap
    requests_by_client: dict[str, int] = field(default_factory=dict)
    user_agents: list[str] = field(default_factory=list)
    violations: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    examples: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    @property
    def ok(self) -> bool:
        """Return whether nothing was violated."""
        return not any(self.violations.values())

    def accuse(self, kind: str, text: str) -> None:
        """Count a violation; keep the text of the first few."""
        self.violations[kind] += 1
        if len(self.examples[kind]) < _EXAMPLES:
            self.examples[kind].append(text)

    def gap(self, gap_ms: float) -> None:
        """Note the gap of a pair that needed one."""
        if self.least_gap_ms is None or gap_ms < self.least_gap_ms:
            self.least_gap_ms = round(gap_ms, 3)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {"ok": self.ok, **asdict(self)}

    def lines(self) -> Iterator[str]:
        """Yield the verdict as text."""
        least = "none" if self.least_gap_ms is None else f"{self.least_gap_ms:.1f} ms"
        clients = ", ".join(f"{name} {count}" for name, count in self.requests_by_client.items())
        yield f"requests      {self.requests} for {self.urls} URLs, {self.repeated} repeated"
        yield f"robots.txt    {self.robots_requests}"
        yield f"hosts         {self.hosts} at {self.addresses} addresses"
        yield f"clients       {clients or 'none'}; {self.shared_hosts} hosts asked by several"
        yield f"connections   {self.connections}; {self.reused} requests reused one"
        yield f"aborted       {self.aborted}; {self.malformed} malformed"
        yield f"user agents   {'; '.join(self.user_agents) or 'none'}"
        yield f"least gap     {least}"
        for kind, count in self.violations.items():
            yield f"{kind:13} {count} {KINDS[kind]}"
            yield from (f"    {text}" for text in self.examples[kind])
        yield "verdict       " + ("polite" if self.ok else "NOT POLITE")
