"""Faults of messages in transit: ways of a `Courier`, each with its own memory."""

from __future__ import annotations

import http.client
import random
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from benchmarks.faults.transit.courier import Answer, Deliver, Message

__all__ = ["AnswersLost", "Shuffled"]


@dataclass
class AnswersLost:
    """The manager takes each message and commits; the answer to every second one is lost."""

    lost: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def __call__(self, message: Message, deliver: Deliver) -> Answer | None:
        """Bring it, and perhaps nothing back."""
        answer = deliver(message)
        with self._lock:
            self._count += 1
            if self._count % 2:
                return answer
            self.lost += 1
        return None


@dataclass
class Shuffled:
    """Messages come twice, at once or later, and after ones that were sent later.

    Each is drawn: as it should be; brought twice, one after the other or both at once; or kept, the
    agent hearing nothing, and brought behind one of the next messages. Of all that was brought, old
    ones are brought again much later. chance: decides, so that a run can be repeated.
    """

    chance: random.Random
    twice: int = 0
    late: int = 0
    again: int = 0
    _kept: list[tuple[int, Message]] = field(
        default_factory=list
    )  # due with the so manieth message
    _past: list[Message] = field(default_factory=list)
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, message: Message, deliver: Deliver) -> Answer | None:
        """Apply the action drawn for a message, and bring messages due now behind it."""
        with self._lock:
            self._count += 1
            draw = self.chance.random()
            due = [kept for at, kept in self._kept if at <= self._count]
            self._kept = [(at, kept) for at, kept in self._kept if at > self._count]
            if self._past and self.chance.random() < 0.2:
                due.append(self.chance.choice(self._past))
                self.again += 1
            if draw < 0.25:
                self._kept.append((self._count + self.chance.randint(1, 4), message))
                self.late += 1
            elif draw < 0.6:
                self.twice += 1
        answer = None if draw < 0.25 else self._brought(message, deliver, draw)
        for kept in due:
            with suppress(OSError, http.client.HTTPException):
                deliver(kept)
        with self._lock:
            self._past.append(message)
        return answer

    def bring_all(self, deliver: Deliver) -> None:
        """Bring what is still kept, in another order than it came."""
        with self._lock:
            kept, self._kept = [message for _, message in self._kept], []
        self.chance.shuffle(kept)
        for message in kept:
            with suppress(OSError, http.client.HTTPException):
                deliver(message)

    def _brought(self, message: Message, deliver: Deliver, draw: float) -> Answer:
        if 0.25 <= draw < 0.4:  # both at once
            with suppress(OSError, http.client.HTTPException):
                other = threading.Thread(target=_deliver_ignoring_errors, args=(message, deliver))
                other.start()
                answer = deliver(message)
                other.join()
                return answer
        if draw < 0.6:
            with suppress(OSError, http.client.HTTPException):
                deliver(message)
        return deliver(message)


def _deliver_ignoring_errors(message: Message, deliver: Deliver) -> None:
    with suppress(OSError, http.client.HTTPException):
        deliver(message)
