"""The look-up of a host: which questions are asked, and which answers count.

Invariant: a host whose answers hold even one address that must not be crawled has none: a name
that leads inside only sometimes leads inside. Addresses come in one order everywhere, IPv4 before
IPv6 and numbers upwards, so that all agents choose the same one for hosts that share addresses;
of very many, the first are kept, but all are judged.
Failures that may pass (`temporary`) are distinct from a no.
Leaves to others: for how long an answer is believed, and when to ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Final

from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.messages import Message
from shared.naming.questions import KINDS, Kind, NoAnswerError, NoSuchNameError, Question, Record
from shared.urls import split_host

__all__ = ["LITERAL_TTL_S", "MOST_ADDRESSES", "HostAnswer", "look_up"]

LITERAL_TTL_S: Final = 30 * 86_400  # of a host that is an address
MOST_ADDRESSES: Final = 32  # an answer over TCP has room for 4,000, and they are kept and reported


@frozen
class HostAnswer:
    """Addresses of a host, or the reason why there are none."""

    host: str  # host key
    addresses: tuple[str, ...] = ()  # in order
    ttl_s: int = 0  # of the shortest-lived address, as the servers said it
    failure: Message | None = None  # None: there are addresses
    code: HostFailure | None = None  # of the failure
    temporary: bool = False  # the failure may pass
    forbidden: bool = False  # it has addresses, of which one must not be crawled


async def look_up(
    host: str,
    question: Question,
    refusal: Callable[[str], Message | None],
    kinds: Sequence[Kind] = KINDS,
) -> HostAnswer:
    """Return where a host key leads, with one question for each kind of address.

    kinds: of the addresses that can be used; a host that is an address of another kind has none.
    """
    _, name, _ = split_host(host)
    literal = _literal(name)
    if literal is not None:
        kind = "AAAA" if ":" in literal else "A"
        if kind not in kinds:
            other = Message("naming.other_family", address=literal, kind=kinds[0])
            return HostAnswer(host, failure=other, code=HostFailure.NO_ADDRESS)
        return _judged(host, {literal}, LITERAL_TTL_S, refusal)
    records: list[Record] = []
    no: NoSuchNameError | None = None
    silence: NoAnswerError | None = None
    answers = await asyncio.gather(
        *(question.ask(name, kind) for kind in kinds), return_exceptions=True
    )
    for answer in answers:
        match answer:
            case list():
                records += answer
            case NoSuchNameError():
                # A name with any record exists, whatever the answer about the other kind.
                if no is None or answer.failure is HostFailure.NO_ADDRESS:
                    no = answer
            case NoAnswerError():
                silence = silence or answer
            case _:
                raise answer
    if records:
        addresses = {str(ip_address(record.address)) for record in records}
        return _judged(host, addresses, min(record.ttl_s for record in records), refusal)
    if silence is not None:
        unanswered = Message("naming.no_answer", name=name, reason=silence.message)
        return HostAnswer(host, failure=unanswered, code=silence.failure, temporary=True)
    code = HostFailure.NO_ADDRESS if no is None else no.failure
    reason = Message("naming.no_records") if no is None else no.message
    none = Message("naming.no_address", name=name, reason=reason)
    return HostAnswer(host, failure=none, code=code)


def _judged(
    host: str, addresses: set[str], ttl_s: int, refusal: Callable[[str], Message | None]
) -> HostAnswer:
    ordered = tuple(sorted(addresses, key=_order))
    for address in ordered:
        reason = refusal(address)
        if reason is not None:
            return HostAnswer(
                host,
                failure=Message("naming.forbidden_address", reason=reason),
                code=HostFailure.FORBIDDEN_ADDRESS,
                forbidden=True,
            )
    return HostAnswer(host, ordered[:MOST_ADDRESSES], ttl_s)


def _order(address: str) -> tuple[int, int]:
    parsed = ip_address(address)
    return parsed.version, int(parsed)


def _literal(name: str) -> str | None:
    try:
        return str(ip_address(name.strip("[]")))
    except ValueError:
        return None
