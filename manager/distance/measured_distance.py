"""Distance of an agent to a unit from its sums: milliseconds per KByte of 1,000 bytes.

The distance is the source's: the sum of the times over the sum of the bytes, failed requests
included, for they cost time as well. The further results are only flags: a single line that decides
the distance is pointed out, and never averaged away.
Source: seed 004, formula (4); the 50 URLs of a probe are chosen elsewhere.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from manager.distance.errors import DistanceError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Measured", "State", "ms_per_kbyte"]

LEAST_LINES: Final = 3
LEAST_BYTES: Final = 5_000
"""Fewer measure latency and chance, unless they are all that the host has."""
DECISIVE: Final = 2.0
"""The slowest line is worth a flag where the distance without it is shorter by this factor."""


class State(StrEnum):
    """Basis of a distance."""

    UNREACHABLE = "unreachable"
    WEAK = "weak"
    MEASURED = "measured"


def ms_per_kbyte(elapsed_ms: int, size_bytes: int) -> float | None:
    """Return formula (4) of seed 004; None where nothing came back."""
    return elapsed_ms * 1000 / size_bytes if size_bytes else None


@frozen
class Measured:
    """The sums of one agent's lines of one unit, judged.

    lines: all, of which `failed` brought no byte. slowest_ms, slowest_bytes: of the one line that
    took longest. complete: the lines are all that the host has, so that few are enough.
    """

    lines: int
    failed: int
    size_bytes: int
    elapsed_ms: int
    slowest_ms: int = 0
    slowest_bytes: int = 0
    complete: bool = False

    def __post_init__(self) -> None:
        numbers = (self.lines, self.failed, self.size_bytes, self.elapsed_ms, self.slowest_ms)
        if min(*numbers, self.slowest_bytes) < 0:
            raise DistanceError("distance.bad_sums", sums=numbers)

    @property
    def ms_per_kb(self) -> float | None:
        """Return the distance; None where nothing came back."""
        return ms_per_kbyte(self.elapsed_ms, self.size_bytes)

    @property
    def state(self) -> State:
        """Return what it rests on."""
        if not self.size_bytes:
            return State.UNREACHABLE
        enough = self.lines - self.failed >= LEAST_LINES and self.size_bytes >= LEAST_BYTES
        return State.MEASURED if self.complete or enough else State.WEAK

    @property
    def without_slowest(self) -> float | None:
        """Return the distance without its slowest line; None where nothing is left."""
        return ms_per_kbyte(
            max(0, self.elapsed_ms - self.slowest_ms), self.size_bytes - self.slowest_bytes
        )

    @property
    def one_line_decides(self) -> bool:
        """Return whether the distance is twice as long, or more, because of its slowest line."""
        whole, rest = self.ms_per_kb, self.without_slowest
        return whole is not None and rest is not None and whole >= DECISIVE * max(rest, 1e-9)

    @property
    def reasons(self) -> tuple[Message, ...]:
        """Return the state and its flags."""
        if self.state is State.UNREACHABLE:
            if not self.lines:
                return (Message("distance.no_answer"),)
            return (Message("distance.none_answered", lines=self.lines),)
        parts = [
            Message(
                "distance.measured_with_failures" if self.failed else "distance.measured",
                size=self.size_bytes,
                elapsed_ms=self.elapsed_ms,
                lines=self.lines,
                failed=self.failed,
            )
        ]
        if self.state is State.WEAK:
            parts.append(Message("distance.too_little"))
        if self.one_line_decides:
            parts.append(
                Message(
                    "distance.decided_by_one",
                    slowest_ms=self.slowest_ms,
                    without=self.without_slowest,
                )
            )
        return tuple(parts)
