"""Carries orders out: which one is due, its tries, and the report of each to the manager.

An order is done when the centre has judged every segment that it asks for. A try that failed is
made again after an hour; when that fails too, the order has failed, and the next one brings what is
missing. Whatever is killed, the next process continues: all that is known is on the disk.
Source: seed 004, section 5.4.1, points 3 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent.collection.orders import (
    Order,
    OrderProgress,
    after_failed_try,
    due_orders,
    read_orders,
    read_progress,
    remove_site_order,
    with_result,
    write_progress,
)
from agent.collection.segment_delivery import SegmentDelivery
from agent.collection.segment_records import SegmentRecord
from agent.control.robot_log import LineLogger
from agent.errors import LinkError, RefusedError
from agent.link.client import ManagerClient
from agent.link.exchange import REASON_LIMIT_BYTES, read_body
from shared.archive.errors import DiskFullError
from shared.errors import PrsmError
from shared.messages import Message
from shared.wire.sync import OrderReport, said

__all__ = ["Carrier"]


class Carrier:
    """Carries out what is due in one home."""

    def __init__(
        self,
        folder: Path,
        delivery: SegmentDelivery,
        manager: ManagerClient,
        *,
        retry_s: float,
        now_ms: Callable[[], int],
        log_line: LineLogger,
    ) -> None:
        """folder: of orders and their progress. retry_s: from a failed try to the next one."""
        self._folder = folder
        self._delivery = delivery
        self._manager = manager
        self._retry_s = retry_s
        self._now_ms = now_ms
        self._log_line = log_line

    async def carry_out(self) -> None:
        """Do what is due now. Raises StopSendingError, DiskFullError."""
        tried: set[str] = set()
        while True:
            progress = read_progress(self._folder)
            orders = due_orders(read_orders(self._folder), progress, self._now_ms())
            waiting = [order for order in orders if order.id not in tried]
            if not waiting:
                return
            order = waiting[0]
            tried.add(order.id)
            one = progress.get(order.id, OrderProgress())
            if not one.is_over:
                one = await self._try(order, one)
            await self._report(order, one)

    async def _try(self, order: Order, progress: OrderProgress) -> OrderProgress:
        before = self._delivery.sent_bytes
        settled: list[SegmentRecord] = []
        try:
            settled = await self._delivery.deliver(order)
            ended = with_result(progress, _counts_by_state(settled))
            ended = replace(ended, state="done", tries=progress.tries + 1)
        except (LinkError, OSError, DiskFullError) as error:
            why = error.message if isinstance(error, PrsmError) else Message.of_text(str(error))
            ended = after_failed_try(progress, why, self._now_ms(), self._retry_s)
            self._log_line(f"collection {order.id}: {error}")
        ended = replace(
            ended,
            segments=len(settled),
            sent_bytes=progress.sent_bytes + self._delivery.sent_bytes - before,
        )
        self._write_progress(order, ended)
        return ended

    def _write_progress(self, order: Order, progress: OrderProgress) -> None:
        open_ids = {one.id for one in read_orders(self._folder)}
        others = {key: one for key, one in read_progress(self._folder).items() if key in open_ids}
        write_progress(self._folder, {**others, order.id: progress})

    async def _report(self, order: Order, progress: OrderProgress) -> None:
        """Report the progress of an order; one of the site is removed when it is over."""
        if order.is_ours:
            if progress.is_over:
                remove_site_order(self._folder, order.id)
            return
        failed = progress.is_over and progress.state != "done"
        report = OrderReport(
            state="failed" if failed else "done" if progress.is_over else "open",
            tries=progress.tries,
            next_try_ms=progress.next_try_ms or None,
            segments=progress.segments,
            sent_bytes=progress.sent_bytes,
            result=progress.result,
            result_message=progress.message,
        )
        path = f"/api/v1/collection/orders/{order.id}"
        try:
            body = said(report)
            async with self._manager.request("POST", path, json=body) as answer:
                await read_body(answer, REASON_LIMIT_BYTES, cut=True)
        except RefusedError as error:
            if error.status not in {404, 409}:  # else: it is over there, too
                self._log_line(f"collection {order.id}: not reported to the manager: {error}")
                return
        except LinkError as error:
            self._log_line(f"collection {order.id}: not reported to the manager: {error}")
            if progress.is_over:
                later_ms = self._now_ms() + 60_000
                self._write_progress(order, replace(progress, next_try_ms=later_ms))
            return
        self._write_progress(order, replace(progress, told=True))


def _counts_by_state(settled: list[SegmentRecord]) -> Message:
    if not settled:
        return Message("agent.nothing_to_send")
    counts = Counter(segment.state for segment in settled)
    states = [
        Message("agent.segments_of_state", count=count, state=state)
        for state, count in sorted(counts.items())
    ]
    return Message("agent.segments_judged", states=states)
