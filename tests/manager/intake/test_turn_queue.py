"""Senders take turns, however much each of them has."""

from __future__ import annotations

from manager.intake.workers.turn_queue import TurnQueue


def test_a_first_item_does_not_wait_behind_many_of_another() -> None:
    """Who has one item comes second, whoever came before with sixteen; then the first goes on."""
    queue: TurnQueue[str] = TurnQueue()
    for number in range(16):
        queue.push(1, f"a{number}")
    queue.push(2, "b0")
    queue.push(3, "c0")
    queue.push(3, "c1")
    assert [queue.pop() for _ in range(6)] == ["a0", "b0", "c0", "a1", "c1", "a2"]
    assert len(queue) == 13


def test_a_sender_waits_for_what_it_cost() -> None:
    """Who was served for two seconds lets others go first until they had as much."""
    queue: TurnQueue[str] = TurnQueue()
    for number in range(4):
        queue.push(1, f"a{number}")
    assert queue.pop() == "a0"
    queue.charge(1, 2.0)
    queue.push(2, "b0")
    for number in range(4):
        assert queue.pop() == f"b{number}"
        queue.charge(2, 0.5)
        queue.push(2, f"b{number + 1}")
    assert queue.pop() == "a1"


def test_who_was_away_has_saved_up_nothing() -> None:
    """A sender that comes back takes turns with the others, and is not served alone until it had
    as much as they."""
    queue: TurnQueue[str] = TurnQueue()
    for number in range(5):
        queue.push(1, f"a{number}")
    for number in range(3):
        assert queue.pop() == f"a{number}"
        queue.charge(1, 10.0)
    queue.push(2, "b0")
    queue.push(2, "b1")
    assert queue.pop() == "b0"
    queue.charge(2, 10.5)
    assert queue.pop() == "a3"
    queue.charge(1, 10.0)
    assert [queue.pop() for _ in range(2)] == ["b1", "a4"]


def test_senders_that_are_done_are_forgotten() -> None:
    """Memory is that of senders that wait, or are ahead of the others."""
    queue: TurnQueue[int] = TurnQueue()
    for sender in range(1000):
        queue.push(sender, sender)
        assert queue.pop() == sender
        queue.charge(sender, 0.1)
    assert len(queue._tags) <= 2


def test_busy_senders_are_passed_over() -> None:
    """Nothing is given where only busy senders wait, and they keep their turn."""
    queue: TurnQueue[str] = TurnQueue()
    queue.push(1, "a0")
    assert queue.pop({1}) is None
    queue.push(2, "b0")
    assert queue.pop({1}) == "b0"
    assert queue.pop() == "a0"
    assert queue.pop() is None


def test_what_is_removed_is_not_given() -> None:
    """An item is removed once; a sender without items is forgotten."""
    queue: TurnQueue[str] = TurnQueue()
    queue.push(1, "a0")
    assert queue.remove(1, "a0")
    assert not queue.remove(1, "a0")
    assert not queue.remove(2, "b0")
    assert queue.pop() is None
    queue.push(1, "a1")
    queue.push(2, "b0")
    assert queue.clear() == ["a1", "b0"]
    assert len(queue) == 0
