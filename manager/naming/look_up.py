"""Find the addresses of new hosts before any robot is sent there.

Invariant: a host whose answers hold even one address that is not to be crawled gets no address: a
name that leads inside only sometimes leads inside. Failures that may pass (`temporary`) are told
apart from answers. What follows from an answer (groups, when to ask again) is the operations'.
No transaction is open while a name server is waited for.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from manager.db import Database
from manager.naming.networks import AddressRules
from manager.naming.questions import Kind, NameServers, NoAnswerError, NoSuchNameError, Question
from manager.operations.addresses import hosts_to_resolve, record_resolutions
from manager.operations.policy import Policy
from manager.settings import NamingSettings
from shared.urls import split_host

__all__ = ["HostAnswer", "Names", "look_up", "resolve_due"]

LEAST_TTL_S: Final = 60  # nobody may make the manager ask every second
LITERAL_TTL_S: Final = 30 * 86400
_KINDS: Final[tuple[Kind, ...]] = ("A", "AAAA")


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """Where a host leads, or why nowhere."""

    host: str  # host key
    addresses: tuple[str, ...] = ()  # sorted
    ttl_s: int = 0  # of the shortest-lived address
    failure: str = ""  # in words; empty: there are addresses
    temporary: bool = False  # the failure may pass


async def look_up(
    hosts: Iterable[str], ask: Question, rules: AddressRules, *, at_once: int
) -> list[HostAnswer]:
    """Return a resolution for each host key, in order, asking about `at_once` names at a time."""
    turns = asyncio.Semaphore(at_once)

    async def one(host: str) -> HostAnswer:
        async with turns:
            return await _resolve(host, ask, rules)

    return list(await asyncio.gather(*map(one, hosts)))


class Names:
    """The look-up with the name servers and rules of the settings; called by the clock."""

    def __init__(self, settings: NamingSettings) -> None:
        self._settings = settings
        self._rules = AddressRules(settings.allowed_networks)

    def resolve(self, hosts: Iterable[str]) -> list[HostAnswer]:
        """Return a resolution for each host key. Blocks; for a thread without an event loop."""
        return asyncio.run(self.resolve_async(hosts))

    async def resolve_async(self, hosts: Iterable[str]) -> list[HostAnswer]:
        """Return a resolution for each host key."""
        settings = self._settings
        async with NameServers(settings.servers, settings.timeout_s, settings.tries) as servers:
            return await look_up(hosts, servers, self._rules, at_once=settings.at_once)


def resolve_due(
    db: Database, names: Names, now_ms: Callable[[], int], policy: Policy, batch: int
) -> int:
    """Resolve the hosts whose turn it is and record what came of it; return how many."""
    due = hosts_to_resolve(db, now_ms(), batch)
    if not due:
        return 0
    answers = names.resolve([host.key for host in due])
    resolved = [
        replace(host, addresses=answer.addresses, problem=answer.failure)
        for host, answer in zip(due, answers, strict=True)
    ]
    record_resolutions(db, resolved, now_ms(), policy)
    return len(due)


async def _resolve(host: str, ask: Question, rules: AddressRules) -> HostAnswer:
    _, name, _ = split_host(host)
    literal = _literal(name)
    if literal is not None:
        return _judged(host, {literal}, LITERAL_TTL_S, rules)
    addresses: set[str] = set()
    ttl_s = LITERAL_TTL_S
    no, silence = "", ""
    for kind in _KINDS:
        try:
            for record in await ask(name, kind):
                addresses.add(str(ipaddress.ip_address(record.address)))
                ttl_s = min(ttl_s, record.ttl_s)
        except NoSuchNameError as error:
            no = str(error)
        except NoAnswerError as error:
            silence = str(error)
    if addresses:
        return _judged(host, addresses, max(ttl_s, LEAST_TTL_S), rules)
    if silence:
        return HostAnswer(host, failure=f"no answer about {name}: {silence}", temporary=True)
    return HostAnswer(host, failure=f"{name} has no address: {no}")


def _judged(host: str, addresses: set[str], ttl_s: int, rules: AddressRules) -> HostAnswer:
    for address in sorted(addresses):
        refusal = rules.refusal(address)
        if refusal is not None:
            return HostAnswer(host, failure=refusal)
    return HostAnswer(host, tuple(sorted(addresses)), ttl_s)


def _literal(name: str) -> str | None:
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return None
