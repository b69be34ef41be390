"""Transfers that wait for memory where bodies in flight have reached their limit.

A transfer whose next piece finds no room is paused, which fills the connection's window and so
stops its sender. When the sum is below the bound again, all continue. Until then one does: the
one that has received most, for it is the first whose body can be given away.

Invariant: where anything waits, a transfer continues, or the workers have a page, whose end makes
room. The sum stays below the bound and one body, as long as no body may be larger than the bound.
"""

from __future__ import annotations

from agent.adapters.body_memory import BodyMemory
from agent.adapters.curl.slot import Slot

__all__ = ["BodyRoom"]


class BodyRoom:
    """The transfers that wait for memory; consulted only where the bound is reached."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._waiting: dict[Slot, None] = {}  # in the order in which they began to wait
        self._exempt: Slot | None = None  # though there is no room

    @property
    def is_waited_for(self) -> bool:
        """Return whether any transfer waits."""
        return bool(self._waiting)

    def may_receive(self, slot: Slot) -> bool:
        """Return whether a transfer takes its next piece; else it waits from now on."""
        memory = self._memory
        if memory.sum <= memory.gate or slot is self._exempt:
            return True
        self._waiting[slot] = None
        memory.gate = -1  # what becomes free is for those that wait
        return False

    def ended(self, slot: Slot) -> None:
        """Take note that a transfer is over."""
        self._waiting.pop(slot, None)
        if slot is self._exempt:
            self._exempt = None

    def take_resumable(self) -> tuple[Slot, ...]:
        """Return the transfers that continue now; they no longer wait."""
        memory, waiting = self._memory, self._waiting
        if memory.sum <= memory.most or not waiting:
            memory.gate, self._exempt = memory.most, None
            slots = tuple(waiting)
            waiting.clear()
            return slots
        if self._exempt is not None:
            return ()
        largest = max(waiting, key=lambda slot: slot.body_bytes)
        if memory.waiting and memory.sum - largest.body_bytes > memory.most:
            return ()  # it might bring a whole body more; the workers make room for it
        del waiting[largest]
        self._exempt = largest
        return (largest,)
