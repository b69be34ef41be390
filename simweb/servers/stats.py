"""Counters of a running web, for the control port."""

from __future__ import annotations

from collections import Counter
from typing import Any

__all__ = ["Stats"]


class Stats:
    """Counts of requests and answers since the start."""

    def __init__(self) -> None:
        self.requests = 0
        self.bytes_sent = 0
        self.disallowed = 0
        self.connections = 0
        self.statuses: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.dns: Counter[str] = Counter()
        self.dns_names: Counter[str] = Counter()
        self.open_by_address: Counter[str] = Counter()
        self.most_open = 0

    def opened(self, address: str) -> None:
        """Count a connection to an address."""
        self.connections += 1
        self.open_by_address[address] += 1
        self.most_open = max(self.most_open, self.open_by_address[address])

    def closed(self, address: str) -> None:
        """Count the end of a connection."""
        self.open_by_address[address] -= 1
        if not self.open_by_address[address]:
            del self.open_by_address[address]

    def answered(self, fields: dict[str, Any]) -> None:
        """Count a request by the fields of its log line."""
        self.requests += 1
        self.bytes_sent += fields["bytes"]
        self.statuses[str(fields["status"])] += 1
        self.disallowed += fields["disallowed"]
        if "fault" in fields:
            self.faults[fields["fault"]] += 1

    def asked(self, name: str, rcode: str) -> None:
        """Count a question to the name server."""
        self.dns[rcode] += 1
        self.dns_names[name] += 1

    def to_json(self) -> dict[str, Any]:
        """Return the counters as JSON values."""
        return {
            "requests": self.requests,
            "bytes_sent": self.bytes_sent,
            "disallowed": self.disallowed,
            "statuses": dict(self.statuses),
            "faults": dict(self.faults),
            "connections": self.connections,
            "connections_open": sum(self.open_by_address.values()),
            "most_connections_to_one_address": self.most_open,
            "dns": dict(self.dns),
            "dns_questions": sum(self.dns.values()),
            "dns_names": len(self.dns_names),
            "dns_most_asked": dict(self.dns_names.most_common(10)),
        }
