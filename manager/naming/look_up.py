"""Resolution of the names of new hosts, before any agent fetches from them.

`shared.naming` looks up and judges one host; this module has the batches and their turns.
Operations act on the answers (groups, the time of the next query).
No transaction is open during the wait for a name server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from manager.db import Database
from manager.naming.country_file import CountryFile
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.policy import Policy
from manager.settings import DnsSettings
from shared.naming import AddressRules, HostAnswer, HostFailure, NameServers, Question, look_up

__all__ = ["Names", "look_up_all", "resolve_due"]


async def look_up_all(
    hosts: Iterable[str], question: Question, rules: AddressRules, *, at_once: int
) -> list[HostAnswer]:
    """Return an answer for each host key, in order, asking about `at_once` names at a time."""
    turns = asyncio.Semaphore(at_once)

    async def one(host: str) -> HostAnswer:
        async with turns:
            return await look_up(host, question, rules.refusal)

    return list(await asyncio.gather(*map(one, hosts)))


class Names:
    """The look-up with the name servers and rules of the settings; called by the clock."""

    def __init__(self, settings: DnsSettings) -> None:
        self._settings = settings
        self._rules = AddressRules(settings.allowed_networks)
        self.countries = CountryFile(settings.country_file)

    def resolve(self, hosts: Iterable[str]) -> list[HostAnswer]:
        """Return an answer for each host key. Blocks; for a thread without an event loop."""
        return asyncio.run(self.resolve_async(hosts))

    async def resolve_async(self, hosts: Iterable[str]) -> list[HostAnswer]:
        """Return an answer for each host key."""
        settings = self._settings
        servers = NameServers(
            settings.servers, timeout_s=settings.timeout_s, tries=settings.attempts
        )
        try:
            return await look_up_all(hosts, servers, self._rules, at_once=settings.parallel_queries)
        finally:
            await servers.close()


def resolve_due(
    db: Database, names: Names, now_ms: Callable[[], int], policy: Policy, batch: int
) -> int:
    """Resolve the names of due hosts and record the results; return how many.

    Their countries are looked up before the tick gives them to agents.
    """
    due = hosts_to_resolve(db, now_ms(), batch)
    if due:
        _resolve(db, names, due, now_ms, policy)
    names.countries.settle_due(db, [host.host_id for host in due], now_ms)
    return len(due)


def _resolve(
    db: Database,
    names: Names,
    due: Sequence[Resolution],
    now_ms: Callable[[], int],
    policy: Policy,
) -> None:
    answers = names.resolve([host.key for host in due])
    resolved = [
        replace(
            host,
            addresses=answer.addresses,
            problem=answer.failure,
            failure=answer.code or HostFailure.NO_ADDRESS,
        )
        for host, answer in zip(due, answers, strict=True)
    ]
    record_resolutions(db, resolved, now_ms(), policy)
