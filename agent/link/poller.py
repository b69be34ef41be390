"""The conversation with the manager, without I/O: requests to send and actions to carry out.

One sync is under way at a time; it is answered, or it fails, or a late answer to an older one is
passed over. Every statement is a state or is repeated until an answer came.

Invariants, whatever is lost, late or repeated:
- A permit counts from the sending of the sync that it answers. A permit of a new epoch (rights were
  free in between, others may hold them now) is used only under a list that was taken after it.
- `generation_held` names a list only when it is in force and every unit that left with it is quiet.
- A unit is reported as finished only under the list that names it.
- A command runs once, and again only where the process died before it was finished.
Times are seconds of CLOCK_BOOTTIME; `call_schedule` plans the calls.
Source: design 3, sync and rules 2, 8, 9; the shape is h11's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Final

from agent.errors import LinkError, RefusedError
from agent.link.actions import (
    Action,
    ApplyScope,
    ApplySettings,
    ChangeAddressRules,
    DropHosts,
    ForgetReported,
    GrantPermit,
    PermitAction,
    RevokePermit,
    RunCommand,
    ShowMessage,
    TakeList,
    TakeOrders,
    View,
)
from agent.link.call_schedule import CallSchedule
from shared.frozen import frozen
from shared.messages import Message
from shared.messages.received import sent_message
from shared.wire.sync import Capacity, CollectionOrder, Settings, SyncAnswer, SyncRequest
from shared.wire.sync_bounds import MAX_ITEMS, MAX_RENAMED, SHORT_CHARS

__all__ = ["Caller", "ListNumber", "Poller", "ResumedLink"]

# After these the manager does not count on us: another may be told to fetch in our place. What a
# proxy or another thing between says, says nothing of the manager.
_ENDS_PERMIT: Final = frozenset({401, 403, 409, 426})


@frozen
class ListNumber:
    """A list's number: (0, 0) is none."""

    round: int = 0
    generation: int = 0


@frozen
class Caller:
    """The caller of a conversation. boot_id: of this process, drawn at its start."""

    name: str
    version: str
    boot_id: str


@frozen
class ResumedLink:
    """State of the link that outlived the process before.

    has_orders: orders to send are on the disk; whether they still hold is asked at once.
    settings: of the manager.
    """

    list_held: ListNumber = field(default_factory=ListNumber)
    command_done: str = ""
    has_orders: bool = False
    settings: Settings = field(default_factory=Settings)


@frozen
class _Pending:
    """A permit that waits for the list of its generation."""

    permit: GrantPermit
    generation: int


@frozen
class _UnderWay:
    request: SyncRequest
    sent_boottime_s: float
    in_force: ListNumber
    rest_s: float


