"""A fault, what it promises, and one trial of it.

A fault is a small file in `causes/`: it makes a cause on the common ground, takes it away, and says
`trial.gone()`; the trial then measures from outside which parts recover, and when. A file lists its
faults in `FAULTS`:

    def act(trial: Trial) -> None:
        leader = trial.ground.leader()
        leader.send(signal.SIGSTOP)
        trial.lasts(12)
        leader.send(signal.SIGCONT)
        trial.gone()

    FAULTS = [Fault("leader-stopped", "the sleeper leads no more", act)]

A promise that is no time is a `claim`, another time a `within`. A fault that repeats itself calls
`recovered` after each `gone`; after the last the suite does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from benchmarks.faults.system.ground import Ground

__all__ = [
    "AGENT_S",
    "LEADER_S",
    "SERVICE_S",
    "TAKE_OVER_S",
    "Fault",
    "FaultError",
    "Shared",
    "Trial",
]

T = TypeVar("T")

SERVICE_S: Final = 10.0
LEADER_S: Final = 10.0
AGENT_S: Final = 30.0
"""An agent calls after a request that hung (`manager.timeout_s`) and its longest pause."""
TAKE_OVER_S: Final = 60.0
"""After the end of the permit, as the manager counts it."""
PATIENCE_S: Final = 90.0
"""A part that is not back within this does not come back; times the patience of the run."""
LIMIT_S: Final = 240.0


class FaultError(Exception):
    """A fault could not be made; the message says why. That is no broken promise."""


@dataclass(frozen=True, slots=True)
class Fault:
    """promise: in a few words, beside those of every fault. times: how often `act` repeats itself.

    needs: why it cannot be made here, or empty. fresh: it leaves a ground that no other fault
    can use, and begins on a new one. clocks: it sets clocks. alone: it needs no ground at all.
    limit_s: it is ended after so long, and the run continues with the next.
    """

    name: str
    promise: str
    act: Callable[[Trial], None]
    times: int = 1
    quick_times: int = 1
    needs: Callable[[], str] = lambda: ""
    fresh: bool = False
    clocks: bool = False
    alone: bool = False
    limit_s: float = LIMIT_S


@dataclass
class Shared:
    """Programs that faults without a ground leave running for the next of their kind."""

    by_name: dict[str, Any] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    def get(self, name: str, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return the program of this name; the first call makes it."""
        if name not in self.by_name:
            self.by_name[name] = self.stack.enter_context(make())
        found: T = self.by_name[name]
        return found

    def close(self) -> None:
        """End all of it."""
        self.by_name.clear()
        self.stack.close()


@dataclass
class Trial:
    """One fault being made. Times are the worst of all its repetitions, in seconds.

    lost: acknowledged reports that a fault without ground found missing.
    unwell: something did not come back at all. usual_s: how long a good answer took before.
    patience: times of waiting are multiplied by it, where the machine is busy; no promise is.
    """

    folder: Path
    times: int = 1
    say: Callable[[str], None] = lambda _: None
    on: Ground | None = None
    wrong: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    unwell: bool = False
    usual_s: float = 0.0
    troubles: list[str] = field(default_factory=list)
    waits: bool = False
    causes: int = 0
    lost: int = 0
    begun_s: float = field(default_factory=time.monotonic)
    patience: float = 1.0
    shared: Shared = field(default_factory=Shared)

    @property
    def ground(self) -> Ground:
        """Return the common ground."""
        assert self.on is not None, "this fault said that it needs no ground"
        return self.on

    @property
    def broken(self) -> list[str]:
        """Return the promises that were broken, in sentences."""
        late = [
            f"{name}: {self.figures[name]:.1f} s, promised are {limit_s:g} s"
            for name, limit_s in self.limits.items()
            if self.figures[name] > limit_s
        ]
        return late + self.wrong

    def lasts(self, seconds: float) -> None:
        """Wait while the cause lasts."""
        time.sleep(seconds)

    def gone(self) -> None:
        """Note that the cause is gone now, or that a dead process will not return by itself."""
        self.causes += 1
        self.waits = True
        self.ground.watch.cause_is_gone()

    def recovered(self) -> None:
        """Wait until all is back that the last `gone` is about, and note how long it took."""
        if not self.waits:
            return
        self.waits = False
        for name, limit_s in (("service", SERVICE_S), ("leader", LEADER_S), ("agents", AGENT_S)):
            back_s = self.ground.watch.back_after(name, PATIENCE_S * self.patience)
            self.within(name, back_s, limit_s)
            if name == "service" and (back_s is None or back_s > limit_s):
                self.troubles = self.ground.watch.troubles()

    def within(self, name: str, seconds: float | None, limit_s: float) -> None:
        """Note a time, which must not be above its limit; None: it never came."""
        if seconds is None:
            self.unwell, seconds = True, PATIENCE_S * self.patience
        self.limits[name] = limit_s
        self.figures[name] = max(self.figures.get(name, 0.0), seconds)

    def claim(self, what: str, holds: bool) -> None:
        """Note a promise that is kept or not. what: as it should be."""
        if not holds:
            self.wrong.append(f"not so: {what}")

    def wait(self, what: str, ready: Callable[[], object], seconds: float = PATIENCE_S) -> None:
        """Wait for a state that the fault needs, or promises; one that does not come is noted."""
        seconds *= self.patience
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                self.wrong.append(f"{what}: not within {seconds:g} s")
                self.unwell = True
                return
            time.sleep(0.1)
