"""Hands on what the manager must learn: log lines, found hosts, units that are done.

A unit whose host has no address has a line in the log too, with no bytes and the code of the
failure: a unit without a line would look as if it had not been tried.
Invariant: a request is in the crawl log before the commit that remembers its outcome. Lines
that find no room on the disk wait here, as pages do in `store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agent.modules.counts import KindCounts, StopCounts
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.hosts import HostFound, pinned
from agent.pipeline.messages.jobs import UnitClosed, UnitFinished
from agent.pipeline.messages.pages import RULES_DEPTH, Outside, Processed
from agent.pipeline.messages.requests import Denied, Due, FetchAnswer, FetchRequest, Outcome, Tick
from agent.pipeline.messages.robots import RulesDue
from agent.pipeline.ports import Reports
from shared.archive.errors import DiskFullError
from shared.host_failures import HostFailure
from shared.messages import Message

__all__ = ["Report"]

OUTCOMES: Final[dict[HostFailure, Outcome]] = {
    HostFailure.NO_SUCH_NAME: "no_such_name",
    HostFailure.NO_ADDRESS: "no_address",
    HostFailure.NOT_A_NAME: "not_a_name",
    HostFailure.NAME_TIMEOUT: "name_timeout",
    HostFailure.NAME_REFUSED: "name_refused",
    HostFailure.NAME_SERVER_FAILED: "name_server_failed",
    HostFailure.NAME_SERVER_AWAY: "name_server_away",
    HostFailure.NAME_UNANSWERED: "name_unanswered",
    HostFailure.FORBIDDEN_ADDRESS: "forbidden_address",
}
"""The failures that leave a host without an address, as the log has them."""


class Report:
    """The module `report`."""

    def __init__(
        self,
        ledger: Ledger,
        reports: Reports,
        denied: StopCounts,
        kinds: KindCounts | None = None,
    ) -> None:
        """Take the ports of the log and of the link with the manager.

        denied: counts URLs that robots.txt forbids. kinds: counts what each kind of links brings.
        """
        self._kinds = KindCounts() if kinds is None else kinds
        self._ledger = ledger
        self._reports = reports
        self._denied = denied
        self._lines: list[FetchAnswer] = []
        self.paused: Message | None = None

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "outside": Input(Outside, self.handle_outside),
            "ended": Input(FetchAnswer, self.handle_ended),
            "kept": Input(Processed, self.handle_kept),
            "finished": Input(UnitFinished, self.handle_finished),
            "closed": Input(UnitClosed, self.handle_closed),
            "denied": Input(Denied, self.handle_denied),
            "found": Input(HostFound, self.handle_found),
            "tick": Input(Tick, self.handle_tick),
        }

    def wants_tick(self, _: Tick) -> bool:
        """Return whether anything waits for the time."""
        return bool(self._lines)

    def handle_outside(self, batch: Sequence[Outside]) -> Iterable[Output]:
        """Report URLs that others own."""
        self._reports.outside(batch)
        return ()

    def handle_kept(self, batch: Sequence[Processed]) -> Iterable[Output]:
        """Count pages that lie in a segment."""
        self._reports.kept(batch)
        return ()

    def handle_ended(self, batch: Sequence[FetchAnswer]) -> Iterable[Output]:
        """Log and count the requests that were sent."""
        requests = [answer for answer in batch if answer.was_sent]
        self._reports.requested(requests)
        for answer in requests:
            due = answer.request.due
            if isinstance(due, Due):
                self._kinds.answered(due.link_kind, answer.status)
        self._lines += requests
        self._write()
        return ()

    def handle_tick(self, _: Sequence[Tick]) -> Iterable[Output]:
        """Write the lines that found no room on the disk."""
        if self._lines:
            self._write()
        return ()

    def _write(self) -> None:
        try:
            self._ledger.append_log(self._lines)
        except DiskFullError as error:
            self.paused = Message("agent.disk_full", why=error.message)
            return
        self._lines = []
        self.paused = None

    def handle_finished(self, batch: Sequence[UnitFinished]) -> Iterable[Output]:
        """Report units that are done, and log those whose hosts have no address."""
        for unit in batch:
            self._reports.finished(unit)
        unplaced = [_unsent(unit) for unit in batch if _has_no_address(unit)]
        if unplaced:
            self._lines += unplaced
            self._write()
        return ()

    def handle_closed(self, batch: Sequence[UnitClosed]) -> Iterable[Output]:
        """Report units that left the list and are quiet."""
        for unit in batch:
            self._reports.closed(unit)
        return ()

    def handle_denied(self, batch: Sequence[Denied]) -> Iterable[Output]:
        """Count URLs that robots.txt forbids."""
        for one in batch:
            if one.rule and one.due.depth != RULES_DEPTH:
                self._denied.add("robots.txt", one.due.url)
        return ()

    def handle_found(self, batch: Sequence[HostFound]) -> Iterable[Output]:
        """Report the addresses of hosts."""
        for one in batch:
            if not all(map(pinned, one.addresses)):
                continue  # a proxy looks names up: their addresses are not known here
            self._reports.addresses(one.host, one.addresses)
        return ()


def _has_no_address(unit: UnitFinished) -> bool:
    """Return whether a unit sent no request because its host has no address."""
    return unit.failure in OUTCOMES and not unit.pages


def _unsent(unit: UnitFinished) -> FetchAnswer:
    """Return the log line of a unit without an address: of its top page, with no bytes sent."""
    assert unit.failure is not None
    due = RulesDue(unit.host, "", unit.unit, 0, unit.round, unit.kind)
    return FetchAnswer(FetchRequest(unit.unit, "", 0, due=due), OUTCOMES[unit.failure])
