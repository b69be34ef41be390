"""What came of the faults: a line for each, a table, and the figures of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.faults.check import Verdict
from benchmarks.faults.fault import Fault, Trial

__all__ = ["Outcome", "result_of", "table"]

TIMES = ("service", "leader", "agents", "take-over")


@dataclass
class Outcome:
    """A fault that was made. missing: why it could not be; empty: it was."""

    fault: Fault
    trial: Trial
    wall_s: float
    verdict: Verdict | None = None
    missing: str = ""

    @property
    def held(self) -> bool:
        """Tell whether it was made, and all promises were kept."""
        return not (self.missing or self.trial.broken)

    def cells(self) -> list[str]:
        """Return the row of the table."""
        times = [self.trial.figures.get(name) for name in TIMES]
        said = "not made" if self.missing else "yes" if self.held else "NO"
        return [
            self.fault.name,
            str(self.trial.causes or ""),
            *("" if each is None else f"{each:.1f}" for each in times),
            self.fault.promise,
            said,
        ]

    def line(self) -> str:
        """Return a line while others are still to come."""
        times = ", ".join(f"{name} {s:.1f} s" for name, s in self.trial.figures.items())
        state = "not made" if self.missing else "held" if self.held else "BROKEN"
        made = f"{self.fault.name}: {state}; {self.trial.causes}x"
        before = f"an answer took {self.trial.usual_s:.2f} s before" if self.trial.usual_s else ""
        return "; ".join(filter(None, (made, times, before, f"{self.wall_s:.0f} s in all")))

    def problems(self) -> list[str]:
        """Return what is to be said of it in sentences."""
        return [
            *([self.missing] if self.missing else []),
            *self.trial.broken,
            *self.trial.troubles,
        ]


def table(outcomes: Iterable[Outcome]) -> str:
    """Return the table in Markdown; times are the worst of all repetitions, in seconds."""
    head = [
        "fault",
        "times",
        *(f"{name} s" for name in TIMES),
        "promise, beside those of all",
        "held",
    ]
    rows = [head, ["---"] * len(head), *(one.cells() for one in outcomes)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def result_of(outcomes: list[Outcome]) -> dict[str, float]:
    """Return the figures of all faults that were made."""
    made = [one for one in outcomes if not one.missing]
    verdicts = [one.verdict for one in made if one.verdict is not None]
    return {
        "faults": len(made),
        "held": sum(one.held for one in made),
        "lost_acknowledged": sum(len(one.lost) for one in verdicts),
        "double_owners": sum(len(one.double) for one in verdicts),
        "worst_service_recovery_s": round(
            max((one.trial.figures.get("service", 0.0) for one in made), default=0.0), 1
        ),
        "not_made": len(outcomes) - len(made),
        "usual_answer_s": round(max((one.trial.usual_s for one in made), default=0.0), 2),
        "causes": sum(one.trial.causes for one in made),
    }
