"""Ask name servers: one question, its answer, and two kinds of no.

Invariant: `NoSuchNameError` means that a server said so; everything else that is no answer is
`NoAnswerError`, which says nothing of the name and may be asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Protocol

import aiodns
import pycares
from aiodns.error import DNSError

from shared.errors import PrsmError

__all__ = ["Kind", "NameServers", "NoAnswerError", "NoSuchNameError", "Question", "Record"]

Kind = Literal["A", "AAAA"]


class NoSuchNameError(PrsmError):
    """The name does not exist, has no address of this kind, or is no name at all."""


class NoAnswerError(PrsmError):
    """No server gave an answer that can be believed: a timeout, a failure, a refusal."""


@dataclass(frozen=True, slots=True)
class Record:
    """One address of a name, and for how long it may be believed."""

    address: str
    ttl_s: int


class Question(Protocol):
    """Whoever can be asked for the addresses of a name."""

    async def __call__(self, name: str, kind: Kind) -> list[Record]:
        """Return at least one record; raises NoSuchNameError, NoAnswerError."""
        ...


_NO: Final = frozenset(
    {pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_EBADNAME}
)
_TYPES: Final = {"A": pycares.QUERY_TYPE_A, "AAAA": pycares.QUERY_TYPE_AAAA}


class NameServers:
    """Name servers over UDP and TCP, by c-ares. An async context; belongs to one event loop."""

    def __init__(self, servers: Sequence[str], timeout_s: float, tries: int) -> None:
        """servers: `address:port`; none: those of this machine."""
        self._resolver = aiodns.DNSResolver(
            nameservers=list(servers) or None, timeout=timeout_s, tries=tries
        )

    async def __aenter__(self) -> NameServers:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._resolver.close()

    async def __call__(self, name: str, kind: Kind) -> list[Record]:
        """Ask for the addresses of one kind; CNAMEs are followed by the server."""
        try:
            answer = await self._resolver.query_dns(name, kind)
        except DNSError as error:
            code, words = error.args
            if code in _NO:
                raise NoSuchNameError(words) from error
            raise NoAnswerError(words) from error
        records = [
            Record(record.data.addr, record.ttl)
            for record in answer.answer
            if record.type == _TYPES[kind]
            and isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData)
        ]
        if not records:
            raise NoSuchNameError("an alias without an address")
        return records
