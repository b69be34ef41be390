"""Bounds of sync messages: words and counts."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = [
    "MAX_HOURS",
    "MAX_ITEMS",
    "MAX_KINDS",
    "MAX_ORDERS",
    "MAX_REASONS",
    "MAX_RENAMED",
    "YEAR_S",
    "AgentState",
    "CollectionCondition",
    "CollectionWay",
    "CommandName",
]

AgentState: TypeAlias = Literal[
    "starting", "working", "idle", "asleep", "paused", "draining", "stopping"
]
CommandName: TypeAlias = Literal["restart", "drain", "pause", "resume", "update"]
CollectionCondition: TypeAlias = Literal["full", "difference", "since", "period"]
CollectionWay: TypeAlias = Literal["push", "pull"]

MAX_REASONS: Final = 50
MAX_KINDS: Final = 64
"""Of links; fewer exist."""

MAX_RENAMED: Final = 50
MAX_ORDERS: Final = 100
MAX_HOURS: Final = 24
"""Windows of one kind of day."""

MAX_ITEMS: Final = 10_000
"""Of one kind in one request; the rest goes with the next."""

YEAR_S: Final = 366 * 86_400
"""Longer than anything here should last."""

COUNT_END: Final = 2**63
"""No count is so great."""

EPOCH_END_MS: Final = 253_370_764_800_000
"""Milliseconds since 1970, before the year 9999: what every zone's calendar can show."""

UNIT_CHARS: Final = 4096
SHORT_CHARS: Final = 1000
SCOPE_CHARS: Final = 64_000
"""Of a list of scope rules; the manager takes none that is longer."""
NAME_CHARS: Final = 64
"""Of a process, a version, a command, a zone."""

SERVED_AT: Final = r"^https://[^/\s]{1,300}$"
FINGERPRINT: Final = r"^[0-9a-f]{64}$"
