"""Senders take turns, however much each of them has."""

from __future__ import annotations

from manager.intake.turn_queue import TurnQueue


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
