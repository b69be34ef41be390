"""Intake of a crawl log (M3): spool it, read it in a child process, enter it in one transaction.

Invariant: a log is entered wholly or not at all, and once: a repeat of its bytes is answered as
done, its name with other bytes is refused. The Parquet file is in place before the transaction
that names it; a file without a transaction has no owner, and the repeat overwrites it. No
transaction is open while a body arrives or a child works.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from manager.assignment.right_history import SLACK_MS
from manager.db import Database
from manager.errors import BusyError, ConflictError, ForbiddenError
from manager.intake.body_decoding import DecodingLimits
from manager.intake.body_receiver import CRAWL_LOG, keep_refused, receive
from manager.intake.logs.log_job import LogJob
from manager.intake.logs.log_parser import first_since_ms, parse_log, read_name
from manager.intake.logs.log_sections import Section, check_closed
from manager.intake.shared_readings import KeptReadings
from manager.intake.workers.body_job import Reader
from manager.operations.fleet.contact import note_message
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.log_entry import Accepted, accept_log, known_report
from manager.operations.logs.log_summary import LogSummary, ParsedLog
from manager.operations.logs.reports import held_during
from manager.operations.measurement.refetch_orders import lines_to_draw
from manager.operations.policy import Policy
from manager.settings import IntakeSettings, LimitSettings
from manager.store import (
    Layout,
    LineBounds,
    Rejected,
    Spool,
    Spooled,
    durable_files,
)
from shared.frozen import frozen, values_of

__all__ = ["LogIntake", "Receipt"]

HISTORY_MS: Final = 32 * 86_400_000
"""A log without its begin time is judged by the agent's rights in the last month."""


@frozen
class Receipt:
    """Receipt of a log. repeated: it was accepted before; the numbers are those of then."""

    name: str
    lines: int
    quarantined: int
    repeated: bool


