"""Cost per agent before and after a plan, as bars on one scale with the lower bound as a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from manager.console import figures
from manager.console.drawings.stacked_bars import WIDTH, mark_at
from manager.console.language import _
from shared.frozen import frozen

__all__ = ["CostBar", "CostBars", "cost_bars"]

AGENTS_SHOWN: Final = 40
"""A page of a thousand bars is heavy and unreadable."""


@frozen
class CostBar:
    """One agent: costs in ms, units, and the lengths of its two bars of 1000.

    capacity: beside the strongest agent's. elapsed: how long its work takes by the clock, in words;
    elapsed_ms: the same, None where it never ends, and empty where it is not known.
    """

    name: str
    before_ms: float
    after_ms: float
    units_before: int
    units_after: int
    before: float
    after: float
    capacity: float
    elapsed: str
    elapsed_ms: float | str | None


@frozen
class CostBars:
    """The costliest agents after the plan, that first; left: how many more there are.

    bound: where the line stands, of 1000.
    """

    bars: list[CostBar]
    left: int
    scale_ms: float
    bound_ms: float | None
    bound: float

    @property
    def busiest(self) -> CostBar | None:
        """Return the agent that makes the makespan."""
        return self.bars[0] if self.bars else None


def cost_bars(
    agents: Sequence[dict[str, Any]], bound_ms: float | None, most: int | None = AGENTS_SHOWN
) -> CostBars:
    """Return the bars of a plan's agents (`PlanDetail.agents`), of at most so many."""
    longest = max((max(one["before_ms"], one["after_ms"]) for one in agents), default=0.0)
    scale_ms = max(longest, bound_ms or 0.0)
    bars = [
        CostBar(
            one["name"],
            one["before_ms"],
            one["after_ms"],
            one["units_before"],
            one["units_after"],
            mark_at(one["before_ms"], scale_ms),
            mark_at(one["after_ms"], scale_ms),
            one.get("capacity", 1.0),
            _elapsed(one),
            one.get("elapsed_ms", ""),
        )
        for one in _costliest_first(agents)[:most]
    ]
    # A line on the very edge would be cut in half.
    bound = min(WIDTH - 2, mark_at(bound_ms or 0.0, scale_ms))
    return CostBars(bars, len(agents) - len(bars), scale_ms, bound_ms, bound)


def _costliest_first(agents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(agents, key=lambda one: (-one["after_ms"], one["name"]))


def _elapsed(agent: dict[str, Any]) -> str:
    if "elapsed_ms" not in agent:
        return figures.NOTHING
    took_ms = agent["elapsed_ms"]
    return _("never ends") if took_ms is None else figures.duration(took_ms)
