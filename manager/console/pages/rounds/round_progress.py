"""Progress of a round, for the overview and the round's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from manager.console.drawings.stacked_bars import BarSection, stacked
from manager.operations.rounds.rounds import RoundDetail
from shared.frozen import frozen

__all__ = ["OVER", "UNIT_STATES", "RoundProgress", "busiest_first", "progress_of"]

ORDER_STATES: Final = ("done", "finished", "failed", "granted", "waiting")
AGENTS_SHOWN: Final = 10
UNIT_STATES: Final = ("finished", "failed", "cancelled", "granted", "waiting")
OVER: Final = frozenset(("done", "finished", "failed", "cancelled"))
"""Bars of progress are filled with these alone: granted and waiting work is not done."""


@frozen
class RoundProgress:
    """A round and the parts of its two bars; rates are averages since the crawl began.

    agents: the busiest ones of the round with their shares; agents_left: how many more there are.
    """

    detail: RoundDetail
    orders: list[tuple[str, int]]
    order_parts: list[BarSection]
    orders_total: int
    orders_over: int
    units: list[tuple[str, int]]
    unit_parts: list[BarSection]
    units_total: int
    units_over: int
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
    orders = [(state, detail.orders[state]) for state in ORDER_STATES if detail.orders.get(state)]
    units = [(state, detail.units[state]) for state in UNIT_STATES if detail.units.get(state)]
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
        orders=orders,
        order_parts=_progress_bar(orders),
        orders_total=sum(number for _, number in orders),
        orders_over=_over(orders),
        units=units,
        unit_parts=_progress_bar(units),
        units_total=sum(number for _, number in units),
        units_over=_over(units),
        pages=pages,
        size_bytes=size_bytes,
        elapsed_ms=end_ms - row.started_ms,
        crawled_s=crawled_s,
        pages_per_s=None if crawled_s is None else pages / crawled_s,
        bytes_per_s=None if crawled_s is None else size_bytes / crawled_s,
        agents=[_share(one) for one in busiest_first(detail.agents)[:AGENTS_SHOWN]],
        agents_left=max(0, len(detail.agents) - AGENTS_SHOWN),
        by_name={one["name"]: one for one in detail.agents},
    )


def busiest_first(agents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the agents of a round, those first that the crawl cost most so far."""
    return sorted(agents, key=lambda one: (-float(one["measured_ms"]), str(one["name"])))


def _share(agent: dict[str, Any]) -> dict[str, Any]:
    numbers = agent["units"]
    total = sum(numbers.values())
    shares = [(state, numbers.get(state, 0)) for state in UNIT_STATES]
    return {
        **agent,
        "total": total,
        "over": _over(shares),
        "parts": _progress_bar(shares),
    }


def _over(numbers: Sequence[tuple[str, int]]) -> int:
    return sum(number for state, number in numbers if state in OVER)


def _progress_bar(numbers: Sequence[tuple[str, int]]) -> list[BarSection]:
    """Return the filled parts of a bar whose whole is all work, done or not."""
    whole = float(sum(number for _, number in numbers))
    return stacked(
        [(state, float(number)) for state, number in numbers if state in OVER], whole=whole
    )
