"""The look-up of a host: which questions are asked, and which answers count.

A host whose answers hold even one address that must not be crawled has none: a name that leads
inside only sometimes leads inside. Addresses come in one order everywhere, IPv4 before IPv6 and
numbers upwards, so that all agents choose the same one for hosts that share addresses.

Behind a proxy the host itself stands for its address, because the proxy looks it up. It is asked
here too, only to refuse names that are known to lead inside; without an answer the proxy decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from agent.adapters.dns.questions import (
    Kind,
    NoAnswerError,
    NoSuchNameError,
    Question,
    Record,
)
from agent.pipeline.ports import LookUp
from shared.urls import split_host

__all__ = ["DnsResolver", "ResolverOptions"]

LEAST_TTL_S: Final = 60.0  # nobody may make an agent ask every second
LONGEST_TTL_S: Final = 86_400.0
NEGATIVE_TTL_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class ResolverOptions:
    """ipv6: ask for AAAA as well. proxied: requests go through a proxy."""

    ipv6: bool = True
    proxied: bool = False


class DnsResolver:
    """Fulfils `agent.pipeline.ports.Resolver`. Make it inside a running event loop."""

    def __init__(
        self,
        question: Question,
        refusal: Callable[[str], str | None],
        options: ResolverOptions | None = None,
    ) -> None:
        """question: belongs to the resolver from now on. refusal: why an address must not be
        crawled, or None.
        """
        self._question = question
        self._refusal = refusal
        self._options = options or ResolverOptions()
        self._kinds: tuple[Kind, ...] = ("A", "AAAA") if self._options.ipv6 else ("A",)
        self._under_way: set[asyncio.Task[None]] = set()

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Begin to look a host key's name up; `done` is called once, later, by the loop."""
        task = asyncio.get_running_loop().create_task(self._answer(host, done))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        """End what is under way, whose `done` is not called any more; let the servers go."""
        for task in list(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._question.close()

    async def look_up(self, host: str) -> LookUp:
        """Return where a host leads, or why nowhere."""
        _, name, _ = split_host(host)
        literal = _literal(name)
        if literal is not None:
            found = self._judged(host, {literal}, LONGEST_TTL_S)
        else:
            found = await self._asked(host, name)
        if self._options.proxied and (found.addresses or not self._leads_inside(found)):
            return LookUp(host, (host,), found.ttl_s if found.addresses else LONGEST_TTL_S)
        return found

    async def _answer(self, host: str, done: Callable[[LookUp], None]) -> None:
        done(await self.look_up(host))

    async def _asked(self, host: str, name: str) -> LookUp:
        records: list[Record] = []
        no, silence = "", ""
        answers = await asyncio.gather(
            *(self._question.ask(name, kind) for kind in self._kinds), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, list):
                records += answer
            elif isinstance(answer, NoSuchNameError):
                no = no or str(answer)
            elif isinstance(answer, NoAnswerError):
                silence = silence or str(answer)
            else:
                raise answer
        if records:
            addresses = {str(ip_address(record.address)) for record in records}
            return self._judged(host, addresses, min(record.ttl_s for record in records))
        if silence:
            reason = f"no answer about {name}: {silence}"
            return LookUp(host, (), LEAST_TTL_S, reason, temporary=True)
        return LookUp(host, (), NEGATIVE_TTL_S, f"{name} has no address: {no}")

    def _judged(self, host: str, addresses: set[str], ttl_s: float) -> LookUp:
        ordered = tuple(sorted(addresses, key=_order))
        for address in ordered:
            reason = self._refusal(address)
            if reason is not None:
                return LookUp(host, (), LONGEST_TTL_S, f"{_FORBIDDEN}{reason}")
        return LookUp(host, ordered, min(max(float(ttl_s), LEAST_TTL_S), LONGEST_TTL_S))

    def _leads_inside(self, found: LookUp) -> bool:
        return found.reason.startswith(_FORBIDDEN)


_FORBIDDEN: Final = "forbidden address: "


def _order(address: str) -> tuple[int, int]:
    parsed = ip_address(address)
    return parsed.version, int(parsed)


def _literal(name: str) -> str | None:
    try:
        return str(ip_address(name.strip("[]")))
    except ValueError:
        return None