@dataclass(eq=False)
class LogIntake:
    """Takes logs; one of an agent at a time, any number of agents."""

    db: Database
    layout: Layout
    spool: Spool
    rejected: Rejected
    read: Reader
    policy: Policy
    limits: LimitSettings
    settings: IntakeSettings
    now_ms: Callable[[], int]

    def __post_init__(self) -> None:
        self._turns: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._readings: KeptReadings[Receipt] = KeptReadings(self.settings.answer_timeout_s)

    async def receive(self, chunks: AsyncIterator[bytes], declared_bytes: int | None) -> Spooled:
        """Spool a log. Raises LimitError, BusyError, SlowSenderError."""
        return await receive(
            chunks,
            self.spool,
            CRAWL_LOG,
            limit_bytes=self.limits.log_bytes,
            declared_bytes=declared_bytes,
            limits=self.limits,
        )

    async def enter(self, agent: AgentIdentity, body: Spooled) -> Receipt:
        """Read a spooled log and enter it; where the caller is cancelled, the reading ends.

        Raises FormatError (malformed, with the line's number), ForbiddenError (another agent's),
        ConflictError (the name came with another body), LimitError, BusyError.
        """
        if not self._readings.is_under_way(agent.id, body.sha256):
            return await self._readings.wait(
                agent.id, body.sha256, lambda: self._enter_whole(agent, body)
            )
        try:
            receipt = await self._readings.wait(agent.id, body.sha256)
            return replace(receipt, repeated=True)
        finally:
            await asyncio.shield(asyncio.to_thread(body.discard))

    async def _enter_whole(self, agent: AgentIdentity, body: Spooled) -> Receipt:
        async with keep_refused(self.rejected, body, agent.id, CRAWL_LOG, self.now_ms):
            return await self._take_body(agent, body)

    async def _take_body(self, agent: AgentIdentity, body: Spooled) -> Receipt:
        named = await asyncio.to_thread(read_name, body.path)
        if named.agent != agent.name:
            raise ForbiddenError("uploads.log_of_other_agent", owner=named.agent, agent=agent.name)
        check_closed(named, self.now_ms())
        name = f"{named.agent}.{named.minute}"
        await asyncio.to_thread(
            note_message, self.db, agent, "submitlog", self.now_ms(), self.policy
        )
        async with self._turns[agent.id]:
            known = await asyncio.to_thread(known_report, self.db, agent, body.sha256, name)
            if known is not None:
                return Receipt(name, known.lines, known.quarantined, repeated=True)
            job = await asyncio.to_thread(self._job, agent, body, name)
            try:
                outcome = await self.read(parse_log, job)
                # Whoever goes away meanwhile is not waited for, but what is begun is done.
                entering = asyncio.create_task(
                    asyncio.to_thread(self._enter, agent, body, name, job.target, outcome)
                )
                try:
                    accepted = await asyncio.shield(entering)
                finally:
                    await asyncio.wait({entering})
            finally:
                await asyncio.shield(asyncio.to_thread(_remove_rows, job.target))
        return Receipt(name, accepted.lines, accepted.quarantined, accepted.repeated)

    def _job(self, agent: AgentIdentity, body: Spooled, name: str) -> LogJob:
        """Return what the child needs to know: all that the agent held in the log's time."""
        now_ms = self.now_ms()
        said_ms = first_since_ms(body.path)
        since_ms = now_ms - HISTORY_MS if said_ms is None else said_ms
        during = held_during(self.db, agent, since_ms - SLACK_MS, now_ms, name)
        draw, draw_probes = lines_to_draw(self.db, self.policy)
        return LogJob(
            body=body.path,
            target=self.spool.temporary(".parquet"),
            defaults=Section(during.since_ms if said_ms is None else said_ms, now_ms),
            held=during.held,
            round=during.round,
            closed_ms=during.closed_ms,
            last_round=during.last_round,
            kind=during.kind,
            limits=DecodingLimits(
                self.limits.log_decoded_bytes,
                self.limits.decoded_ratio,
                self.limits.log_lines,
                "limits.log_lines",
            ),
            memory_bytes=self.settings.duckdb_memory_bytes,
            cpu_s=self.settings.log_cpu_s,
            big=during.big,
            draw=draw,
            draw_probes=draw_probes,
            sender=agent.id,
            size_bytes=body.size_bytes,
            bounds=LineBounds(
                self.settings.max_logged_answer_bytes,
                round(self.settings.max_logged_request_s * 1000),
            ),
        )

    def _enter(
        self, agent: AgentIdentity, body: Spooled, name: str, rows: Path, parsed: ParsedLog
    ) -> Accepted:
        """Put the rows where they stay and enter the sums; where that fails, take them away."""
        target = self.layout.log_file(agent.id, body.sha256)
        with rows.open("rb") as file:
            file_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        durable_files.move(rows, target)
        try:
            return accept_log(
                self.db,
                agent,
                LogSummary(
                    name=name,
                    sha256=body.sha256,
                    size_bytes=body.size_bytes,
                    path=str(target.relative_to(self.layout.kept)),
                    file_sha256=file_sha256,
                    **values_of(parsed),
                ),
                self.now_ms(),
                self.policy,
            )
        except BaseException:
            if self._is_of_no_report(agent, body, name):
                target.unlink(missing_ok=True)
            raise

    def _is_of_no_report(self, agent: AgentIdentity, body: Spooled, name: str) -> bool:
        """Return whether what failed was not committed all the same: its answer may have been lost,
        or another manager was faster. Whoever does not know takes no rows away."""
        try:
            return known_report(self.db, agent, body.sha256, name) is None
        except ConflictError:
            return True
        except BusyError:
            return False


def _remove_rows(target: Path) -> None:
    """Remove what a reading left, also one that was ended in the middle."""
    for path in (target, target.with_suffix(".part")):
        path.unlink(missing_ok=True)
