"""Inputs and actions of the poller. Data only; `agent.app` carries them out."""

from __future__ import annotations

from dataclasses import field

from shared.frozen import frozen
from shared.messages import Message
from shared.wire.sync import (
    CollectionOrder,
    Counters,
    CrawlScope,
    FinishedUnit,
    HeldPermit,
    HostAddresses,
    HostRest,
    RenamedSetting,
    SegmentAddress,
    Settings,
    SharedAddress,
)
from shared.wire.sync_bounds import AgentState, CommandName

__all__ = [
    "Action",
    "ApplyScope",
    "ApplySettings",
    "ChangeAddressRules",
    "DropHosts",
    "ForgetReported",
    "GrantPermit",
    "PermitAction",
    "RevokePermit",
    "RunCommand",
    "ShowMessage",
    "TakeList",
    "TakeOrders",
    "View",
]


@frozen
class View:
    """The agent's state when a sync is about to be sent.

    promise_ms: by when the agent surely calls again (its own clock), where it is about to sleep;
    rest_s: it will not call sooner than that without a reason.
    """

    state: AgentState
    clock_ms: int
    reason: Message | None = None
    promise_ms: int | None = None
    rest_s: float = 0.0
    permit: HeldPermit | None = None
    finished: tuple[FinishedUnit, ...] = ()
    addresses: tuple[HostAddresses, ...] = ()
    rests: tuple[HostRest, ...] = ()
    counters: Counters = field(default_factory=Counters)
    disk_free_bytes: int | None = None
    reports_waiting: int = 0
    update_result: Message | None = None
    serving: SegmentAddress | None = None
    withdrawn_held: int | None = None
    shared_held: int | None = None
    renamed: tuple[RenamedSetting, ...] = ()


@frozen
class DropHosts:
    """Delete what is here of hosts that were withdrawn; number: of the newest withdrawal told."""

    hosts: tuple[str, ...]
    number: int


@frozen
class ChangeAddressRules:
    """Put changed rules of shared addresses in force; start 0: those of before are void."""

    changes: tuple[SharedAddress, ...]
    start: int
    number: int


@frozen
class TakeList:
    """Take M1: the list in force is not the manager's. Answer with a call of `list_in_force`."""

    round: int
    generation: int


@frozen
class GrantPermit:
    """Give the gate a permit, counted from the sending of the sync that it answers."""

    epoch: int
    duration_s: float
    sent_boottime_s: float


@frozen
class RevokePermit:
    """Stop new requests."""

    reason: Message


@frozen
class ApplyScope:
    """Go by another scope of the crawl from now on."""

    scope: CrawlScope


@frozen
class ApplySettings:
    """Work under what the manager asks for, where it is stricter."""

    settings: Settings


@frozen
class RunCommand:
    """Do one thing, then call `command_finished` with its id."""

    id: str
    name: CommandName
    argument: str


@frozen
class ShowMessage:
    """Show the partner what the manager says; empty: show nothing."""

    text: str


@frozen
class ForgetReported:
    """The manager has these; they need not be said again."""

    finished: tuple[FinishedUnit, ...]
    addresses: tuple[HostAddresses, ...]


@frozen
class TakeOrders:
    """Orders to send of the manager; those that it named before and not now are over."""

    orders: tuple[CollectionOrder, ...]


PermitAction = GrantPermit | RevokePermit

Action = (
    TakeOrders
    | TakeList
    | PermitAction
    | ApplyScope
    | ApplySettings
    | ChangeAddressRules
    | DropHosts
    | RunCommand
    | ShowMessage
    | ForgetReported
)
