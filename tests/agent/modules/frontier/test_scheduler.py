"""Whose turn it is, seen from the rings themselves."""

from __future__ import annotations

from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.frontier.scheduler import Turns


def test_an_address_that_need_not_rest_is_ready_at_once() -> None:
    """A fetch that ended after the last tick tells the time: without a rest nobody waits for it."""
    turns = Turns()
    turns.advance(1000.0)
    address = AddressQueue("192.0.2.1")
    address.turns.append(HostQueue("http://a.example:80/", address))
    address.not_before_s = 1000.253
    turns.note_time(1000.253)
    turns.offer_address(address)
    assert list(turns.ready) == [address]


def test_an_address_that_must_rest_is_not_ready() -> None:
    """What the end of a fetch tells of the time lets nobody begin earlier than allowed."""
    turns = Turns()
    turns.advance(1000.0)
    address = AddressQueue("192.0.2.1")
    address.turns.append(HostQueue("http://a.example:80/", address))
    address.not_before_s = 1020.253
    turns.note_time(1000.253)
    turns.offer_address(address)
    assert not turns.ready
    assert turns.advance(1020.25) == []
    assert turns.advance(1020.26) == [address]


def test_an_object_that_left_the_wheel_is_not_awake() -> None:
    """What was unloaded stands there by its key, and its objects no more."""
    turns = Turns()
    turns.advance(1000.0)
    address = AddressQueue("192.0.2.1", not_before_s=1020.0)
    address.turns.append(HostQueue("http://a.example:80/", address))
    turns.offer_address(address)
    assert [one for _, one in turns.sleepers()] == [address]
    address.resting[0] = None
    turns.let_rest(7, 1020.0)
    assert [one for _, one in turns.sleepers()] == [7]
    assert turns.advance(1021.0) == [7]
