"""Counts of what was stopped, with few examples."""

from __future__ import annotations

from agent.modules.counts import EXAMPLES, StopCounts


def test_counts_by_reason_with_few_examples() -> None:
    """Each reason counts on, and keeps only its first examples, cut to a length for a screen."""
    counts = StopCounts()
    for number in range(25):
        counts.add("too deep", f"http://a.example/{number}" + "x" * 1000)
    counts.add("unreachable", "http://b.example/", 7)
    assert counts.count("too deep") == 25
    assert counts.count("unreachable") == 7
    assert counts.count("never") == 0
    examples = counts.by_reason["too deep"].examples
    assert len(examples) == EXAMPLES
    assert examples[0].startswith("http://a.example/0x")
    assert max(map(len, examples)) == 300
