"""Asks name servers by c-ares; `questions` says what an answer means."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import aiodns
import pycares
from aiodns.error import DNSError

from shared.errors import SettingError
from shared.host_failures import HostFailure
from shared.messages import Message
from shared.naming.questions import Kind, NoAnswerError, NoSuchNameError, Record

__all__ = ["Channel"]

_NO_SERVER: Final = 26  # ARES_ENOSERVER: pycares has no name for it
_NO: Final = {
    pycares.errno.ARES_ENOTFOUND: HostFailure.NO_SUCH_NAME,
    pycares.errno.ARES_ENODATA: HostFailure.NO_ADDRESS,
    pycares.errno.ARES_EBADNAME: HostFailure.NOT_A_NAME,
}
_NO_ANSWER: Final = {
    pycares.errno.ARES_ETIMEOUT: HostFailure.NAME_TIMEOUT,
    pycares.errno.ARES_EREFUSED: HostFailure.NAME_REFUSED,
    pycares.errno.ARES_ESERVFAIL: HostFailure.NAME_SERVER_FAILED,
    pycares.errno.ARES_ECONNREFUSED: HostFailure.NAME_SERVER_AWAY,
    _NO_SERVER: HostFailure.NAME_SERVER_AWAY,
}
_REASONS: Final = {
    pycares.errno.ARES_ENODATA: "naming.no_data",
    pycares.errno.ARES_EFORMERR: "naming.query_misformatted",
    pycares.errno.ARES_ESERVFAIL: "naming.general_failure",
    pycares.errno.ARES_ENOTFOUND: "naming.not_found",
    pycares.errno.ARES_ENOTIMP: "naming.not_implemented",
    pycares.errno.ARES_EREFUSED: "naming.refused",
    pycares.errno.ARES_EBADNAME: "naming.name_misformatted",
    pycares.errno.ARES_EBADRESP: "naming.reply_misformatted",
    pycares.errno.ARES_ECONNREFUSED: "naming.no_contact",
    pycares.errno.ARES_ETIMEOUT: "naming.timeout",
    _NO_SERVER: "naming.no_servers",
}
"""Messages of errors of c-ares; their English is that of c-ares."""
_TYPES: Final = {"A": pycares.QUERY_TYPE_A, "AAAA": pycares.QUERY_TYPE_AAAA}
_SLACK_S: Final = 1.0


class Channel:
    """Fulfils `Question`. Make it inside a running event loop."""

    def __init__(self, servers: Sequence[str], timeout_s: float, tries: int) -> None:
        """servers: `address:port`; none: those of this machine. Raises SettingError."""
        try:
            self._resolver = aiodns.DNSResolver(
                nameservers=list(servers) or None, timeout=timeout_s, tries=tries
            )
        except (DNSError, pycares.AresError, ValueError) as error:
            raise SettingError(
                "settings_errors.name_servers", servers=tuple(servers), reason=str(error)
            ) from error
        # c-ares doubles its timeout with each try, and does not always keep it.
        self._longest_s = timeout_s * (2**tries - 1) + _SLACK_S

    async def ask(self, name: str, kind: Kind) -> list[Record]:
        """Ask for the addresses of one kind; CNAMEs are followed by the server."""
        try:
            answer = await asyncio.wait_for(
                self._resolver.query_dns(name, kind), timeout=self._longest_s
            )
        except DNSError as error:
            number, words = error.args[0], str(error.args[-1])
            reason = Message(_REASONS[number]) if number in _REASONS else Message.of_text(words)
            if number in _NO:
                raise NoSuchNameError(reason, _NO[number]) from error
            failure = _NO_ANSWER.get(number, HostFailure.NAME_UNANSWERED)
            raise NoAnswerError(reason, failure) from error
        except TimeoutError as error:
            waited = Message("naming.nothing_within", limit_s=self._longest_s)
            raise NoAnswerError(waited, HostFailure.NAME_TIMEOUT) from error
        except (ValueError, UnicodeError) as error:
            wrong = Message("naming.not_a_name", reason=str(error))
            raise NoSuchNameError(wrong, HostFailure.NOT_A_NAME) from error
        records = [
            Record(record.data.addr, record.ttl)
            for record in answer.answer
            if record.type == _TYPES[kind]
            and isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData)
        ]
        if not records:
            raise NoSuchNameError(Message("naming.alias_alone"), HostFailure.NO_ADDRESS)
        return records

    async def close(self) -> None:
        """Close; open questions end without an answer."""
        await self._resolver.close()
