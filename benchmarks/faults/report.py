"""Report of faults: a row for each when its outcome arrives, and overall figures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

__all__ = ["HEAD", "Outcome", "result_of", "row", "table"]

TIMES = ("service", "leader", "agents", "take-over")
HEAD = (
    "fault",
    "times",
    *(f"{name} s" for name in TIMES),
    "usual answer s",
    "s in all",
    "promise, beside those of all",
    "held",
)


@dataclass
class Outcome:
    """A fault that was made. missing: why it could not be; empty: it was.

    figures: seconds, the worst of all causes. broken: the promises that were, in sentences; lost,
    double: how many reports, and units, of them. troubles: what is to be said besides.
    """

    name: str
    promise: str = ""
    causes: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    missing: str = ""
    lost: int = 0
    double: int = 0
    usual_s: float = 0.0
    wall_s: float = 0.0

    @property
    def held(self) -> bool:
        """Return whether it was made, and all promises were kept."""
        return not (self.missing or self.broken)

    def cells(self) -> list[str]:
        """Return the row of the table."""
        times = [self.figures.get(name) for name in TIMES]
        said = "not made" if self.missing else "yes" if self.held else "NO"
        return [
            self.name,
            str(self.causes or ""),
            *("" if each is None else f"{each:.1f}" for each in times),
            f"{self.usual_s:.2f}" if self.usual_s else "",
            f"{self.wall_s:.0f}",
            self.promise,
            said,
        ]

    def problems(self) -> list[str]:
        """Return what is to be said of it in sentences."""
        return [*([self.missing] if self.missing else []), *self.broken, *self.troubles]

    def to_json(self) -> str:
        """Return a line from which `from_json` makes it again."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """Return the outcome of a written line."""
        return cls(**json.loads(line))


def row(cells: Iterable[str]) -> str:
    """Return a row in Markdown."""
    return "| " + " | ".join(cells) + " |"


def table(outcomes: Iterable[Outcome]) -> str:
    """Return the table in Markdown; times are the worst of all repetitions, in seconds."""
    return "\n".join([row(HEAD), row(["---"] * len(HEAD)), *(row(one.cells()) for one in outcomes)])


def result_of(outcomes: list[Outcome], asked: int) -> dict[str, float]:
    """Return the figures of all faults that were made. asked: how many were to be."""
    made = [one for one in outcomes if not one.missing]
    return {
        "faults": len(made),
        "held": sum(one.held for one in made),
        "lost_acknowledged": sum(one.lost for one in made),
        "double_owners": sum(one.double for one in made),
        "worst_service_recovery_s": round(
            max((one.figures.get("service", 0.0) for one in made), default=0.0), 1
        ),
        "not_made": len(outcomes) - len(made),
        "not_reached": asked - len(outcomes),
        "usual_answer_s": round(max((one.usual_s for one in made), default=0.0), 2),
        "causes": sum(one.causes for one in made),
    }
