"""Carries orders out: which segments, in which order, the centre's verdicts, and reports of them.

An order is done when the centre has judged every segment that it asks for. A try that failed is
made again after an hour; when that fails too, the order has failed, and the next one brings what is
missing. Whatever is killed, the next process continues: all that is known is on the disk.
Source: seed 004, section 5.4.1, points 3 and 5.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent.collection.holdings import Held, Holdings
from agent.collection.offers import RENEW_S
from agent.collection.orders import (
    Order,
    Progress,
    due,
    failed,
    forget_now,
    keep_progress,
    read_orders,
    read_progress,
)
from agent.collection.segment_upload import DamagedError, SegmentSender, StopSendingError
from agent.link.client import ManagerClient
from agent.link.errors import LinkError, RefusedError
from agent.link.exchange import REASON_LIMIT_BYTES, read_body
from shared.archive.errors import DiskFullError
from shared.messages import Message
from shared.week_log import TransferLine, WeekLog
from shared.wire.sync import OrderReport
from shared.wire.uploads import UploadStatus

__all__ = ["Carrier"]

JUDGE_LEAST_S: Final = 0.5
JUDGE_MOST_S: Final = 30.0
JUDGED_WITHIN_S: Final = 6 * 3600.0
"""The centre reads a gigabyte in minutes; the next order asks about segments that wait longer."""
RESULT_CHARS: Final = 900
FORGOTTEN: Final = frozenset({"cancelled", "expired"})  # it is new again


class Carrier:
    """Carries out what is due in one home."""

    def __init__(
        self,
        folder: Path,
        holdings: Holdings,
        sender: SegmentSender,
        manager: ManagerClient,
        log: WeekLog,
        *,
        agent: str,
        retry_s: float,
        may_send: Callable[[], bool],
        say: Callable[[str], None],
        now_ms: Callable[[], int],
        offer: Callable[[Order, Held], Awaitable[str]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """offer: lets the manager fetch a segment, and returns its upload's path."""
        self._folder = folder
        self._holdings = holdings
        self._sender = sender
        self._manager = manager
        self._log = log
        self._agent = agent
        self._retry_s = retry_s
        self._may_send = may_send
        self._say = say
        self._now_ms = now_ms
        self._offer = offer
        self._sleep = sleep
        self._clock = clock

    async def carry_out(self) -> None:
        """Do what is due now. Raises StopSendingError, DiskFullError."""
        tried: set[str] = set()
        while True:
            progress = read_progress(self._folder)
            orders = due(read_orders(self._folder), progress, self._now_ms())
            waiting = [order for order in orders if order.id not in tried]
            if not waiting:
                return
            order = waiting[0]
            tried.add(order.id)
            one = progress.get(order.id, Progress())
            if not one.over:
                one = await self._try(order, one)
            await self._tell(order, one)

    async def _try(self, order: Order, progress: Progress) -> Progress:
        before = self._sender.client.sent_bytes
        settled: list[Held] = []
        try:
            settled = await self._send_all(order)
            words = _words(settled)
            ended = replace(progress, state="done", tries=progress.tries + 1, result=words,
                            told=False)  # fmt: skip
        except (LinkError, OSError, DiskFullError) as error:
            ended = failed(progress, str(error)[:RESULT_CHARS], self._now_ms(), self._retry_s)
            self._say(f"collection {order.id}: {error}")
        ended = replace(
            ended,
            segments=len(settled),
            sent_bytes=progress.sent_bytes + self._sender.client.sent_bytes - before,
        )
        self._keep(order, ended)
        return ended

    async def _send_all(self, order: Order) -> list[Held]:
        """Send or offer what the order asks for and wait for the centre's word on all of it."""
        waiting: list[Held] = []
        for held in list(self._holdings.select(order)):
            if held.state == "sent" and held.where:
                waiting.append(held)
                continue
            waiting.append(await self._send(order, held))
        return [await self._judged(order, held) for held in waiting]

    async def _send(self, order: Order, held: Held) -> Held:
        client, begun_ms = self._sender.client, self._now_ms()
        before, where, state, result = client.sent_bytes, "", "sent", ""
        try:
            if order.way == "pull" and self._offer is not None:
                where = await self._offer(order, held)
            else:
                path = self._holdings.segments / held.name
                where = await self._sender.send(path, held.sha256, order.id)
        except DamagedError as error:
            state, result = "damaged", str(error)
        except RefusedError as error:
            if error.status in {400, 409, 413}:  # this file, not this agent or this moment
                state, result = "refused", error.reason
            else:
                raise
        except FileNotFoundError:
            state = "damaged"
            result = str(Message("agent_errors.segment_missing", name=held.name))
        known = replace(
            held,
            state=state,
            where=where,
            result=result,
            begun_ms=held.begun_ms or begun_ms,
            ended_ms=self._now_ms(),
            sent_bytes=held.sent_bytes + client.sent_bytes - before,
        )
        self._note(known, order)
        return known

    async def _judged(self, order: Order, held: Held) -> Held:
        """Wait until the centre has judged a segment. Raises LinkError where it takes too long."""
        pause_s, until_s = JUDGE_LEAST_S, self._clock() + JUDGED_WITHIN_S
        renew_s = self._clock() + RENEW_S
        sent_again = False
        while not held.is_settled:
            if not self._may_send():
                raise StopSendingError
            status, lost = await self._asked(order, held)
            if lost:
                if sent_again:
                    raise LinkError("agent_errors.lost_again", name=held.name, why=lost)
                held = await self._send(order, replace(held, state="new", where=""))
                sent_again = True
                continue
            if status is not None and status.state not in {"receiving", "received"}:
                held = replace(
                    held, state=status.state, result=status.result, ended_ms=self._now_ms()
                )
                self._note(held, order)
                break
            if order.way == "pull" and self._offer is not None and self._clock() > renew_s:
                await self._offer(order, held)
                renew_s = self._clock() + RENEW_S
            if self._clock() > until_s:
                raise LinkError("agent_errors.not_judged", name=held.name)
            await self._sleep(pause_s)
            pause_s = min(JUDGE_MOST_S, pause_s * 1.5)
        return held

    async def _asked(self, order: Order, held: Held) -> tuple[UploadStatus | None, Message | None]:
        """Ask for a segment's status; return it, and the reason where it must be sent again."""
        try:
            status = await self._sender.client.status(held.where)
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

    def _note(self, held: Held, order: Order) -> None:
        """Write down what is known of a segment, and in the log when it is settled."""
        # On a full disk nothing is known of it next time, which costs a question.
        with suppress(DiskFullError):
            self._holdings.keep(held)
        if not held.is_settled:
            return
        said = f"{held.state}: {held.result}" if held.result else held.state
        self._say(f"{held.name}: {said}")
        with suppress(OSError):
            path = self._holdings.segments / held.name
            size_bytes = path.stat().st_size if path.exists() else 0
            self._log.add(
                TransferLine(
                    held.begun_ms,
                    held.ended_ms,
                    self._agent,
                    held.name,
                    size_bytes,
                    held.sent_bytes,
                    order.way,
                    said,
                )
            )

    def _keep(self, order: Order, progress: Progress) -> None:
        known = {one.id for one in read_orders(self._folder)}
        kept = {key: one for key, one in read_progress(self._folder).items() if key in known}
        keep_progress(self._folder, {**kept, order.id: progress})

    async def _tell(self, order: Order, progress: Progress) -> None:
        """Report the progress of an order; one of the site is forgotten when it is over."""
        if order.is_ours:
            if progress.over:
                forget_now(self._folder, order.id)
            return
        report = OrderReport(
            state="open" if not progress.over else "done" if progress.state == "done" else "failed",
            tries=progress.tries,
            next_try_ms=progress.next_try_ms or None,
            segments=progress.segments,
            sent_bytes=progress.sent_bytes,
            result=progress.result[:RESULT_CHARS],
        )
        path = f"/api/v1/collection/orders/{order.id}"
        try:
            body = report.model_dump(mode="json", exclude_none=True)
            async with self._manager.request("POST", path, json=body) as answer:
                await read_body(answer, REASON_LIMIT_BYTES, cut=True)
        except RefusedError as error:
            if error.status not in {404, 409}:  # else: it is over there, too
                self._say(f"collection {order.id}: not reported to the manager: {error}")
                return
        except LinkError as error:
            self._say(f"collection {order.id}: not reported to the manager: {error}")
            if progress.over:
                later_ms = self._now_ms() + 60_000
                self._keep(order, replace(progress, next_try_ms=later_ms))
            return
        self._keep(order, replace(progress, told=True))


def _words(settled: list[Held]) -> str:
    if not settled:
        return "nothing to send"
    counts: dict[str, int] = {}
    for held in settled:
        counts[held.state] = counts.get(held.state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
