"""The sum of bodies in memory, and its bound."""

from __future__ import annotations

from agent.adapters.body_memory import BodyMemory


def test_from_half_of_the_bound_on_no_request_is_begun() -> None:
    """Those under way need the other half."""
    held = BodyMemory(1000)
    held.sum = 500
    assert not held.crowded
    held.sum = 501
    assert held.crowded


def test_another_bound_lets_nobody_in_before_those_that_wait() -> None:
    """It holds at once where nobody waits; else as soon as they were let go."""
    held = BodyMemory(1000)
    held.limit(2000)
    assert (held.most, held.gate) == (2000, 2000)
    held.gate = -1
    held.limit(3000)
    assert (held.most, held.gate) == (3000, -1)
