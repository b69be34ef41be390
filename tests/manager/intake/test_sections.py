"""Comments of a log say what holds for the lines after them."""

from __future__ import annotations

import pytest

from manager.intake.sections import Section

START = Section(round=3, kind="crawl", since_ms=1000, until_ms=2000)


@pytest.mark.parametrize(
    ("comment", "wanted"),
    [
        ("Round=4", Section(4, "crawl", 1000, 2000)),
        ("MaxTransfer=50", Section(3, "probe", 1000, 2000)),
        ("MaxTransfer=0", Section(3, "crawl", 1000, 2000)),
        ("Since=1500", Section(3, "crawl", 1500, 2000)),
        ("Until=1999", Section(3, "crawl", 1000, 1999)),
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
