"""Names to addresses: `Resolver`'s real side. How a name is looked up: `shared.naming`.

Behind a proxy the name stands for its address, because the proxy looks it up. It is asked here too,
only to refuse names that are known to lead inside; without an answer the proxy decides.
Of several addresses those come first that this machine has a route to: one without IPv6, or without
IPv4, would else find every host dead that has both. Within a family the order is that of all
agents.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from agent.pipeline.messages.hosts import LookUp, stand_in
from shared.frozen import frozen
from shared.messages import Message
from shared.naming import KINDS, HostFailure, Kind, Question, look_up

__all__ = ["DnsResolver", "ResolverOptions", "has_route"]

LEAST_TTL_S: Final = 60.0  # no zone may make an agent ask every second
LONGEST_TTL_S: Final = 86_400.0
NEGATIVE_TTL_S: Final = 600.0
_DISCARD: Final = 9  # any port does


@frozen
class ResolverOptions:
    """kinds: of addresses that requests can be sent to. proxied: they go through a proxy."""

    kinds: tuple[Kind, ...] = KINDS
    proxied: bool = False


def has_route(address: str) -> bool:
    """Return whether packets to an address have a way out of this machine; none is sent.

    A datagram socket that is connected asks the kernel for the route, and no more.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((address, _DISCARD))
    except OSError:
        return False
    return True


class DnsResolver:
    """Fulfils `agent.pipeline.ports.Resolver`. Make it inside a running event loop."""

    def __init__(
        self,
        question: Question,
        refusal: Callable[[str], Message | None],
        options: ResolverOptions | None = None,
        routed: Callable[[str], bool] = has_route,
    ) -> None:
        """question: belongs to the resolver from now on. refusal: why an address must not be
        crawled, or None. routed: whether this machine has a route to an address.
        """
        self._question = question
        self._refusal = refusal
        self._options = options or ResolverOptions()
        self._routed = routed
        self._under_way: set[asyncio.Task[None]] = set()

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Begin to look a host key's name up; `done` is called once, later, by the loop.

        Every failure is an answer, too: the caller counts the look-ups that are under way.
        """
        task = asyncio.get_running_loop().create_task(self._answer(host, done))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        """End the look-ups under way, whose `done` is no longer called; release the servers."""
        for task in list(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._question.close()

    async def look_up(self, host: str) -> LookUp:
        """Return where a host leads, or why nowhere."""
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        found = await look_up(host, self._question, self._refusal, self._options.kinds)
        if self._options.proxied and not found.forbidden:
            ttl_s = _believed(found.ttl_s) if found.addresses else LONGEST_TTL_S
            return LookUp(host, (stand_in(host),), ttl_s)
        if found.addresses:
            took_ms = 1000 * (loop.time() - begun_s)
            return LookUp(
                host, self._in_order(found.addresses), _believed(found.ttl_s), took_ms=took_ms
            )
        failure, reason = found.code or HostFailure.NO_ADDRESS, str(found.failure)
        if found.temporary:
            return LookUp(host, (), LEAST_TTL_S, reason, temporary=True, failure=failure)
        if found.forbidden:
            return LookUp(host, (), LONGEST_TTL_S, reason, failure=failure)
        if len(self._options.kinds) < len(KINDS):
            family = "IPv6" if "AAAA" in self._options.kinds else "IPv4"
            reason += f"; network.source_address leaves {family} alone"
        return LookUp(host, (), NEGATIVE_TTL_S, reason, failure=failure)

    def _in_order(self, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Put those without a route last, where there are addresses of both families."""
        if len({":" in address for address in addresses}) < 2:
            return addresses
        return tuple(sorted(addresses, key=lambda address: not self._routed(address)))

    async def _answer(self, host: str, done: Callable[[LookUp], None]) -> None:
        try:
            found = await self.look_up(host)
        except Exception as error:  # noqa: BLE001  # one odd name must not keep the others waiting
            reason = f"could not be looked up: {type(error).__name__}: {str(error)[:200]}"
            failure = HostFailure.NAME_UNANSWERED
            found = LookUp(host, (), LEAST_TTL_S, reason, temporary=True, failure=failure)
        done(found)


def _believed(ttl_s: int) -> float:
    return min(max(float(ttl_s), LEAST_TTL_S), LONGEST_TTL_S)
