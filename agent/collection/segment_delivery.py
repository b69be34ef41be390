"""Delivery of the segments of one order, up to the centre's verdict on each.

A segment is pushed, or offered for the manager to fetch; then its status is asked for until the
centre has judged it. An upload that vanished there is sent once more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from agent.collection.offers import RENEW_S, OfferSender
from agent.collection.orders import Order
from agent.collection.segment_records import SegmentRecord, SegmentRecords
from agent.collection.segment_upload import DamagedError, SegmentSender, StopSendingError
from agent.control.robot_log import LineLogger
from agent.errors import LinkError, RefusedError
from shared.archive.errors import DiskFullError
from shared.frozen import frozen
from shared.messages import Message
from shared.week_log import TransferLine, WeekLog
from shared.wire.uploads import UploadStatus

__all__ = ["DeliveryClock", "SegmentDelivery", "TransferJournal"]

JUDGE_LEAST_S: Final = 0.5
JUDGE_MOST_S: Final = 30.0
JUDGED_WITHIN_S: Final = 6 * 3600.0
"""The centre reads a gigabyte in minutes; the next order asks about segments that wait longer."""
FORGOTTEN: Final = frozenset({"cancelled", "expired"})  # it is new again


@frozen
class DeliveryClock:
    """Time as a delivery needs it: epoch milliseconds, seconds that never go back, pauses."""

    now_ms: Callable[[], int]
    monotonic_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class TransferJournal:
    """The record of each segment, and a line of the log once it is settled."""

    def __init__(
        self, records: SegmentRecords, log: WeekLog, agent: str, log_line: LineLogger
    ) -> None:
        self._records = records
        self._log = log
        self._agent = agent
        self._log_line = log_line

    def note(self, segment: SegmentRecord, order: Order) -> None:
        """Write the record of a segment, and a line of the log when it is settled."""
        # On a full disk nothing is known of it next time, which costs a question.
        with suppress(DiskFullError):
            self._records.write(segment)
        if not segment.is_settled:
            return
        result = f"{segment.state}: {segment.result}" if segment.result else segment.state
        self._log_line(f"{segment.name}: {result}")
        with suppress(OSError):
            path = self._records.segment_folder / segment.name
            size_bytes = path.stat().st_size if path.exists() else 0
            self._log.add(
                TransferLine(
                    segment.begun_ms,
                    segment.ended_ms,
                    self._agent,
                    segment.name,
                    size_bytes,
                    segment.sent_bytes,
                    order.way,
                    result,
                )
            )


class SegmentDelivery:
    """Sends or offers segments and waits for the centre's verdicts."""

    def __init__(
        self,
        records: SegmentRecords,
        sender: SegmentSender,
        offers: OfferSender | None,
        journal: TransferJournal,
        clock: DeliveryClock,
        may_send: Callable[[], bool],
    ) -> None:
        """offers: lets the manager fetch segments; None: all are pushed."""
        self._records = records
        self._sender = sender
        self._offers = offers
        self._journal = journal
        self._clock = clock
        self._may_send = may_send

    @property
    def sent_bytes(self) -> int:
        """Return how many bytes were sent so far."""
        return self._sender.client.sent_bytes

    async def deliver(self, order: Order) -> list[SegmentRecord]:
        """Send or offer what an order asks for; return the records once all are judged.

        Raises LinkError, StopSendingError, OSError.
        """
        waiting: list[SegmentRecord] = []
        for segment in list(self._records.select(order)):
            if segment.state == "sent" and segment.where:
                waiting.append(segment)
                continue
            waiting.append(await self._send(order, segment))
        return [await self._wait_for_verdict(order, segment) for segment in waiting]

    async def _send(self, order: Order, segment: SegmentRecord) -> SegmentRecord:
        begun_ms, before = self._clock.now_ms(), self.sent_bytes
        where, state, result = "", "sent", ""
        try:
            if order.way == "pull" and self._offers is not None:
                where = await self._offers.offer(order, segment)
            else:
                path = self._records.segment_folder / segment.name
                where = await self._sender.send(path, segment.sha256, order.id)
        except DamagedError as error:
            state, result = "damaged", str(error)
        except RefusedError as error:
            if error.status in {400, 409, 413}:  # this file, not this agent or this moment
                state, result = "refused", error.reason
            else:
                raise
        except FileNotFoundError:
            state = "damaged"
            result = str(Message("agent_errors.segment_missing", name=segment.name))
        sent = replace(
            segment,
            state=state,
            where=where,
            result=result,
            begun_ms=segment.begun_ms or begun_ms,
            ended_ms=self._clock.now_ms(),
            sent_bytes=segment.sent_bytes + self.sent_bytes - before,
        )
        self._journal.note(sent, order)
        return sent

    async def _wait_for_verdict(self, order: Order, segment: SegmentRecord) -> SegmentRecord:
        """Wait until the centre has judged a segment. Raises LinkError where it takes too long."""
        clock = self._clock
        pause_s, until_s = JUDGE_LEAST_S, clock.monotonic_s() + JUDGED_WITHIN_S
        renew_s = clock.monotonic_s() + RENEW_S
        sent_again = False
        while not segment.is_settled:
            if not self._may_send():
                raise StopSendingError
            status, lost = await self._status(order, segment)
            if lost:
                if sent_again:
                    raise LinkError("agent_errors.lost_again", name=segment.name, why=lost)
                segment = await self._send(order, replace(segment, state="new", where=""))
                sent_again = True
                continue
            if status is not None and status.state not in {"receiving", "received"}:
                segment = replace(
                    segment, state=status.state, result=status.result, ended_ms=clock.now_ms()
                )
                self._journal.note(segment, order)
                break
            if order.way == "pull" and self._offers is not None and clock.monotonic_s() > renew_s:
                await self._offers.offer(order, segment)
                renew_s = clock.monotonic_s() + RENEW_S
            if clock.monotonic_s() > until_s:
                raise LinkError("agent_errors.not_judged", name=segment.name)
            await clock.sleep(pause_s)
            pause_s = min(JUDGE_MOST_S, pause_s * 1.5)
        return segment

    async def _status(
        self, order: Order, segment: SegmentRecord
    ) -> tuple[UploadStatus | None, Message | None]:
        """Ask for a segment's status; return it, and the reason where it must be sent again."""
        try:
            status = await self._sender.client.status(segment.where)
        except RefusedError as error:
            if error.status not in {404, 410}:
                raise
            return None, error.message
        except LinkError:
            return None, None
        if status.state in FORGOTTEN:
            return status, Message("agent_errors.upload_ended", state=status.state)
        if status.state == "receiving" and order.way == "push":
            return status, Message("agent_errors.bytes_missing")  # a block was wrong after all
        return status, None
