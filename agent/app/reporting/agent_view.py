"""View of the agent for others: its state in a sync, and the status for `prs status`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from agent.app.manager_link.completion import reportable_units
from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.fetch_conditions import ResourceGuards
from agent.app.session.session import CrawlSession
from agent.app.startup.settings_reload import SettingsSource
from agent.collection.announcement import read_serving
from agent.collection.withdrawn_hosts import read_withdrawn
from agent.control.few_hosts import few_hosts
from agent.control.status import BackOff, KindRow, Rates, Status, Stopped, WaitRow
from agent.link.actions import View
from agent.link.keys import Identity
from agent.link.poller import Poller
from agent.link.report_delivery import Sender
from agent.modules.assemble import CrawlState
from agent.modules.counts import KindCounts, StopCounts
from agent.modules.frontier import Wait, WaitReason
from agent.settings.user_agent import version
from shared.messages import Message
from shared.wire.sync import (
    Counters,
    HeldPermit,
    HostRest,
    KindOfLinks,
    RenamedSetting,
    StoppedUrls,
)
from shared.wire.sync_bounds import MAX_ITEMS, MAX_REASONS, AgentState

__all__ = ["AgentView", "kinds_of_links", "stopped_urls"]

EXAMPLES: Final = 3
WAITS: Final = 100
"""Hosts that wait, for the status."""


@dataclass(eq=False, repr=False)
class AgentView:
    """Reads the components of an agent, as a status is made of all of them; changes none.

    wake_early_s: so much before its hours begin the agent calls the manager.
    """

    runtime: Runtime
    identity: Identity
    session: CrawlSession
    permission: Permission
    guards: ResourceGuards
    reports: Reports
    sender: Sender
    poller: Poller
    actions: ManagerActions
    settings: ManagerSettings
    source: SettingsSource
    wake_early_s: float

    def __post_init__(self) -> None:
        self._rates = Rates()
        self._started_ms = self.runtime.clock.epoch_ms()

    def view(self) -> View:
        """Return what the next sync says."""
        session, clock = self.session, self.runtime.clock
        state, reason = self._state()
        unreported = self.reports.unreported
        promise_ms, rest_s = self.permission.rest_outside_hours(self.wake_early_s, unreported)
        counted, crawl = session.reports.counters(), session.crawl.state()
        held = self.permission.gate.held
        permit = None
        if held is not None:
            remaining_ms = round(self.permission.gate.remaining_s() * 1000)
            permit = HeldPermit(epoch=held.epoch, remaining_ms=remaining_ms)
        return View(
            state=state,
            clock_ms=clock.epoch_ms(),
            reason=reason,
            promise_ms=promise_ms,
            rest_s=rest_s,
            permit=permit,
            finished=reportable_units(session, self.reports.outbox, MAX_ITEMS),
            addresses=tuple(session.reports.pending_addresses(MAX_ITEMS)),
            rests=_rests(crawl, clock.monotonic_s()),
            counters=Counters(
                requests=counted.requests,
                pages=counted.pages,
                response_bytes=counted.response_bytes,
                errors=counted.errors,
                denied=session.crawl.denied.count("robots.txt"),
                discovered_hosts=counted.discovered,
                queue=crawl.queued,
                active_hosts=crawl.in_flight,
                unanswered_hosts=crawl.unanswered,
                stopped=stopped_urls(session.crawl.stopped, session.crawl.given_up),
                kinds=kinds_of_links(session.crawl.kinds),
            ),
            renamed=tuple(RenamedSetting(old=one.old, new=one.new) for one in self.source.renamed),
            disk_free_bytes=self.guards.disk.free_bytes,
            reports_waiting=unreported,
            serving=read_serving(self.runtime.home.collection),
            withdrawn_held=read_withdrawn(self.runtime.home.collection).number,
            shared_held=session.shared_held,
        )

    def status(self, *, stuck: Message | None) -> Status:
        """Return the whole for `prs status`. stuck: the component that makes no progress."""
        session, permission, clock = self.session, self.permission, self.runtime.clock
        counted, crawl, scope = session.reports.counters(), session.crawl.state(), session.scope
        now_s = clock.monotonic_s()
        pages_per_s, bytes_per_s = self._rates.note(now_s, counted.pages, counted.response_bytes)
        waiting = self.reports.outbox.waiting()
        refused = self.reports.outbox.refused()
        held = self.permission.gate.held
        modules = session.crawl
        failures = session.reports.failures()
        failed = sum(failures.values())
        change_ms = None if permission.window_open else permission.window_change_ms
        opens_s = _opens_s(change_ms, clock.epoch_ms(), now_s)
        return Status(
            name=self.identity.name,
            manager=self.identity.manager,
            version=version(),
            pid=os.getpid(),
            started_ms=self._started_ms,
            written_ms=clock.epoch_ms(),
            state=self._state()[0],
            reason=permission.reason,
            message=self.actions.message,
            trouble=self.poller.trouble,
            reports_trouble=self.sender.trouble,
            round=self.poller.in_force.round,
            generation=self.poller.in_force.generation,
            epoch=None if held is None else held.epoch,
            permit_remaining_s=self.permission.gate.remaining_s(),
            next_contact_s=max(0.0, self.poller.next_s - clock.boottime_s()),
            window_open=permission.window_open,
            window_change_ms=permission.window_change_ms,
            units=len(scope.jobs),
            units_finished=len(scope.finished) + len(scope.resting) - failed,
            units_failed=failed,
            failures=failures,
            names_unanswered=crawl.unanswered,
            pages=counted.pages,
            requests=counted.requests,
            errors=counted.errors,
            response_bytes=counted.response_bytes,
            pages_per_s=pages_per_s,
            bytes_per_s=bytes_per_s,
            queue=crawl.queued,
            hosts=crawl.addresses,
            active_hosts=crawl.in_flight,
            in_flight=crawl.in_flight,
            held_bytes=session.adapters.held.sum,
            backing_off=crawl.backing_off,
            backed_off=tuple(
                BackOff(one.address, one.host, one.reason, one.strikes, one.until_s - now_s)
                for one in crawl.backed_off
            ),
            waits=tuple(_wait_row(one, now_s, opens_s) for one in modules.waits(WAITS)),
            denied=modules.denied.count("robots.txt"),
            discovered=counted.discovered,
            reports_waiting=len(waiting),
            reports_bytes=sum(report.size_bytes for report in waiting),
            reports_refused=tuple(
                Message("agent.report_waits", name=one.name, why=one.reason) for one in refused
            ),
            disk_free_bytes=self.guards.disk.free_bytes,
            month_bytes=self.guards.month.bytes,
            worst_pause_ms=session.loop.pauses.worst_s * 1000,
            worst_commit_ms=session.loop.pauses.worst_commit_s * 1000,
            page_workers=session.page_workers[0],
            page_workers_replaced=session.page_workers[1],
            tightened=self.settings.tightened,
            not_fetched=_stopped(modules.denied, modules.stopped, modules.given_up),
            remarks=_stopped(modules.remarks, modules.skipped),
            links={
                name: KindRow(one.links, one.pages, one.missing)
                for name, one in session.crawl.kinds.by_name.items()
            },
            renamed=tuple(one.message for one in self.source.renamed),
            wrong=self._problems(stuck, failures),
            stuck=stuck,
        )

    def _problems(self, stuck: Message | None, failures: dict[str, int]) -> tuple[Message, ...]:
        """Return what a person should mend, if it lasts."""
        scope, crawl, permission = self.session.scope, self.session.crawl.state(), self.permission
        found = [permission.disk, permission.outbox, permission.crawl, stuck]
        done = len(scope.finished) + len(scope.resting)
        found.append(few_hosts(failures, done, crawl.unanswered))
        if self.poller.trouble:
            found.append(Message("agent.manager_trouble", problem=self.poller.trouble))
        if self.sender.trouble:
            found.append(Message("agent.reports_trouble", problem=self.sender.trouble))
        found += [
            Message("agent.report_refused", name=one.name, why=one.reason)
            for one in self.reports.outbox.refused()
        ]
        return tuple(one for one in found if one is not None)

    def _state(self) -> tuple[AgentState, Message | None]:
        permission = self.permission
        reason = permission.reason
        if self.runtime.stopping.is_requested:
            return "stopping", self.runtime.stopping.reason
        if permission.holds.drained:
            return "draining", reason
        if permission.holds.paused:
            return "paused", reason
        if not permission.window_open:
            return "asleep", reason
        if permission.short_of or permission.crawl:
            return "paused", reason
        if self.session.is_worked_off:
            return "idle", reason or Message("agent.nothing_to_do")
        return ("working", None) if permission.gate.may_fetch() else ("starting", reason)


def _opens_s(opens_ms: int | None, now_ms: int, now_s: float) -> float:
    """Return when the hours of the site begin, monotonic; 0: no part waits for them."""
    return 0.0 if opens_ms is None else now_s + (opens_ms - now_ms) / 1000


def _wait_row(one: Wait, now_s: float, opens_s: float) -> WaitRow:
    """Return a row of a host that waits; opens_s: no host is asked before that."""
    if opens_s > one.due_s:
        return WaitRow(one.host, one.address, WaitReason.CLOSED, "", opens_s - now_s)
    return WaitRow(one.host, one.address, one.reason, one.detail, one.due_s - now_s)


def _rests(crawl: CrawlState, now_s: float) -> tuple[HostRest, ...]:
    return tuple(
        HostRest(
            host=one.host,
            rest_ms=round(one.rest_s * 1000),
            remaining_ms=round((one.until_s - now_s) * 1000),
            reason=one.reason,
        )
        for one in crawl.told_to_wait
        if one.until_s > now_s
    )


def kinds_of_links(counts: KindCounts) -> tuple[KindOfLinks, ...]:
    """Return what each kind of links brought since the process started."""
    return tuple(
        KindOfLinks(kind=name, links=one.links, pages=one.pages, missing=one.missing)
        for name, one in counts.by_name.items()
    )


def _stopped(*counts: StopCounts) -> dict[str, Stopped]:
    return {
        reason: Stopped(stopped.count, tuple(stopped.examples[:EXAMPLES]))
        for one in counts
        for reason, stopped in one.by_reason.items()
    }


def stopped_urls(*counts: StopCounts) -> tuple[StoppedUrls, ...]:
    """Return why URLs were found and not fetched, the most frequent reason first."""
    told = [
        StoppedUrls(reason=reason, count=stopped.count, example=stopped.examples[0])
        for one in counts
        for reason, stopped in one.by_reason.items()
    ]
    return tuple(sorted(told, key=lambda one: -one.count)[:MAX_REASONS])
