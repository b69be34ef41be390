"""Progress of a round, for the overview and the round's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from manager.console.drawings.stacked_bars import BarSection, stacked
from manager.operations.rounds.rounds import RoundDetail
from shared.frozen import frozen

__all__ = ["OVER", "UNIT_STATES", "RoundProgress", "busiest_first", "progress_of"]

ORDER_STATES: Final = ("done", "finished", "not_needed", "failed", "granted", "waiting")
AGENTS_SHOWN: Final = 10
UNIT_STATES: Final = ("finished", "failed", "carried", "cancelled", "granted", "waiting")
OVER: Final = frozenset(("done", "finished", "not_needed", "failed", "carried", "cancelled"))
"""Bars of progress are filled with these alone: granted and waiting work is not done."""


@frozen
class WorkBar:
    """Work by state, and the parts of its bar: only what is over fills it. over, total: sums."""

    numbers: list[tuple[str, int]]
    parts: list[BarSection]
    over: int
    total: int


@frozen
class RoundProgress:
    """A round and the parts of its two bars; rates are averages since the crawl began.

    agents: the busiest ones of the round with their shares; agents_left: how many more there are.
    """

    detail: RoundDetail
    orders: WorkBar
    units: WorkBar
    pages: int
    size_bytes: int
    elapsed_ms: int
    crawled_s: float | None
    pages_per_s: float | None
    bytes_per_s: float | None
    agents: list[dict[str, Any]]
    agents_left: int
    by_name: dict[str, dict[str, Any]]
    filled: frozenset[str] = OVER

    def rate_of(self, agent: str) -> tuple[float, float] | None:
        """Return pages and bytes a second of an agent, on average over this round's crawl."""
        one = self.by_name.get(agent)
        if one is None or self.crawled_s is None:
            return None
        return one["pages"] / self.crawled_s, one["bytes"] / self.crawled_s

    @property
    def is_open(self) -> bool:
        """Return whether the round is still running."""
        return self.detail.round.state in ("probing", "crawling")


def progress_of(detail: RoundDetail, now_ms: int) -> RoundProgress:
    """Return a round's progress in numbers and bars."""
    row = detail.round
    pages = sum(agent["pages"] for agent in detail.agents)
    size_bytes = sum(agent["bytes"] for agent in detail.agents)
    end_ms = row.finished_ms if row.finished_ms is not None else now_ms
    crawled_s = None
    if row.crawling_ms is not None:
        # Until its last unit was done; waiting for logs after that is no crawl.
        lasted_ms = end_ms - row.crawling_ms if row.elapsed_ms is None else row.elapsed_ms
        crawled_s = max(1.0, lasted_ms / 1000)
    return RoundProgress(
        detail=detail,
        orders=_bar(detail.orders, ORDER_STATES),
        units=_bar(detail.units, UNIT_STATES),
        pages=pages,
        size_bytes=size_bytes,
        elapsed_ms=end_ms - row.started_ms,
        crawled_s=crawled_s,
        pages_per_s=None if crawled_s is None else pages / crawled_s,
        bytes_per_s=None if crawled_s is None else size_bytes / crawled_s,
        agents=[
            {**one, "work": _bar(one["units"], UNIT_STATES)}
            for one in busiest_first(detail.agents)[:AGENTS_SHOWN]
        ],
        agents_left=max(0, len(detail.agents) - AGENTS_SHOWN),
        by_name={one["name"]: one for one in detail.agents},
    )


def busiest_first(agents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the agents of a round, those first that the crawl cost most so far."""
    return sorted(agents, key=lambda one: (-float(one["measured_ms"]), str(one["name"])))


def _bar(by_state: Mapping[str, int], states: Sequence[str]) -> WorkBar:
    """Return work by state, in the order of the states, without those that have none."""
    numbers = [(state, by_state[state]) for state in states if by_state.get(state)]
    total = sum(number for _, number in numbers)
    over = [(state, number) for state, number in numbers if state in OVER]
    parts = stacked([(state, float(number)) for state, number in over], whole=float(total))
    return WorkBar(numbers, parts, sum(number for _, number in over), total)
