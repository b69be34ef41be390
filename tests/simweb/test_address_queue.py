"""Addresses that can answer only so many requests a second."""

from __future__ import annotations

import pytest

from simweb.servers.address_queue import AddressQueues
from simweb.sites.options import WorldOptions

SLOW = WorldOptions(address_per_s=2, address_wait_s=1.2)


def test_answers_come_later_the_more_is_asked_until_it_is_refused() -> None:
    queues = AddressQueues(SLOW)
    assert [queues.enter("a", 10.0) for _ in range(4)] == [0.5, 1.0, None, None]
    assert queues.enter("b", 10.0) == 0.5
    assert queues.enter("a", 10.5) == pytest.approx(1.0)
    assert queues.enter("a", 20.0) == 0.5


def test_an_address_that_is_slower_than_its_longest_wait_answers_one_at_a_time() -> None:
    queues = AddressQueues(WorldOptions(address_per_s=0.1, address_wait_s=1))
    assert queues.enter("a", 0.0) == 10.0
    assert queues.enter("a", 5.0) is None


def test_without_a_limit_nobody_waits() -> None:
    assert AddressQueues(WorldOptions()).enter("a", 0.0) == 0.0
