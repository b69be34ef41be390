"""Comments of a log say what holds for the lines after them."""

from __future__ import annotations

import pytest

from manager.intake.logs.log_sections import Section

START = Section(since_ms=1000, until_ms=2000, round=3, kind="crawl")


@pytest.mark.parametrize(
    ("comment", "wanted"),
    [
        ("Round=4", Section(1000, 2000, 4, "crawl")),
        ("MaxTransfer=50", Section(1000, 2000, 3, "probe")),
        ("MaxTransfer=0", Section(1000, 2000, 3, "crawl")),
        ("Since=1500", Section(1500, 2000, 3, "crawl")),
        ("MaxTransfer=00000000000000000050", Section(1000, 2000, 3, "probe")),
        ("Until=1999", Section(1000, 1999, 3, "crawl")),
    ],
)
def test_each_comment_sets_its_own(comment: str, wanted: Section) -> None:
    """A comment changes what it names and nothing else."""
    assert START.after(comment) == wanted


@pytest.mark.parametrize(
    "comment", ["", " Round=4", "Round", "Round=", "Round=-1", "Round=x", "round=4", "Round=٣",
                "Round=1234567890123456", "Generation=9"],
)  # fmt: skip
def test_other_comments_mean_nothing(comment: str) -> None:
    """Whatever is not exactly one of the four is skipped, as an old reader skips ours."""
    assert START.after(comment) == START
