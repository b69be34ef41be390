"""Ask name servers: one question, its answer, and two kinds of no.

Invariant: `NoSuchNameError` means that a server said so; whatever else is no answer is
`NoAnswerError`, which says nothing of the name and may be asked again. A question always ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from shared.errors import PrsmError
from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.messages import Message

__all__ = ["KINDS", "Kind", "NameServers", "NoAnswerError", "NoSuchNameError", "Question", "Record"]

Kind = Literal["A", "AAAA"]
KINDS: Final[tuple[Kind, ...]] = ("A", "AAAA")


class NoSuchNameError(PrsmError):
    """The name does not exist, has no address of this kind, or is no name at all."""

    def __init__(
        self, reason: str | Message, failure: HostFailure = HostFailure.NO_SUCH_NAME
    ) -> None:
        """failure: which of the three."""
        super().__init__(reason)
        self.failure = failure


class NoAnswerError(PrsmError):
    """No server gave an answer that can be believed: a timeout, a failure, a refusal."""

    def __init__(
        self, reason: str | Message, failure: HostFailure = HostFailure.NAME_UNANSWERED
    ) -> None:
        """failure: how the servers failed."""
        super().__init__(reason)
        self.failure = failure


@frozen
class Record:
    """One address of a name, and for how long it may be believed."""

    address: str
    ttl_s: int


class Question(Protocol):
    """Whoever can be asked for the addresses of a name."""

    async def ask(self, name: str, kind: Kind) -> list[Record]:
        """Return at least one record; raises NoSuchNameError, NoAnswerError."""
        ...

    async def close(self) -> None:
        """Close; open questions end without an answer."""
        ...


class NameServers:
    """Name servers over UDP and TCP. Make it inside a running event loop.

    Those of this machine are turned to at the first question: to import what asks them takes as
    long as a hundred pages, and a list of addresses needs no answer.
    """

    def __init__(
        self, servers: Sequence[str] = (), *, timeout_s: float = 5.0, tries: int = 3
    ) -> None:
        """servers: `address:port`; none: those of this machine. Raises SettingError."""
        self._servers = tuple(servers)
        self._timeout_s = timeout_s
        self._tries = tries
        self._channel: Question | None = None
        if servers:  # a wrong setting is refused at the start
            self._open()

    async def ask(self, name: str, kind: Kind) -> list[Record]:
        """Ask for the addresses of one kind; CNAMEs are followed by the server."""
        channel = self._channel or self._open()
        return await channel.ask(name, kind)

    async def close(self) -> None:
        """Close; open questions end without an answer."""
        if self._channel is not None:
            await self._channel.close()

    def _open(self) -> Question:
        from shared.naming.channel import Channel  # noqa: PLC0415  # see the class

        self._channel = Channel(self._servers, self._timeout_s, self._tries)
        return self._channel
