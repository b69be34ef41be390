"""Whose turn it is, seen from the rings themselves."""

from __future__ import annotations

from agent.modules.frontier.dormant import Dormant
from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.frontier.scheduler import Turns


def test_an_address_that_need_not_rest_is_ready_at_once() -> None:
    """A fetch that ended after the last tick tells the time: without a rest nobody waits for it."""
    turns = Turns(10, 1.0, lambda _: 1, Dormant(), lambda _: None)
    turns.advance(1000.0)
    address = AddressQueue("192.0.2.1", placed=True)
    address.turns.append(HostQueue("http://a.example:80/", address))
    address.not_before_s = 1000.253
    turns.note_time(1000.253)
    turns.offer_address(address)
    assert list(turns.ready) == [address]


def test_an_address_that_must_rest_is_not_ready() -> None:
    """What the end of a fetch tells of the time lets nobody begin earlier than allowed."""
    turns = Turns(10, 1.0, lambda _: 1, Dormant(), lambda _: None)
    turns.advance(1000.0)
    address = AddressQueue("192.0.2.1", placed=True)
    address.turns.append(HostQueue("http://a.example:80/", address))
    address.not_before_s = 1020.253
    turns.note_time(1000.253)
    turns.offer_address(address)
    assert not turns.ready
    assert turns.advance(1020.25) == []
    assert turns.advance(1020.26) == [address]
