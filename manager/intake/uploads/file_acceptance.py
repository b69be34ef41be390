"""Whole files, one after the other, to the archive; and into the week's log of transfers.

Invariant: a file leaves `incoming` when the archive has it or will never take it, and only then
does its sender hear so. What cannot be judged now (a full disk, a busy database) is judged later.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from manager.db import Database
from manager.errors import BusyError
from manager.operations.identity.enrolment import AgentIdentity, identity_by_id
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    accept_segment,
    known_segment,
)
from manager.operations.segments.segment_outcomes import Accepted, Arrived, Outcome, Quarantined
from manager.operations.segments.segment_repair import accept_again, damaged_segments
from manager.operations.segments.upload_completion import postpone, received_uploads, settle
from manager.operations.segments.uploads import TransferRow
from manager.store import UploadParts
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.week_log import TransferLine, WeekLog
from shared.wire.uploads import UploadState

__all__ = ["Acceptance", "SegmentIntake"]

LATER_MS: Final = 60_000

_log: Final = logging.getLogger(__name__)


@frozen
class SegmentIntake:
    """Takes segments, one of an agent at a time; any thread may ask, and waits."""

    db: Database
    reading: ExaminationTools
    now_ms: Callable[[], int]
    turns: defaultdict[int, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock), compare=False
    )

    def accept(self, agent: AgentIdentity, arrived: Arrived) -> Outcome:
        """Keep a segment, or say why not; see `accept_segment`."""
        with self.turns[agent.id]:
            damaged = damaged_segments(self.db, agent.id, arrived.sha256)
            if damaged:
                return accept_again(self.db, self.reading, agent, arrived, damaged, self.now_ms())
            return accept_segment(self.db, self.reading, agent, arrived, self.now_ms())

    def known(self, agent: AgentIdentity, sha256: str) -> Outcome | None:
        """Return the previous outcome for these bytes; None: they are wanted (again)."""
        if damaged_segments(self.db, agent.id, sha256):
            return None
        return known_segment(self.db, agent, sha256)


@dataclass(eq=False)
class Acceptance:
    """Examines the waiting files; called by the clock, never twice at once."""

    db: Database
    parts: UploadParts
    segments: SegmentIntake
    log: WeekLog
    now_ms: Callable[[], int]
    at_once: int  # files that are read at the same time

    def __post_init__(self) -> None:
        self._turns: dict[int, int] = {}  # when each agent had its last one
        self._last_turn = 0

    def accept_waiting(self) -> int:
        """Judge every file that waits, in turns by agent; return how many there were."""
        judged: set[int] = set()
        while batch := self._next_batch(judged):
            judged.update(row.id for row in batch)
            if len(batch) == 1:
                self._accept(batch[0])
            else:
                with ThreadPoolExecutor(self.at_once, thread_name_prefix="accept") as threads:
                    list(threads.map(self._accept, batch))
        return len(judged)

    def _next_batch(self, judged: set[int]) -> list[TransferRow]:
        """Return the oldest file of those agents that had their last turn longest ago.

        The table is queried each time: a new file does not wait for all the older ones.
        """
        waiting = received_uploads(self.db, self.now_ms())
        firsts: dict[int, TransferRow] = {}
        for row in waiting:
            if row.id not in judged:
                firsts.setdefault(row.agent_id, row)
        turn = sorted(firsts.values(), key=lambda row: self._turns.get(row.agent_id, 0))
        batch = turn[: self.at_once]
        for row in batch:
            self._turns.pop(row.agent_id, None)
            self._turns[row.agent_id] = self._last_turn = self._last_turn + 1
        return batch

    def _accept(self, row: TransferRow) -> None:
        try:
            state, said = self._judged(row)
        except BusyError as error:
            self._put_off(row, error.message)
        except PrsmError as error:
            self._settle(row, "refused", error.message)
            self.parts.remove(row.key)
        except Exception as error:  # noqa: BLE001 - one file's defect must not keep the others
            # A defect at one file must not keep the others, nor this one, waiting for ever.
            _log.exception("accepting %s of agent %d failed", row.filename, row.agent_id)
            why = Message("segments.manager_failed", error=type(error).__name__)
            self._put_off(row, why)
        else:
            self._settle(row, state, said)
            if state == "refused":
                self.parts.remove(row.key)

    def _judged(self, row: TransferRow) -> tuple[UploadState, Message]:
        agent = identity_by_id(self.db, row.agent_id)
        path = self.parts.arrived(row.key)
        if not path.exists() and self.segments.known(agent, row.sha256) is None:
            self.parts.begin(row.key)
            return "receiving", Message("segments.file_lost")
        arrived = Arrived(path, row.filename, row.sha256, row.size_bytes)
        outcome = self.segments.accept(agent, arrived)
        match outcome:
            case Accepted():
                return "accepted", outcome.said
            case Quarantined():
                return "quarantined", outcome.said
        if not outcome.for_good:
            raise BusyError(outcome.said)
        return "refused", outcome.said

    def _put_off(self, row: TransferRow, why: Message) -> None:
        delay_ms = LATER_MS * min(60, 2 ** min(row.tries, 6))
        postpone(self.db, row, why, self.now_ms() + delay_ms)

    def _settle(self, row: TransferRow, state: UploadState, said: Message) -> None:
        now_ms = self.now_ms()
        settle(self.db, row, state, said, now_ms)
        if state == "receiving":
            return
        with suppress(OSError):  # the table has it, too
            self.log.add(
                TransferLine(
                    begun_ms=row.begun_ms,
                    ended_ms=row.received_ms or now_ms,
                    agent=identity_by_id(self.db, row.agent_id).name,
                    file=row.filename,
                    size_bytes=row.size_bytes,
                    sent_bytes=row.received_bytes,
                    way=row.way,
                    result=f"{state}: {said}",
                )
            )
