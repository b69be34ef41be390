"""Looks at everything again and again: reasons to pause, jobs that are quiet, reports that are due.

What it sees it writes where it is needed: reasons into `Permission`, quiet jobs into the poller,
the whole into `status.json`. Nothing here asks the manager.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from agent.app.manager_link.completion import tellable
from agent.app.manager_link.conversation import Conversation
from agent.app.reporting.agent_view import AgentView
from agent.app.reporting.report_schedule import Moment
from agent.app.session.single_run import SingleRun
from agent.app.startup.agent_parts import Parts
from agent.app.startup.settings_reload import SettingsReload
from agent.control.drain import read_holds
from agent.control.status import Status, write_status
from shared.archive.errors import DiskFullError
from shared.messages import Message
from shared.wire.sync_bounds import MAX_ITEMS

__all__ = ["Watch"]

LOOK_S: Final = 0.25
SECOND_S: Final = 1.0


class Watch:
    """The loop that looks."""

    def __init__(
        self,
        parts: Parts,
        viewing: AgentView,
        retuning: SettingsReload,
        single_run: SingleRun | None,
        *,
        show: Callable[[Status], None],
        send: Callable[[], None],
    ) -> None:
        """single_run: ends the run, where it is one. send: wakes whoever sends reports."""
        self._parts = parts
        self._viewing = viewing
        self._retuning = retuning
        self._single_run = single_run
        self._show = show
        self._send = send
        self._second_s = 0.0
        self._probes_reported = 0
        self._news_told = False
        self._reason: Message | None = None

    async def run(self, talk: Conversation) -> None:
        """Look until the agent stops."""
        while not self._parts.stopping.asked:
            await self.look(talk)
            await self._parts.stopping.pause(LOOK_S)

    async def look(self, talk: Conversation) -> None:
        """Look once; at the end at everything, or the last second would be forgotten."""
        parts = self._parts
        # While a list is taken the poller does not know yet which jobs end with it.
        for job in () if parts.session.taking else parts.session.reports.closed_jobs():
            talk.poller.unit_closed(job, parts.clock.boottime_s())
        now_s = parts.clock.monotonic_s()
        if now_s - self._second_s < SECOND_S and not parts.stopping.asked:
            return
        self._second_s = now_s
        self._retuning.look(talk)
        permission = parts.permission
        permission.disk = parts.disk.look()
        permission.load = parts.load.look(counts=permission.window_open, last=parts.stopping.asked)
        permission.month = parts.month.look(
            parts.clock.epoch_ms(),
            parts.session.reports.counters().response_bytes,
            last=parts.stopping.asked,
        )
        permission.outbox = parts.outbox.full
        permission.crawl = parts.session.paused
        permission.holds = read_holds(parts.home.hold)
        self._say_why()
        await self._report()
        self._hurry(talk)
        status = self._viewing.status(talk)
        with contextlib.suppress(OSError):  # it is only for people, and of this second
            write_status(parts.home.status, status)
        self._show(status)
        if self._single_run is not None:
            self._single_run.look(talk)

    def _say_why(self) -> None:
        reason = self._parts.permission.reason
        if reason != self._reason:
            self._reason = reason
            self._parts.say(f"not fetching: {reason}" if reason else "fetching")

    async def _report(self) -> None:
        parts = self._parts
        session = parts.session
        probes = session.crawl.probes_finished
        moment = Moment(
            epoch_ms=parts.clock.epoch_ms(),
            now_s=parts.clock.monotonic_s(),
            window_open=parts.permission.window_open,
            worked_off=parts.worked_off,
            shares_hosts=session.shares_hosts,
            piece_rests=bool(session.scope.resting),
            pages_on_way=session.shares_hosts
            and any(report.kind == "hosts" for report in parts.outbox.waiting()),
            probes_waiting=probes > self._probes_reported,
            log_bytes=parts.reporting.open_log_bytes,
        )
        reason = parts.schedule.log_due(moment)
        if parts.permission.holds.drained and session.quiet and moment.log_bytes:
            reason = "drained"
        try:
            if reason:
                await parts.reporting.close_log(reason)
                parts.schedule.log_closed(moment)
                self._probes_reported = probes
                self._send()
            if parts.schedule.hosts_due(moment):
                if await parts.reporting.hand_over_hosts():
                    self._send()
                parts.schedule.hosts_sent(moment)
        except DiskFullError as error:
            parts.permission.disk = Message("agent.disk_full", why=error.message)

    def _hurry(self, talk: Conversation) -> None:
        """Call the manager soon where it waits for something, once for each piece of news."""
        parts = self._parts
        holds = parts.permission.holds
        session = parts.session
        untold = len(tellable(session, parts.outbox, MAX_ITEMS))
        piece_told = untold > 0 and bool(session.scope.resting)
        over = parts.worked_off or not parts.permission.window_open
        talk.may_hand_back = session.quiet and not parts.unreported
        news = (
            untold >= MAX_ITEMS // 10
            or (untold > 0 and over)
            or piece_told  # the others' pieces wait for it
            or (holds.drained and not holds.handed_back and talk.may_hand_back)
            or (holds.handed_back and not holds.drained)
        )
        if news and not self._news_told:
            talk.poller.hurry(parts.clock.boottime_s())
        self._news_told = news
