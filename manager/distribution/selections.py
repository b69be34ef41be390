"""Limit on selections that are made while they are sent: each takes memory and a thread.

Invariant: a turn is given back once, whatever ends the answer. There is no queue for turns: a
further request is refused with the advice to retry, or to submit a job; jobs run one at a time.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import ExitStack
from typing import Final

from manager.errors import BusyError, SlowDownError
from manager.operations.people.clients import Client

__all__ = ["Selections"]

OF_A_TOKEN: Final = 2
RETRY_S: Final = 30


class Selections:
    """The turns of all tokens; any thread may ask."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._changing = threading.Lock()
        self._taken: Counter[int] = Counter()

    def take(self, client: Client) -> ExitStack:
        """Return a turn, whose `close` gives it back once. Raises SlowDownError, BusyError."""
        with self._changing:
            if self._taken[client.token_id] >= OF_A_TOKEN:
                raise SlowDownError("archive.selections_of_token", RETRY_S, limit=OF_A_TOKEN)
            if self._taken.total() >= self._at_once:
                raise BusyError("archive.selections_at_once", RETRY_S, limit=self._at_once)
            self._taken[client.token_id] += 1
        turn = ExitStack()
        turn.callback(self._give_back, client.token_id)
        return turn

    def _give_back(self, token_id: int) -> None:
        with self._changing:
            self._taken[token_id] -= 1
