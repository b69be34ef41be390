"""A clock that tests turn by hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class FakeClock:
    """Three clocks that go together; `sleep` is a machine that sleeps: monotonic stands still."""

    now_s: float = 1000.0
    slept_s: float = 0.0
    epoch_0_ms: int = 1_700_000_000_000

    def monotonic_s(self) -> float:
        """Return the clock that stands still in sleep."""
        return self.now_s

    def boottime_s(self) -> float:
        """Return the clock that counts sleep."""
        return self.now_s + self.slept_s

    def epoch_ms(self) -> int:
        """Return the wall clock."""
        return self.epoch_0_ms + round((self.now_s + self.slept_s) * 1000)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    def sleep(self, seconds: float) -> None:
        """Let the machine sleep."""
        self.slept_s += seconds