class Poller:
    """The state of the conversation. Methods return what is to be done."""

    def __init__(
        self,
        caller: Caller,
        schedule: CallSchedule,
        resumed: ResumedLink,
        capacity: Capacity | None = None,
    ) -> None:
        """capacity: reported with each sync."""
        self._caller = caller
        self._schedule = schedule
        self.capacity = capacity
        self._under_way: _UnderWay | None = None
        self.in_force = resumed.list_held  # the list that the crawl follows
        # The list that a sync reports: in force, and the units that left it are quiet. A new
        # process has no request under way, so the list it starts with is wholly in force.
        self.acknowledged = resumed.list_held
        self._closing: set[int] = set()
        self._taking = False
        self._epoch: int | None = None  # of the permit in use
        self._pending: _Pending | None = None
        self._command_done = resumed.command_done
        self._command_running = ""
        self._settings = resumed.settings
        self._message = ""
        self._orders: tuple[CollectionOrder, ...] | None = None if resumed.has_orders else ()
        self._items = MAX_ITEMS
        self.trouble: Message | None = None  # why the last call failed; None: it did not

    @property
    def next_s(self) -> float:
        """Return when to call next (CLOCK_BOOTTIME)."""
        return self._schedule.next_s

    def report_calm(self, calm: float) -> None:
        """Report from now on in which part of its hours this machine was quiet lately."""
        if self.capacity is not None and self.capacity.calm != calm:
            self.capacity = replace(self.capacity, calm=calm)

    def request(self, sequence: int, view: View, now_s: float) -> SyncRequest:
        """Return the sync to send now. `now_s` is read before the first byte is sent."""
        # A unit counts as finished only under the list that names it (`generation_held`).
        settled = (
            self.acknowledged == self.in_force
            and self.in_force.generation > 0
            and not self._taking  # a goodbye, while units of the next list may be finished
        )
        request = SyncRequest(
            agent=self._caller.name,
            boot_id=self._caller.boot_id,
            sequence=sequence,
            version=self._caller.version,
            clock_ms=view.clock_ms,
            state=view.state,
            state_reason=_sentence(view.reason) or "",
            state_message=sent_message(view.reason),
            next_contact_ms=view.promise_ms,
            round_held=self.acknowledged.round,
            generation_held=self.acknowledged.generation,
            permit=view.permit,
            finished=view.finished[: self._items] if settled else (),
            addresses=view.addresses[: self._items],
            rests=view.rests[: self._items],
            counters=view.counters,
            capacity=self.capacity,
            refetches=True,
            reopens=True,
            unit_rounds=True,
            disk_free_bytes=view.disk_free_bytes,
            reports_waiting=view.reports_waiting,
            command_done=self._command_done or None,
            update_result=_sentence(view.update_result),
            update_message=sent_message(view.update_result),
            serving=view.serving,
            scope_held=view.scope_held,
            withdrawn_held=view.withdrawn_held,
            shared_held=view.shared_held,
            renamed_settings=view.renamed[:MAX_RENAMED],
        )
        self._under_way = _UnderWay(request, now_s, self.in_force, view.rest_s)
        self._schedule.note_sent(now_s)
        return request

    def answered(self, sequence: int, answer: SyncAnswer, now_s: float) -> list[Action]:
        """Take the manager's answer to the sync of that number; a stale one changes nothing."""
        asked = self._finish_call(sequence)
        if asked is None:
            return []
        self.trouble = None
        self._items = min(MAX_ITEMS, self._items * 2)
        self._schedule.note_answer(answer.next_poll_s, asked.rest_s, now_s)
        actions: list[Action] = []
        said = asked.request
        if said.finished or said.addresses:
            actions.append(ForgetReported(tuple(said.finished), tuple(said.addresses)))
        if answer.settings != self._settings:
            self._settings = answer.settings
            actions.append(ApplySettings(answer.settings))
        if answer.scope is not None and answer.scope.version != said.scope_held:
            actions.append(ApplyScope(answer.scope))
        actions += self._permit(answer, asked)
        if (
            answer.generation != self.in_force.generation
            and asked.in_force == self.in_force  # else the answer speaks of an older list
            and not self._taking
        ):
            self._taking = True
            actions.append(TakeList(answer.round, answer.generation))
        command = answer.command
        if command is not None and not self._command_running and command.id != self._command_done:
            self._command_running = command.id
            actions.append(RunCommand(command.id, command.name, command.argument))
        if answer.collection != self._orders:
            self._orders = answer.collection
            actions.append(TakeOrders(answer.collection))
        number = answer.withdrawn_number
        if number is not None and number != said.withdrawn_held:
            actions.append(DropHosts(answer.withdrawn, number))
        heard = answer.shared_number
        if heard is not None and (answer.shared or heard != said.shared_held):
            actions.append(ChangeAddressRules(answer.shared, answer.shared_from or 0, heard))
        if answer.message != self._message:
            self._message = answer.message
            actions.append(ShowMessage(answer.message))
        return actions

    def failed(self, sequence: int, error: LinkError, now_s: float) -> list[PermitAction]:
        """Take note that the sync of that number got no answer, or a no."""
        asked = self._finish_call(sequence)
        if asked is None:
            return []
        actions = self._note_failure(error, now_s)
        if isinstance(error, RefusedError) and error.status == 413 and self._items > 1:
            self._items = max(1, self._items // 2)
            said = asked.request
            if max(len(said.finished), len(said.addresses)) > 1:
                self._schedule.retry_smaller(now_s)
        return actions

    def list_in_force(
        self, held: ListNumber, closing: Iterable[int], now_s: float
    ) -> list[PermitAction]:
        """Take note that the crawl follows a new list.

        closing: the jobs that ended with it and may have a request under way; each is followed by
        a call of `unit_closed`. Returns the permit that waited for this list, if one did.
        """
        self._taking = False
        self.in_force = held
        self._closing.update(closing)
        pending, self._pending = self._pending, None
        actions: list[PermitAction] = []
        if pending is not None and held.generation >= pending.generation:
            self._epoch = pending.permit.epoch
            actions.append(pending.permit)
        self._acknowledge(now_s)
        return actions

    def list_failed(self, error: LinkError, now_s: float) -> list[PermitAction]:
        """Take note that M1 could not be had; the next sync asks for it again."""
        self._taking = False
        self._pending = None
        return self._note_failure(error, now_s)

    def list_dropped(self, closing: Iterable[int], now_s: float) -> None:
        """Take note that a restart dropped the list: the manager is asked for it again."""
        self.in_force = ListNumber()
        self._closing.update(closing)
        self._acknowledge(now_s)

    def unit_closed(self, job: int, now_s: float) -> None:
        """Take note that the last request of a job that ended is over."""
        if job in self._closing:
            self._closing.discard(job)
            self._acknowledge(now_s)

    def permit_returned(self) -> list[PermitAction]:
        """Take note that this agent gives its rights back; a new list and permit must come."""
        self._pending = None
        return self._end_permit(Message("agent.work_handed_back"))

    def command_failed(self) -> None:
        """Take note that a command could not be carried out; its next repeat is tried again."""
        self._command_running = ""

    def command_finished(self, command_id: str, now_s: float) -> None:
        """Take note that a command was carried out; the next sync says so."""
        self._command_running = ""
        self._command_done = command_id
        self.call_soon(now_s)

    def call_soon(self, now_s: float) -> None:
        """Call sooner, because there is news; a manager that asked for time still gets it."""
        self._schedule.call_soon(now_s)

    def _finish_call(self, sequence: int) -> _UnderWay | None:
        asked = self._under_way
        if asked is None or asked.request.sequence != sequence:
            return None
        self._under_way = None
        return asked

    def _permit(self, answer: SyncAnswer, asked: _UnderWay) -> list[PermitAction]:
        self._pending = None
        if answer.permit is None:
            return self._end_permit(Message("agent.permit_not_granted"))
        grant = GrantPermit(answer.permit.epoch, answer.permit.duration_s, asked.sent_boottime_s)
        # Same epoch: the manager never took the rights back, so the held rights still hold.
        if grant.epoch == self._epoch or answer.generation == self.in_force.generation:
            self._epoch = grant.epoch
            return [grant]
        self._pending = _Pending(grant, answer.generation)
        return self._end_permit(Message("agent.permit_of_new_epoch", epoch=grant.epoch))

    def _end_permit(self, reason: Message) -> list[PermitAction]:
        had, self._epoch = self._epoch, None
        return [] if had is None else [RevokePermit(reason)]

    def _note_failure(self, error: LinkError, now_s: float) -> list[PermitAction]:
        self.trouble = error.with_remedy
        self._schedule.note_failure(error, now_s)
        if (
            isinstance(error, RefusedError)
            and not error.is_foreign
            and error.status in _ENDS_PERMIT
            and error.by_manager
        ):
            self._pending = None
            return self._end_permit(error.message)
        return []

    def _acknowledge(self, now_s: float) -> None:
        if not self._closing and self.acknowledged != self.in_force:
            self.acknowledged = self.in_force
            self.call_soon(now_s)


def _sentence(message: Message | None) -> str | None:
    return None if message is None else str(message)[:SHORT_CHARS]
