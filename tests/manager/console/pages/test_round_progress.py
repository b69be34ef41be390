"""How far a round is, in figures."""

from __future__ import annotations

import pytest

from manager.console.pages.rounds.round_progress import progress_of
from manager.db.rounds.rounds import RoundRow
from manager.operations.rounds.rounds import RoundDetail

AGENT = {"name": "a.example", "units": {}, "pages": 270, "bytes": 527_000, "measured_ms": 1400}


@pytest.mark.parametrize(
    ("crawling_ms", "finished_ms", "elapsed_ms", "lasted_s"),
    [
        (20_000, 30_000, 5_000, 5.0),  # five more seconds went by until its last log came
        (20_000, None, None, 20.0),
        (20_000, 30_000, None, 10.0),  # cancelled: no unit ended it
        (39_900, None, None, 1.0),
        (None, None, None, None),
    ],
)
def test_its_average_is_over_its_crawl(
    crawling_ms: int | None, finished_ms: int | None, elapsed_ms: int | None, lasted_s: float | None
) -> None:
    """As long as the list of rounds says that it took: waiting for logs is no crawl."""
    row = RoundRow(
        number=2, method="tree", state="finished", probe=True, seed=1, started_by="x",
        started_ms=10_000, verified_ms=None, crawling_ms=crawling_ms, finished_ms=finished_ms,
        reason=None, plan_id=None, makespan_ms=None, makespan_agent="", elapsed_ms=elapsed_ms,
        refetch_ms=None, plan_moves=None,
    )  # fmt: skip
    seen = progress_of(RoundDetail(row, {}, {}, [AGENT], None, None, None), 40_000)
    assert seen.crawled_s == lasted_s
    if lasted_s is None:
        assert seen.pages_per_s is None
        assert seen.rate_of("a.example") is None
    else:
        assert seen.pages_per_s == 270 / lasted_s
        assert seen.rate_of("a.example") == (270 / lasted_s, 527_000 / lasted_s)
