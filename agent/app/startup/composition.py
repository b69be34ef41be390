"""Composition of an agent: every component of one run is made here, from what it uses.

Read it from top to bottom: a component takes only those above it.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable

from agent.adapters.clock import SystemClock
from agent.adapters.pages.fork_server import ForkServer
from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.conversation import Conversation
from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.kept_scope import kept_scope
from agent.app.manager_link.list_updates import ListUpdates
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.manager_commands import ManagerCommands
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.manager_link.membership import Membership
from agent.app.manager_link.permit_use import PermitUse
from agent.app.manager_link.sync_exchange import SyncExchange
from agent.app.reporting.agent_view import AgentView
from agent.app.reporting.report_schedule import ReportSchedule
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.fetch_conditions import FetchConditions, ResourceGuards
from agent.app.session.session import CrawlSession
from agent.app.session.single_run import SingleRun
from agent.app.session.supervision import PeriodicCheck, StatusFile, Supervisor
from agent.app.session.watchdog import Watchdog
from agent.app.site.site import capacity_of, windows_of
from agent.app.startup.running_agent import RunningAgent, RunResult
from agent.app.startup.settings_mapping import permit_margin_s
from agent.app.startup.settings_reload import SettingsReload, SettingsSource
from agent.collection.allowance import read_limits
from agent.collection.orders import read_orders
from agent.control.drain import read_holds
from agent.control.robot_log import LineLogger
from agent.control.status import Status
from agent.control.stop import StopRequest
from agent.link.call_schedule import Backoff, CallSchedule
from agent.link.client import ManagerClient, client_of
from agent.link.keys import Identity
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.manager_time import ManagerTime
from agent.link.outbox import Outbox
from agent.link.poller import Caller, Poller, ResumedLink
from agent.link.report_delivery import Sender
from agent.pipeline.permit import PermitGate
from agent.settings import Home, Settings
from agent.settings.user_agent import version
from shared.crawl_scope.evaluation import ScopeRules
from shared.frozen import frozen
from shared.settings import Renamed
from shared.wire import sync

__all__ = ["RunOptions", "run_until_stopped"]


@frozen
class RunOptions:
    """Options of one run, by the command line.

    once: end when all is done. show_status: takes the status each second. reread: reads the
    settings again, None: they never change. renamed: finds settings that are given by old names.
    fork_server: forks page workers.
    """

    once: bool
    show_status: Callable[[Status], None]
    reread: Callable[[], Settings] | None = None
    renamed: Callable[[], tuple[Renamed, ...]] = tuple
    fork_server: ForkServer | None = None


async def run_until_stopped(
    settings: Settings, identity: Identity, log_line: LineLogger, options: RunOptions
) -> RunResult:
    """Run the agent of a home that this process has locked, until it is asked to stop.

    Raises HomeError, SettingError; what a defect raises ends the process too, and cron or systemd
    starts the next one.
    """
    home = Home(settings.home)
    source = SettingsSource(home.settings, options.reread or (lambda: settings), options.renamed)
    runtime = Runtime(home, SystemClock(), StopRequest(), log_line)
    runtime.stopping.handle_signals()
    source.watch.handle_signal()
    async with client_of(settings, identity) as client:
        agent = compose(settings, identity, client, runtime, source, options)
        try:
            return await agent.run()
        finally:
            runtime.stopping.restore_signals()
            source.watch.restore_signal()


def compose(
    settings: Settings,
    identity: Identity,
    client: ManagerClient,
    runtime: Runtime,
    source: SettingsSource,
    options: RunOptions,
) -> RunningAgent:
    """Make the components of one run; nothing is sent or fetched yet."""
    home, clock, rng = runtime.home, runtime.clock, random.SystemRandom()
    windows = windows_of(settings)
    backoff = Backoff(settings.manager.backoff_s, settings.manager.max_backoff_s)

    # What outlives a process, and the crawl.
    memory = Memory.open(home.link_state, epoch_ms=clock.epoch_ms(), rng=rng)
    server_list = ManagerList(home.list, limit_bytes=settings.limits.server_list_bytes)
    manager_time = ManagerTime(clock)
    guards = ResourceGuards.of(settings)
    permission = Permission(PermitGate(clock, permit_margin_s(settings)), windows, clock)
    permission.holds = read_holds(home.hold)
    scope = kept_scope(home)
    session = CrawlSession(
        settings,
        home.crawl,
        identity.name,
        clock,
        may_send=permission.may_send,
        may_start=permission.may_start,
        fork_server=options.fork_server,
        scope_rules=ScopeRules(scope.text, known_only=True),
    )

    # Reports and segments for the manager.
    outbox = Outbox(
        home,
        agent=identity.name,
        limit_bytes=settings.disk.outbox_bytes,
        keep_logs_s=settings.disk.log_retention_s,
    )
    sender = Sender(outbox, client.send_report, clock=clock, backoff=backoff, rng=rng)
    schedule = ReportSchedule(
        settings.reports, windows.zone, memory.kept.spread_minute, clock.monotonic_s()
    )
    reports = Reports(runtime, session, permission, outbox, memory, manager_time, schedule, sender)
    collection = AgentCollection(runtime, session, identity)

    # The conversation: the poller decides, the others carry out.
    requested = sync.Settings(sending=read_limits(home.collection))
    poller = Poller(
        Caller(identity.name, version(), uuid.uuid4().hex),
        CallSchedule(backoff, rng, clock.boottime_s()),
        ResumedLink(
            server_list.held(),
            memory.kept.command_done,
            bool(read_orders(home.collection)),
            requested,
            scope.version,
        ),
        capacity_of(settings, guards.load.calm),
    )
    permits = PermitUse(runtime, permission, session, memory, identity)
    lists = ListUpdates(runtime, client, poller, server_list, session, memory, permits)
    manager_settings = ManagerSettings(
        runtime, settings, requested, client, poller, session, collection
    )
    commands = ManagerCommands(runtime, poller, memory, permission, session, lists)
    membership = Membership(runtime, client, poller, permission, permits, session, reports)
    actions = ManagerActions(
        runtime, session, permits, lists, manager_settings, commands, collection
    )
    agent_view = AgentView(
        runtime,
        identity,
        session,
        permission,
        guards,
        reports,
        sender,
        poller,
        actions,
        manager_settings,
        source,
        wake_early_s=memory.kept.spread_minute * 60.0,
    )
    exchange = SyncExchange(runtime, client, poller, memory, manager_time, agent_view.view)
    conversation = Conversation(
        runtime, session, exchange, actions, membership, permission, reports
    )

    # Supervision: these checks run each second, in this order.
    watchdog = Watchdog(runtime, session, permission, conversation, poller)
    single_run = (
        SingleRun(runtime, session, permission, reports, exchange, collection)
        if options.once
        else None
    )
    checks: tuple[PeriodicCheck, ...] = (
        SettingsReload(
            runtime, settings, source, permission, guards, reports, manager_settings, poller
        ),
        FetchConditions(runtime, session, permission, guards, outbox, poller),
        reports,
        conversation,
        StatusFile(runtime, agent_view, watchdog, options.show_status),
        *([single_run] if single_run else []),
    )
    return RunningAgent(
        runtime.stopping,
        session,
        conversation,
        collection,
        reports,
        Supervisor(runtime, session, poller, checks),
        single_run,
    )
