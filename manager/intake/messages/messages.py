"""Messages that are read whole: JSON of agents, people and scripts, and forms of the console.

A small one is read at once. A larger one is taken from known senders only, a few at a time from
each, and a worker process looks through it first. Invariants: of a sender that shows no key, token
or session at most `DIRECT_BYTES` are kept; the server parses nothing larger that a worker process
has not found to be right.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from starlette.requests import Request

from manager.intake.body_errors import SenderShareError, body_too_large
from manager.intake.client_disconnect import while_connected
from manager.intake.workers.body_job import BodyJob, Reader
from shared.errors import Fault
from shared.frozen import frozen

__all__ = ["DIRECT_BYTES", "FEW_FIELDS_BYTES", "Gathered", "MessageDesk", "sender_number"]

DIRECT_BYTES: Final = 16 * 1024
"""The largest message that the server parses without a worker process: the worst of this size holds
its loop for some 8 ms (docs/performance.md)."""

FEW_FIELDS_BYTES: Final = 64_000
"""The largest message that consists of some fields, each escaped wholly."""

AGAIN_S: Final = 5

_Job = TypeVar("_Job", bound=BodyJob)
_Result = TypeVar("_Result")


@frozen
class Gathered:
    """The body of a message. sender: who sent a large one; None: it is small."""

    body: bytes
    sender: int | None


def sender_number(kind: str, name: str) -> int:
    """Return the number of a sender that is no agent, for turns and shares."""
    return 2**40 + zlib.crc32(f"{kind} {name}".encode())


class MessageDesk:
    """Takes messages. For one event loop."""

    def __init__(self, read: Reader, per_sender: int, cpu_s: float) -> None:
        """read: reads elsewhere. per_sender: large messages at a time. cpu_s: for each."""
        self._read = read
        self._per_sender = per_sender
        self.cpu_s = cpu_s
        self._under_way: Counter[int] = Counter()

    @asynccontextmanager
    async def gathered(
        self,
        request: Request,
        most_bytes: int,
        identify: Callable[[Request], Awaitable[int]] | None,
    ) -> AsyncIterator[Gathered]:
        """Take the body of a request; it is under way while the block runs.

        identify: returns the number of a sender, or raises; None: anybody may send, but little.
        Raises LimitError, SenderShareError, and what `identify` raises.
        """
        most_bytes = most_bytes if identify is not None else min(most_bytes, DIRECT_BYTES)
        declared = request.headers.get("content-length", "")
        is_large = declared.isascii() and declared.isdigit() and int(declared) > DIRECT_BYTES
        if is_large and int(declared) > most_bytes:
            raise body_too_large(most_bytes, int(declared))
        chunks, size_bytes = list[bytes](), 0
        sender: int | None = None
        source = aiter(request.stream())
        try:
            while True:
                if is_large and sender is None and identify is not None:
                    sender = self._began(await identify(request))
                chunk = await anext(source, None)
                if chunk is None:
                    break
                chunks.append(chunk)
                size_bytes += len(chunk)
                if size_bytes > most_bytes:
                    raise body_too_large(most_bytes)
                is_large = is_large or size_bytes > DIRECT_BYTES
            yield Gathered(b"".join(chunks), sender)
        finally:
            if sender is not None:
                self._under_way[sender] -= 1
                self._under_way += Counter()  # drops senders without any

    async def elsewhere(
        self, request: Request, function: Callable[[_Job], _Result], job: _Job
    ) -> _Result:
        """Return function(job) from a worker process; where the client goes away, end it.

        Raises what the function raises, BodyLimitError, BusyError, ClientDisconnect.
        """
        return await while_connected(request, self._read(function, job))

    def _began(self, sender: int) -> int:
        if self._under_way[sender] >= self._per_sender:
            raise SenderShareError(
                Fault.SENDER_MESSAGES,
                self._under_way[sender],
                self._per_sender,
                "limits.large_messages_per_sender",
                AGAIN_S,
            )
        self._under_way[sender] += 1
        return sender
