"""Enter the hosts that an agent found (M2) from its spooled body.

A worker process reads the body (`discovery_reader`); this enters what it found, batch by batch.
Invariant: a body that is not gzip, is cut short or is over a limit is refused before anything of it
is entered. A single malformed line is refused by its number and keeps no other out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from manager.db import Database
from manager.intake.body_decoding import DecodingLimits
from manager.intake.messages.discovery_reader import DiscoveredJob, FoundBody, read_discovered
from manager.intake.workers.body_job import Reader
from manager.operations.hosts.discoveries import Recorded, record_found
from manager.operations.hosts.found_urls import FoundUrl
from manager.operations.hosts.lists.host_lines import Tally
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.policy import Policy
from manager.settings import IntakeSettings, LimitSettings
from manager.store import Spool, Spooled
from shared.frozen import frozen

__all__ = ["DiscoveredIntake"]


@frozen
class DiscoveredIntake:
    """Takes lists of found hosts; one of an agent at a time, any number of agents."""

    db: Database
    spool: Spool
    read: Reader
    policy: Policy
    limits: LimitSettings
    settings: IntakeSettings
    now_ms: Callable[[], int]

    async def enter(self, agent: AgentIdentity, body: Spooled) -> Recorded:
        """Record the hosts of a body and return the results of its lines.

        If the caller is cancelled, the reading ends at once, the entering after its batch.
        Raises FormatError, LimitError, BusyError.
        """
        limits = self.limits
        job = DiscoveredJob(
            sender=agent.id,
            body=body.path,
            target=self.spool.temporary(".found"),
            limits=DecodingLimits(
                limits.discovered_decoded_bytes,
                limits.decoded_ratio,
                limits.discovered_lines,
                "limits.discovered_lines",
            ),
            cpu_s=self.settings.host_list_cpu_s,
        )
        try:
            return await self._entered(agent, job.target, await self.read(read_discovered, job))
        finally:
            await asyncio.to_thread(job.target.unlink, missing_ok=True)

    async def _entered(self, agent: AgentIdentity, target: Path, found: FoundBody) -> Recorded:
        tally = Tally(
            known=found.repeated,
            refused=list(found.refused_lines),
            refused_count=found.refused_count,
        )
        gone = threading.Event()
        entering = asyncio.to_thread(
            record_found,
            self.db,
            agent,
            _found_urls(target),
            tally,
            self.now_ms(),
            self.policy,
            gone.is_set,
        )
        try:
            return await asyncio.shield(work := asyncio.ensure_future(entering))
        except asyncio.CancelledError:
            gone.set()
            await asyncio.wait({work})
            raise


def _found_urls(target: Path) -> Iterator[FoundUrl]:
    with target.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            url, host, referer = line[:-1].split("\t")
            yield FoundUrl(url, host, referer or None)
