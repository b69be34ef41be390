"""One life of an agent: everything is put together here, runs side by side, and ends in order.

The end: nothing new is begun, requests under way get a few seconds, fetched pages are committed,
the manager is notified. None of it is needed for safety: after kill -9 the next life continues
from the last commit, with the list on the disk, and waits for a new permit.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, Final

from agent.adapters.pages.nursery import Nursery
from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.conversation import Conversation
from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.agent_view import AgentView
from agent.app.reporting.report_schedule import Reporting, ReportSchedule
from agent.app.session.session import CrawlSession
from agent.app.session.single_run import SingleRun
from agent.app.session.supervision import Watch
from agent.app.site.site import ca_file_of, capacity_of, windows_of
from agent.app.startup.agent_parts import Parts, Say
from agent.app.startup.settings_mapping import permit_margin_s, user_agent, version
from agent.app.startup.settings_reload import SettingsReload
from agent.collection.allowance import read_limits
from agent.collection.orders import read_orders
from agent.control.disk import DiskGuard
from agent.control.drain import read_holds
from agent.control.home_place import place_of
from agent.control.launcher_program import LauncherProgram
from agent.control.load import LoadGuard
from agent.control.month import MonthlyBytes
from agent.control.renamed_settings import RenamedSettings
from agent.control.settings_watch import SettingsWatch
from agent.control.status import Status
from agent.control.stop import StopRequest
from agent.control.synced_version import note_synced
from agent.link.backoff import Backoff
from agent.link.client import ManagerClient
from agent.link.installation import KnownInstallation
from agent.link.keys import Identity
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.manager_time import ManagerTime
from agent.link.outbox import Outbox, Report
from agent.link.poller import Poller
from agent.link.report_delivery import Sender
from agent.pipeline.permit import PermitGate
from agent.pipeline.ports import Clock
from agent.settings import Home, Settings
from shared.archive.errors import DiskFullError
from shared.frozen import frozen
from shared.messages import Message
from shared.settings import Renamed
from shared.wire import sync_light
from shared.wire.names import hash_of_key

__all__ = ["Ended", "client_of", "live"]

LONGEST_REST_S: Final = 5.0  # whoever sends looks into the outbox so often
GRACE_S: Final = 1.0  # an exchange with the manager that takes longer is given up at a stop


@frozen
class Ended:
    """The reason for which an agent stopped; refused: the manager's no, where that was the reason.

    unreached: its own manager did not answer, but another one, and nothing was left to do.
    """

    reason: Message
    refused: Message | None = None
    unreached: Message | None = None


def client_of(settings: Settings, identity: Identity) -> ManagerClient:
    """Return the way to the manager."""
    site = settings.manager
    return ManagerClient(
        identity.manager,
        name=identity.name,
        key=identity.key,
        ca_file=ca_file_of(settings),
        proxy=site.proxy,
        timeout_s=site.timeout_s,
        user_agent=user_agent(settings),
        installation=KnownInstallation(Home(settings.home).installation, identity.manager),
    )


async def live(
    settings: Settings,
    identity: Identity,
    clock: Clock,
    *,
    once: bool,
    say: Say,
    show: Callable[[Status], None],
    reread: Callable[[], Settings],
    renamed: Callable[[], tuple[Renamed, ...]],
    nursery: Nursery | None = None,
) -> Ended:
    """Run the agent of a home that this process has locked, until it receives a stop.

    renamed: finds the settings that are given by old names.

    Raises HomeError, SettingError; what a defect raises ends the process too, and cron or systemd
    starts the next one.
    """
    stopping = StopRequest()
    stopping.listen()
    rereading = SettingsWatch(Home(settings.home).settings)
    rereading.listen()
    wake = asyncio.Event()
    async with client_of(settings, identity) as client:
        parts, talk, collecting = _put_together(
            settings, identity, client, clock, stopping, say, wake.set, renamed, nursery
        )
        single_run = SingleRun(parts, collecting) if once else None
        retuning = SettingsReload(parts, settings, reread, rereading)
        watch = Watch(parts, AgentView(parts), retuning, single_run, show=show, send=wake.set)
        try:
            await parts.reporting.hand_over_logs("written before the last crash")
            await _side_by_side(
                parts,
                [talk.run(), watch.run(talk), _send_reports(parts, wake), collecting.run()],
            )
            await watch.look(talk)
            await talk.goodbye()
        finally:
            await parts.session.close()
            stopping.deaf()
            rereading.deaf()
    reason = stopping.reason or Message("agent.stop_error")
    if single_run is None:
        return Ended(reason)
    return Ended(reason, single_run.refused, single_run.unreached)


async def _side_by_side(parts: Parts, works: list[Coroutine[Any, Any, None]]) -> None:
    """Run everything until the agent is to stop or something fails; then end it in order."""
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(work) for work in (parts.session.run(), *works)]
    await asyncio.wait(
        [*tasks, stop := loop.create_task(parts.stopping.wait())],
        return_when=asyncio.FIRST_COMPLETED,
    )
    stop.cancel()
    parts.stopping.ask(Message("agent.stop_error"))
    await parts.session.halt()
    _, late = await asyncio.wait(tasks, timeout=GRACE_S)
    for task in late:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


async def _send_reports(parts: Parts, wake: asyncio.Event) -> None:
    """Work the outbox off whenever something was put into it or its time has come."""
    while not parts.stopping.asked:
        wake.clear()
        try:
            await parts.sender.send_due()
        except DiskFullError as error:  # the reason of a refused report, or a folder that grows
            parts.say(f"reports: {error}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_REST_S):
                await wake.wait()


def _put_together(
    settings: Settings,
    identity: Identity,
    client: ManagerClient,
    clock: Clock,
    stopping: StopRequest,
    say: Say,
    wake: Callable[[], None],
    renamed: Callable[[], tuple[Renamed, ...]],
    nursery: Nursery | None,
) -> tuple[Parts, Conversation, AgentCollection]:
    home, chance = Home(settings.home), random.SystemRandom()
    memory = Memory.open(home.link_state, epoch_ms=clock.epoch_ms(), chance=chance)
    windows = windows_of(settings)
    gate = PermitGate(clock, permit_margin_s(settings))
    permission = Permission(gate, windows, clock)
    permission.holds = read_holds(home.hold)
    outbox = Outbox(
        home,
        agent=identity.name,
        limit_bytes=settings.disk.outbox_bytes,
        keep_logs_s=settings.disk.keep_logs_s,
    )
    backoff = Backoff(settings.manager.backoff_s, settings.manager.backoff_max_s)

    async def send(report: Report) -> None:
        carry = client.send_log if report.kind == "log" else client.send_record
        await carry(report.path)

    session = CrawlSession.open(
        settings,
        home.crawl,
        identity.name,
        clock,
        permitted=permission.permitted,
        fetching=permission.fetching,
        nursery=nursery,
    )
    manager_time = ManagerTime(clock)
    parts = Parts(
        home=home,
        name=identity.name,
        manager=identity.manager,
        clock=clock,
        stopping=stopping,
        gate=gate,
        permission=permission,
        disk=DiskGuard(home.path, settings.disk.reserve_bytes),
        month=MonthlyBytes(home.month, settings.network.month_bytes, windows.zone),
        load=LoadGuard(settings.pages.most_load, home.load),
        outbox=outbox,
        sender=Sender(outbox, send, clock=clock, backoff=backoff, chance=chance),
        session=session,
        reporting=Reporting(session, outbox, memory, manager_time, say),
        schedule=ReportSchedule(
            settings.reports, windows.zone, memory.spread_minute, clock.monotonic_s()
        ),
        spread_s=memory.spread_minute * 60.0,
        say=say,
        renamed=RenamedSettings(renamed),
    )
    server_list = ManagerList(home.list, limit_bytes=settings.limits.list_bytes)
    settings_held = sync_light.Settings(sending=read_limits(home.collection))
    poller = Poller(
        name=identity.name,
        version=version(),
        boot_id=uuid.uuid4().hex,
        backoff=backoff,
        chance=chance,
        list_held=server_list.held(),
        command_done=memory.command_done,
        capacity=capacity_of(settings),
        orders_held=bool(read_orders(home.collection)),
        now_s=clock.boottime_s(),
        settings_held=settings_held,
    )

    launching = LauncherProgram(home.path)

    def reached() -> None:
        """Note a successful sync, check the launcher, and retry reports."""
        launching.look(is_open=permission.window_open)
        if talk.answers == 1:
            with contextlib.suppress(DiskFullError):
                note_synced(home.synced, version(), clock.epoch_ms())
        parts.sender.retry_now()
        wake()

    collecting = AgentCollection(parts, identity)
    talk = Conversation(
        settings,
        parts,
        client=client,
        poller=poller,
        memory=memory,
        server_list=server_list,
        manager_time=manager_time,
        view=AgentView(parts).view,
        take_orders=collecting.take,
        take_limits=collecting.take_limits,
        withdraw=collecting.withdraw,
        reached=reached,
        settings_held=settings_held,
        place=f"{hash_of_key(identity.key)} {place_of(home.path)}",
    )
    return parts, talk, collecting
