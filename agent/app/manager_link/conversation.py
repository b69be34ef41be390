"""Carries the poller's conversation out: sends syncs, takes lists, runs commands, leaves and joins.

Everything that asks the manager and changes what the agent holds happens here, one thing after the
other; so a permit that was answered before the work was handed back cannot come after it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

from agent.app.site.site import ca_file_of, capacity_of
from agent.app.startup.agent_parts import Parts
from agent.app.startup.settings_mapping import blocked_by, permit_margin_s
from agent.control.drain import Holds, change_holds
from agent.control.launcher_program import start_launcher
from agent.errors import HomeError
from agent.link.actions import (
    Action,
    ApplySettings,
    DropHosts,
    ForgetTold,
    GrantPermit,
    RevokePermit,
    RunCommand,
    ShowMessage,
    TakeList,
    TakeOrders,
    View,
)
from agent.link.client import ManagerClient
from agent.link.errors import LinkError, RefusedError, is_foreign
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.manager_time import ManagerTime
from agent.link.moved_home import Moved, is_elsewhere
from agent.link.poller import ListHeld, Poller
from agent.pipeline.messages import ServerList
from agent.settings import Settings, tightened
from shared.archive.errors import DiskFullError
from shared.errors import FormatError, LimitError, SettingError
from shared.messages import Message
from shared.wire import sync_light
from shared.wire.orders import ListHead
from shared.wire.sync_bounds import CommandName

__all__ = ["Conversation"]

NO_ROOM_S = 10.0  # what needs room on the disk is tried again so often
LOOK_S = 1.0  # a machine that slept finds out within this
GOODBYE_S = 3.0
CONFLICT = 409  # the manager takes this process for a copy of another, or the other way round
URL_CHARS = 4000  # of a unit: sync takes 4096, with the port written out


class Conversation:
    """The talking side of the agent."""

    def __init__(
        self,
        site: Settings,
        parts: Parts,
        *,
        client: ManagerClient,
        poller: Poller,
        memory: Memory,
        server_list: ManagerList,
        manager_time: ManagerTime,
        view: Callable[[], View],
        take_orders: Callable[[tuple[sync_light.CollectionOrder, ...]], None],
        take_limits: Callable[[sync_light.SendingLimits | None], None],
        withdraw: Callable[[tuple[str, ...], int], None],
        reached: Callable[[], None],
        settings_held: sync_light.Settings,
        place: str,
    ) -> None:
        """view: the agent's present state. take_orders: keeps the orders to send to the centre;
        take_limits: how fast and when. withdraw: deletes the captures of hosts here.

        reached: called when the manager has answered. place: whose key is used where.
        """
        self.poller = poller
        self._site = site
        self._margin_s = permit_margin_s(site)  # that the gate was made with
        self._asked = settings_held
        self._parts = parts
        self._client = client
        self._memory = memory
        self._list = server_list
        self._manager_time = manager_time
        self._place = place
        self._moved = Moved(elsewhere=is_elsewhere(memory.place, place))
        self._view = view
        self._take_orders = take_orders
        self._take_limits = take_limits
        self._withdraw = withdraw
        self._reached = reached
        self._update_result: str | None = None
        self.message = ""  # from the manager, for the partner
        self.tightened: tuple[Message, ...] = ()
        self.answers = 0  # syncs that were answered
        self.calls = 0  # that are over, whether answered or not
        self.refusal: RefusedError | None = None  # the last answer, where it was a no
        self.foreign: LinkError | None = None  # the last answer, where it was another manager's
        self._resumed = False  # the list that was on the disk is in force
        self.may_hand_back = False  # drained, and nothing is still under way or unreported

    async def run(self) -> None:
        """Take the list on the disk up, then talk until the agent stops."""
        await self.resume_list()
        self._resumed = True
        while not self._parts.stopping.asked:
            wait_s = self.poller.next_s - self._parts.clock.boottime_s()
            if wait_s > 0:
                await self._parts.stopping.pause(min(wait_s, LOOK_S))
                continue
            try:
                await self._leave_or_join()
                await self.call()
            except DiskFullError as error:
                self._parts.say(f"the manager was not called: {error}")
                await self._parts.stopping.pause(NO_ROOM_S)
            self.calls += 1

    async def resume_list(self) -> None:
        """Resume the list that is on the disk, as after a crash; a permit must come first.

        The manager is called behind it: to it, a new process follows that list from the start.
        """
        held = await asyncio.to_thread(self._list.held)
        if held == ListHeld():
            return
        try:
            server_list = await asyncio.to_thread(self._read_list, held)
        except (FormatError, LimitError) as error:
            # As after a lower limit, or the release before: no start would get past it.
            await asyncio.to_thread(self._list.drop)
            self.poller.list_dropped((), self._parts.clock.boottime_s())
            self._parts.say(
                f"list {held.generation} of round {held.round} cannot be read ({error}); "
                "it is requested from the manager again"
            )
            return
        await self._parts.session.take_list(server_list)
        if self._memory.list_told != _name(held):
            await self._tell_again(held)
        self._parts.say(f"continuing with list {held.generation} of round {held.round}")

    async def call(self) -> None:
        """Send one sync and do what its answer asks for."""
        sequence = self._memory.next_sequence()
        self.poller.tell_calm(self._parts.load.calm)
        view = replace(self._view(), update_result=self._update_result)
        sent_s = self._parts.clock.boottime_s()
        request = self.poller.request(sequence, view, sent_s)
        try:
            answer = await self._client.sync(request)
        except LinkError as error:
            # Another installation's no is none of this agent's matters.
            self.refusal = None
            self.foreign = error if is_foreign(error) else None
            if isinstance(error, RefusedError) and not error.is_foreign:
                self.refusal = error
            if self.refusal is not None and self.refusal.status == CONFLICT:
                self._moved.refused()
            actions = self.poller.failed(sequence, error, self._parts.clock.boottime_s())
            self._parts.say(f"manager: {self.poller.trouble}")
            await self._do(actions)
            return
        self.refusal = self.foreign = None
        self.answers += 1
        self._manager_time.note(answer.server_time_ms, sent_s)
        await self._do(self.poller.answered(sequence, answer, self._parts.clock.boottime_s()))
        self._reached()

    async def goodbye(self) -> None:
        """Report the end of this agent to the manager, which answers at once."""
        sequence = self._memory.next_sequence()
        view = self._view()
        if not self._resumed:  # finished units may be under a list not taken yet
            view = replace(view, finished=())
        request = self.poller.request(sequence, view, self._parts.clock.boottime_s())
        try:
            async with asyncio.timeout(GOODBYE_S):
                answer = await self._client.sync(request)
        except (LinkError, TimeoutError):
            return
        for action in self.poller.answered(sequence, answer, self._parts.clock.boottime_s()):
            if isinstance(action, ForgetTold):
                await self._do([action])

    async def _do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case GrantPermit():
                    self._grant(action)
                case RevokePermit(reason):
                    self._parts.gate.revoke()
                    self._parts.permission.no_permit = reason
                    self._parts.say(f"permit ended: {reason}")
                case ForgetTold(finished, addresses):
                    self._forget(finished, addresses)
                case TakeList():
                    await self._take_list()
                case ApplySettings(settings):
                    self._apply(settings)
                case RunCommand(command_id, name, argument):
                    await self._command(command_id, name, argument)
                case TakeOrders(orders):
                    self._take_orders(orders)
                case DropHosts(hosts, number):
                    self._withdraw(hosts, number)
                case ShowMessage(text):
                    self.message = text
                    if text:
                        self._parts.say(f"the manager says: {text}")

    def _grant(self, permit: GrantPermit) -> None:
        waits_s = self._moved.granted(permit, self._parts.clock.boottime_s())
        if waits_s:
            self._parts.permission.no_permit = Message("agent.home_moved", wait_s=round(waits_s))
            return
        with contextlib.suppress(DiskFullError):  # the next process waits once more, then
            self._memory.remember_place(self._place)
        fetched = self._parts.gate.may_fetch()
        # The gate's margin holds the site's interval; one that the manager asked for is longer.
        wider_s = permit_margin_s(self._parts.session.settings) - self._margin_s
        self._parts.gate.grant(permit.epoch, permit.duration_s - wider_s, permit.sent_boottime_s)
        left_s = self._parts.gate.remaining_s()
        if left_s > 0 and not fetched:
            self._parts.say(f"permit of {left_s:.0f} s, epoch {permit.epoch}")
        if left_s <= 0:
            self._parts.permission.no_permit = Message(
                "agent.permit_too_short", duration_s=permit.duration_s
            )
        else:
            self._parts.permission.no_permit = Message("agent.permit_over")

    def _forget(
        self,
        finished: tuple[sync_light.FinishedUnit, ...],
        addresses: tuple[sync_light.HostAddresses, ...],
    ) -> None:
        session = self._parts.session
        session.reports.forget_finished(finished)
        session.reports.forget_addresses(addresses)
        with contextlib.suppress(DiskFullError):  # they are reported once more, which is harmless
            session.ledger.commit()

    async def _take_list(self) -> None:
        limit_bytes = self._site.limits.list_bytes
        try:
            await self._client.take_list(self._list.coming, limit_bytes=limit_bytes)
            held = await asyncio.to_thread(self._list.accept)
        except (LinkError, DiskFullError) as problem:
            error = problem if isinstance(problem, LinkError) else LinkError(problem.message)
            await self._do(self.poller.list_failed(error, self._parts.clock.boottime_s()))
            self._parts.say(f"list: {self.poller.trouble}")
            return
        server_list = await asyncio.to_thread(self._read_list, held)
        closing = await self._parts.session.take_list(server_list)
        # Before any other task has a turn: the poller learns of each job that becomes quiet.
        await self._do(self.poller.list_in_force(held, closing, self._parts.clock.boottime_s()))
        self._parts.say(
            f"list {held.generation} of round {held.round}: {len(server_list.orders)} lines"
        )
        await self._tell_again(held)

    async def _tell_again(self, held: ListHeld) -> None:
        """Report units finished under an earlier list; they are kept until all are reported."""
        await self._parts.session.tell_again()
        with contextlib.suppress(DiskFullError):  # the next process says it once more
            self._parts.session.ledger.commit()
            self._memory.remember_list(_name(held))

    def _read_list(self, held: ListHeld) -> ServerList:
        orders = list(self._list.orders())
        good = tuple(order for order in orders if len(order.url) <= URL_CHARS)
        if len(good) < len(orders):
            self._parts.say(f"{len(orders) - len(good)} lines of the list have too long a URL")
        return ServerList(ListHead(held.round, held.generation), good)

    def take_site(self, site: Settings) -> None:
        """Apply other settings of the site; the manager's wishes still hold."""
        self._site = site
        self._client.go_by(ca_file=ca_file_of(site), proxy=site.manager.proxy)
        self.poller.capacity = capacity_of(site)
        settings = tightened(site, self._asked)
        self.tightened = _words(self._asked) if settings != site else ()
        self._parts.session.retune(settings)

    def _apply(self, asked: sync_light.Settings) -> None:
        good = [pattern for pattern in asked.blocked or () if _is_pattern(pattern)]
        if asked.blocked and len(good) < len(asked.blocked):
            self._parts.say(
                f"{len(asked.blocked) - len(good)} of the manager's block patterns are not RE2"
            )
        asked = replace(asked, blocked=good or None)
        if asked.sending != self._asked.sending:
            self._take_limits(asked.sending)
        self._asked = asked
        settings = tightened(self._site, asked)
        self.tightened = _words(asked) if settings != self._site else ()
        if settings == self._parts.session.settings:
            return
        words = ", ".join(map(str, _words(asked)))
        self._parts.say(f"limits of the manager: {words or 'none stricter than this site has'}")
        self._parts.session.retune(settings)

    async def _command(self, command_id: str, name: CommandName, argument: str) -> None:
        self._parts.say(f"command of the manager: {name} {argument}".rstrip())
        try:
            if name == "restart":
                await self._restart(pages=argument == "confirmed")
            elif name == "update":
                self._update()
            else:
                self._hold(name)
            self._memory.remember_command(command_id)
        except DiskFullError as error:
            self._parts.say(f"command {name}: {error}")
            self.poller.command_failed()
            return
        self.poller.command_finished(command_id, self._parts.clock.boottime_s())

    async def _restart(self, *, pages: bool) -> None:
        await asyncio.to_thread(self._list.drop)
        closing = await self._parts.session.drop()
        self.poller.list_dropped(closing, self._parts.clock.boottime_s())
        if pages:
            self._parts.session.drop_pages()

    def _update(self) -> None:
        """Start the launcher, which may stop this agent and tells the manager how it went."""
        try:
            start_launcher(self._parts.home.path)
        except HomeError as error:
            self._update_result = str(error)[:1000]

    def _hold(self, name: str) -> None:
        def change(holds: Holds) -> Holds:
            match name:
                case "pause":
                    return holds.pause("manager")
                case "drain":
                    return holds.drain("manager")
                case _:
                    return holds.resume("manager")

        self._parts.permission.holds = change_holds(self._parts.home.hold, change)

    async def _leave_or_join(self) -> None:
        """Hand the work back once drained (M5), and take part again when nothing holds."""
        holds = self._parts.permission.holds
        try:
            if holds.drained and not holds.handed_back and self.may_hand_back:
                await self._client.unsubscribe()
                await self._do(self.poller.permit_given_up())
                self._remember(handed_back=True)
                self._parts.say("drained: the work was handed back")
            elif holds.handed_back and not holds.drained:
                await self._client.subscribe()
                self._remember(handed_back=False)
                self._parts.say("takes part again")
        except LinkError as error:
            self._parts.say(f"manager: {error}")

    def _remember(self, *, handed_back: bool) -> None:
        self._parts.permission.holds = change_holds(
            self._parts.home.hold, lambda holds: replace(holds, handed_back=handed_back)
        )


def _name(held: ListHeld) -> str:
    return f"{held.round} {held.generation}"


def _is_pattern(pattern: str) -> bool:
    try:
        blocked_by((pattern,))
    except SettingError:
        return False
    return True


def _words(asked: sync_light.Settings) -> tuple[Message, ...]:
    words = []
    if asked.interval_s is not None:
        words.append(Message("agent.asked_interval", interval_s=asked.interval_s))
    if asked.parallel_hosts is not None:
        words.append(Message("agent.asked_hosts", hosts=asked.parallel_hosts))
    if asked.bytes_per_s is not None:
        words.append(Message("agent.asked_rate", rate=asked.bytes_per_s))
    if asked.blocked:
        words.append(Message("agent.asked_blocks", patterns=len(asked.blocked)))
    return tuple(words)
