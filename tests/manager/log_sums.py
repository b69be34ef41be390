"""Sums of crawl logs, as tests need them."""

from __future__ import annotations

from manager.distance.line_sums import UnitSum

__all__ = ["unit_sum"]


def unit_sum(
    unit: str, number: int, kind: str, lines: int, response_bytes: int, ms: int
) -> UnitSum:
    """Return the sums of a unit all of whose lines are pages."""
    return UnitSum(
        unit,
        round=number,
        kind=kind,
        requests=lines,
        pages=lines,
        errors=0,
        request_bytes=100 * lines,
        response_bytes=response_bytes,
        ms=ms,
        failed=0,
        slowest_ms=0,
        slowest_bytes=0,
        spread="",
    )
