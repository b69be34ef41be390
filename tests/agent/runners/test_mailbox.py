"""One line for all inputs of a partition."""

from __future__ import annotations

from agent.runners.mailbox import Mailbox


def test_batches_are_of_one_input_and_keep_the_order() -> None:
    """A batch ends where another input's message stands, or at its limit."""
    box = Mailbox(5, spills=False)
    for port, message in (("a", 1), ("a", 2), ("b", 3), ("a", 4), ("a", 5), ("a", 6)):
        box.put(port, message)
    assert box.full
    assert box.take(9) == ("a", [1, 2])
    assert not box.full
    assert box.take(9) == ("b", [3])
    assert box.take(2) == ("a", [4, 5])
    assert box.take(2) == ("a", [6])
    assert len(box) == 0
    assert box.greatest == 6


def test_what_comes_after_a_batch_was_taken_is_not_of_it() -> None:
    """A module that sends to itself finds its messages in the next batch."""
    box = Mailbox(5, spills=False)
    box.put("a", 1)
    _, batch = box.take(9)
    box.put("a", 2)
    assert batch == [1]
    assert box.take(9) == ("a", [2])


def test_what_a_limit_leaves_stays_before_what_comes() -> None:
    """Whether it is followed by another input's messages or by its own."""
    box = Mailbox(9, spills=False)
    for port, message in (("a", 1), ("a", 2), ("a", 3), ("b", 4)):
        box.put(port, message)
    assert box.take(1) == ("a", [1])
    box.put("b", 5)
    assert len(box) == 4
    assert box.take(1) == ("a", [2])
    assert box.take(9) == ("a", [3])
    assert box.take(1) == ("b", [4])
    box.put("b", 6)
    assert box.take(9) == ("b", [5, 6])
    assert len(box) == 0


def test_many_at_once_are_as_one_after_the_other() -> None:
    """And who sends them keeps the list for the next ones."""
    one, many = Mailbox(9, spills=False), Mailbox(9, spills=False)
    for port, messages in (("a", [1, 2]), ("a", [3]), ("b", [4]), ("a", [5, 6])):
        sent: list[object] = list(messages)
        many.put_all(port, sent)
        sent.clear()
        for message in messages:
            one.put(port, message)
    while one:
        assert one.take(2) == many.take(2)
    assert len(many) == 0
    assert one.greatest == many.greatest == 6
