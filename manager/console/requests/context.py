"""Dependencies of the console, handed in by the application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final, Protocol

from manager.console.cached_value import Kept
from manager.console.event_stream import Streams
from manager.console.requests.session_senders import SessionSenders
from manager.db import Database
from manager.intake.messages.messages import MessageDesk
from manager.operations.actor import Actor
from manager.operations.archive.archive_figures import ArchiveFigures
from manager.operations.health.alert_views import AlertDesk
from manager.operations.logs.log_lines import LogLines
from manager.operations.logs.log_scratch import Scratch
from manager.operations.people.login_gate import LoginGate, RefusalHold
from manager.operations.planning.planners import Planner
from manager.operations.policy import Policy
from manager.operations.search import Search
from manager.operations.segments.adoption import Adopted, IdOf
from manager.operations.segments.orphans import Swept
from manager.operations.segments.trash_contents import TrashDay, TrashFile
from manager.settings import Settings
from manager.signing.protocol import Signing
from manager.store import Layout, UploadParts
from shared.errors import PrsmError
from shared.frozen import frozen

__all__ = ["ConsoleServices", "KeptArchive"]

ARCHIVE_MS: Final = 10_000
MARKS_MS: Final = 1_000


class KeptArchive(Protocol):
    """Kept files and the actions of pages on them."""

    def adopt(self, actor: Actor, *, dry_run: bool, trusted: bool, id_of: IdOf = "") -> Adopted:
        """Give the files this installation's id, and enter segments that no row names."""

    def trash(self) -> list[TrashDay]:
        """Return the contents of the trash by day."""

    def trash_files(self, day: str, most: int) -> list[TrashFile]:
        """Return files that lie in the trash of a day."""

    def put_back(self, actor: Actor) -> Swept:
        """Put back files that a row names and that are missing in their place."""

    def compact(self, actor: Actor) -> tuple[int, int]:
        """Rewrite segments of withdrawn hosts; return the numbers of rewritten and deleted ones."""


@frozen
class ConsoleServices:
    """The parts of the manager that pages reach.

    parts: of uploads, which a person may give up. scratch: turns for what reads many logs.
    planner: who solves a plan, perhaps in a child process. status_of: the status code of a
    refusal, or None where it is the manager's own failure. alerts: what they are made from. logins:
    turns for looks at passwords; hold: delays answers to those who are refused often.
    archive_size: expensive to count, and shown every few seconds to everybody. streams: pages that
    are notified of changes; marks: the values that all of them watch. archive: kept files and
    their trash. signing: the process that covers signed releases.
    messages: takes forms. senders: whose share a page's thread is.
    """

    db: Database
    policy: Policy
    settings: Settings
    parts: UploadParts
    planner: Planner
    now_ms: Callable[[], int]
    status_of: Callable[[PrsmError], int | None]
    scratch: Scratch
    log_lines: LogLines
    alerts: AlertDesk
    hold: RefusalHold
    logins: LoginGate
    archive: KeptArchive
    search: Search
    layout: Layout
    signing: Signing
    messages: MessageDesk
    archive_size: Kept[ArchiveFigures] = field(default_factory=lambda: Kept(ARCHIVE_MS))
    streams: Streams = field(default_factory=Streams)
    senders: SessionSenders = field(default_factory=SessionSenders)
    marks: Kept[dict[str, str]] = field(default_factory=lambda: Kept(MARKS_MS))
