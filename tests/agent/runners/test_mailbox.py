"""One line for all inputs of a partition."""

from __future__ import annotations

from agent.runners.mailbox import Mailbox


def test_batches_are_of_one_input_and_keep_the_order() -> None:
    """A batch ends where another input's message stands, or at its limit."""
    box = Mailbox(5, spills=False)
    for port, message in (("a", 1), ("a", 2), ("b", 3), ("a", 4), ("a", 5), ("a", 6)):
        box.line.append((port, message))
    assert box.full
    assert box.take(9) == ("a", [1, 2])
    assert not box.full
    assert box.take(9) == ("b", [3])
    assert box.take(2) == ("a", [4, 5])
    assert box.take(2) == ("a", [6])
    assert len(box) == 0
    assert box.greatest == 6
