"""Hands on what the manager must learn: log lines, found hosts, units that are done.

A unit whose host has no address has a line in the log too, with no bytes and the code of the
failure: a unit without a line would look as if it had not been tried.
Invariant: a request is in the crawl log before the commit that remembers its outcome. Lines
that find no room on the disk wait here, as pages do in `store`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from agent.modules.counts import StopCounts
from agent.modules.kind_counts import KindCounts
from agent.pipeline.addresses import pinned
from agent.pipeline.messages import (
    Denied,
    Due,
    HostFound,
    Outcome,
    RulesDue,
    UnitClosed,
    UnitFinished,
)
from agent.pipeline.ports import FetchAnswer, FetchRequest, Ledger, Reports
from agent.pipeline.spec import Output
from shared.archive.errors import DiskFullError
from shared.host_failures import LOOK_UP_FAILURES
from shared.messages import Message

__all__ = ["Report"]


class Report:
    """The module `report`."""

    def __init__(
        self,
        ledger: Ledger,
        reports: Reports,
        denied: StopCounts,
        kinds: KindCounts | None = None,
    ) -> None:
        """Take the doors to the log and to the link with the manager.

        denied: counts URLs that robots.txt forbids. kinds: counts what each kind of links brings.
        """
        self._kinds = KindCounts() if kinds is None else kinds
        self._ledger = ledger
        self._reports = reports
        self._denied = denied
        self._lines: list[FetchAnswer] = []
        self.paused: Message | None = None
        self._on: dict[str, Callable[[Sequence[Any]], None]] = {
            "outside": reports.outside,
            "ended": self._ended,
            "kept": reports.kept,
            "finished": self._finished,
            "closed": self._closed,
            "denied": self._count_denied,
            "found": self._found,
            "tick": self._try_again,
        }

    def wants_tick(self, _: object) -> bool:
        """Return whether anything waits for the time."""
        return bool(self._lines)

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take a batch at any of the inputs."""
        self._on[port](batch)
        return ()

    def _ended(self, batch: Sequence[FetchAnswer]) -> None:
        requests = [answer for answer in batch if answer.was_sent]
        self._reports.requested(requests)
        for answer in requests:
            due = answer.request.due
            if isinstance(due, Due):
                self._kinds.answered(due.link_kind, answer.status)
        self._lines += requests
        self._write()

    def _try_again(self, batch: Sequence[object]) -> None:
        if self._lines:
            self._write()

    def _write(self) -> None:
        try:
            self._ledger.append_log(self._lines)
        except DiskFullError as error:
            self.paused = Message("agent.disk_full", why=error.message)
            return
        self._lines = []
        self.paused = None

    def _finished(self, batch: Sequence[UnitFinished]) -> None:
        for unit in batch:
            self._reports.finished(unit)
        unplaced = [_unsent(unit) for unit in batch if _has_no_address(unit)]
        if unplaced:
            self._lines += unplaced
            self._write()

    def _closed(self, batch: Sequence[UnitClosed]) -> None:
        for unit in batch:
            self._reports.closed(unit)

    def _count_denied(self, batch: Sequence[Denied]) -> None:
        for one in batch:
            if one.rule:
                self._denied.add("robots.txt", one.due.url)

    def _found(self, batch: Sequence[HostFound]) -> None:
        for one in batch:
            if not all(map(pinned, one.addresses)):
                continue  # a proxy looks names up: their addresses are not known here
            self._reports.addresses(one.host, one.addresses)


def _has_no_address(unit: UnitFinished) -> bool:
    """Return whether a unit sent no request because its host has no address."""
    return unit.failure in LOOK_UP_FAILURES and not unit.pages


def _unsent(unit: UnitFinished) -> FetchAnswer:
    """Return the log line of a unit without an address: of its top page, with no bytes sent."""
    assert unit.failure is not None
    due = RulesDue(unit.host, "", unit.unit, 0, unit.round, unit.kind)
    return FetchAnswer(
        request=FetchRequest(unit.unit, "", 0, due=due),
        outcome=cast(Outcome, unit.failure.value),
        capture=None,
        status=0,
        request_bytes=0,
        response_bytes=0,
        elapsed_ms=0.0,
        started_epoch_ms=0,
        ended_s=0.0,
        kept_alive=False,
    )
