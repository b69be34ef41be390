"""Users of sessions by cookie, from the last look-up, for the shares of senders.

A page looks its session up in a thread; the sender of that thread must be known before. Many people
may come from one address. Invariant: only a share depends on it: the page's own look-up finds no
user for an ended session.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from manager.operations.request_senders import work_for
from shared.wire.names import hash_of_key

__all__ = ["SessionSenders"]

KEPT: Final = 1_000


class SessionSenders:
    """The sessions that were looked up last; any thread may note one."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()

    def note(self, token: str, name: str) -> None:
        """Remember whose session it is."""
        self._names[hash_of_key(token)] = name
        while len(self._names) > KEPT:
            self._names.popitem(last=False)

    def begin(self, token: str) -> None:
        """Count this request as its person's, where the session was looked up before."""
        name = self._names.get(hash_of_key(token)) if token else None
        if name is not None:
            work_for(f"user {name}")
