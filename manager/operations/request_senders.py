"""The sender of the request that is being answered, for the shares of senders.

A sender is an address (of IPv6 the /64) until it has shown who it is. It is empty where the manager
works for itself, as in the one look at keys that many requests wait for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

__all__ = ["OWN", "own_work", "sender", "work_for"]

OWN: Final = ""
_SENDER: Final[ContextVar[str]] = ContextVar("sender", default=OWN)


def work_for(name: str) -> None:
    """Count the work of this request as that of a sender, from now on."""
    _SENDER.set(name)


def sender() -> str:
    """Return whose work this is; also in a thread that `asyncio.to_thread` uses."""
    return _SENDER.get()


@contextmanager
def own_work() -> Iterator[None]:
    """Count what a task does that begins in the block as the manager's own work."""
    token = _SENDER.set(OWN)
    try:
        yield
    finally:
        _SENDER.reset(token)
