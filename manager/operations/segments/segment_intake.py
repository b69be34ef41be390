"""Take a segment that an agent sent: examine it, keep its parts, enter them in one transaction.

Invariants: a segment is taken once, known by its agent and SHA-256, and a repeat is answered as
before; its files are in place before the transaction that names them, and a file without a
transaction is an orphan (`archive_upkeep`); no transaction is open while a file is read. Captures
that are not public are set apart at once, so a public segment may be distributed unchanged.
"""

from __future__ import annotations

import calendar
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from manager.assignment.right_history import SLACK_MS
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.segments import segments
from manager.db.segments.segments import NewArrival, NewSegment
from manager.errors import ForbiddenError
from manager.operations.actor import note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.reports import held_during
from manager.operations.segments.segment_outcomes import Arrived, Outcome, Refused, outcome_of
from manager.store import Layout
from manager.store.durable_files import full_disk_said
from manager.store.segments.segment_examination import Examined, RefusedSegment, SegmentJob
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_store import SegmentStore, replace_file, segment_key
from manager.store.segments.trash import Trash, index_name
from shared.archive.segment_facts import CaptureCounts, SegmentFacts
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = [
    "ExaminationTools",
    "Examine",
    "accept_segment",
    "enter_part",
    "fetch_segment",
    "indexes_in_trash",
    "keep_files",
    "known_segment",
    "segment_job",
]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,180}\.warc\.gz")

_STAMP: Final = re.compile(r"-([0-9]{14})-")

COPY_BYTES: Final = 1024**2

Examine = Callable[[SegmentJob], Examined | RefusedSegment]
"""Whoever reads a segment elsewhere, as `Workers.run_here`."""


@frozen
class ExaminationTools:
    """Places and programs for examining segments. work: returns a new name for a scratch folder.

    check: refuses to move or delete files that are not this database's.
    """

    layout: Layout
    store: SegmentStore
    examine: Examine
    work: Callable[[], Path]
    memory_bytes: int
    cpu_s: float
    trash: Trash
    check: Callable[[], None]

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Make a folder that lasts as long as the block. Raises StoreFullError."""
        folder = self.work()
        try:
            with full_disk_said(folder.parent):
                folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def fetch_segment(source: BinaryIO, folder: Path) -> Path:
    """Copy an open segment into a folder of this machine; close it. Raises StoreFullError."""
    target = folder / "source.warc.gz"
    with full_disk_said(folder), source, target.open("xb") as file:
        shutil.copyfileobj(source, file, COPY_BYTES)
    return target


def known_segment(db: Database, agent: AgentIdentity, sha256: str) -> Outcome | None:
    """Return the earlier answer to a segment, or None: it is new."""
    with db.read() as tx:
        row = segments.arrival_by_sha256(tx, agent.id, sha256)
    return None if row is None else outcome_of(row, repeated=True)


def accept_segment(
    db: Database, reading: ExaminationTools, agent: AgentIdentity, arrived: Arrived, now_ms: int
) -> Outcome:
    """Keep a segment that came, or say why not; blocks for as long as reading it takes.

    When it is kept, `arrived.path` is removed; else it is left to the caller. Raises BusyError and
    StoreFullError: nothing was kept, try again; ForbiddenError: the agent is gone.
    """
    if not _NAME.fullmatch(arrived.name):
        return Refused(Message("segments.bad_name", name=arrived.name[:80]))
    known = known_segment(db, agent, arrived.sha256) or _name_taken(db, agent, arrived)
    if known is not None:
        if not isinstance(known, Refused):
            arrived.path.unlink(missing_ok=True)
        return known
    with reading.scratch() as folder:
        found = reading.examine(segment_job(db, reading, agent, arrived, folder, now_ms))
        if isinstance(found, RefusedSegment):
            return _refused(db, agent, arrived, found.message, now_ms)
        if not found.parts:
            said = Message("segments.all_excluded", captures=found.captures)
            return _refused(db, agent, arrived, said, now_ms)
        outcome = _keep(db, reading, agent, arrived, found, now_ms)
    arrived.path.unlink(missing_ok=True)
    return outcome


def _name_taken(db: Database, agent: AgentIdentity, arrived: Arrived) -> Refused | None:
    with db.read() as tx:
        other = segments.arrival_by_name(tx, agent.id, arrived.name)
    if other is None:
        return None
    return Refused(Message("segments.name_taken", sha256=other.sha256))


def segment_job(
    db: Database,
    reading: ExaminationTools,
    agent: AgentIdentity,
    arrived: Arrived,
    folder: Path,
    now_ms: int,
) -> SegmentJob:
    """Return what is to be examined of a file, by what its agent held in its time."""
    begun_ms = _begun_ms(arrived.name)
    # A name from a clock that ran ahead says nothing of when the first capture was made.
    since_ms = begun_ms if begun_ms <= now_ms else 0
    held = held_during(db, agent, since_ms - SLACK_MS, now_ms + SLACK_MS)
    with db.read() as tx:
        excluded = segments.excluded_keys(tx)
        name = _served_name(tx, agent, arrived)
    return SegmentJob(
        path=arrived.path,
        sha256=arrived.sha256,
        folder=folder,
        name=name,
        held=held.held,
        excluded=frozenset(excluded),
        now_ms=now_ms,
        memory_bytes=reading.memory_bytes,
        cpu_s=reading.cpu_s,
    )


def _begun_ms(name: str) -> int:
    """Return when a segment was begun, as its name says; 0 where it does not."""
    stamp = _STAMP.search(name)
    if stamp is None:
        return 0
    try:
        return calendar.timegm(time.strptime(stamp[1], "%Y%m%d%H%M%S")) * 1000
    except ValueError:
        return 0


def _served_name(tx: Transaction, agent: AgentIdentity, arrived: Arrived) -> str:
    """Return the name by which others get it: it tells the agent, and no other file has it."""
    stem = arrived.name.removesuffix(".warc.gz")
    if not stem.endswith(f"-{agent.name}"):
        stem = f"{stem}-{agent.name}"
    taken = any(
        segments.segment_by_name(tx, f"{stem}{ending}.warc.gz") is not None
        for ending in ("", "-r1", "-withheld", "-quarantine")
    )
    return f"{stem}-{arrived.sha256[:12]}.warc.gz" if taken else f"{stem}.warc.gz"


def _keep(
    db: Database,
    reading: ExaminationTools,
    agent: AgentIdentity,
    arrived: Arrived,
    found: Examined,
    now_ms: int,
) -> Outcome:
    keys = {part.name: segment_key(agent.id, part.sha256) for part in found.parts}
    for part in found.parts:
        keep_files(reading, part, keys[part.name])
    with db.write() as tx:
        row = segments.arrival_by_sha256(tx, agent.id, arrived.sha256)
        if row is not None:
            return outcome_of(row, repeated=True)
        if agents.by_id(tx, agent.id) is None:
            raise ForbiddenError("general.agent_removed", agent=agent.name)
        new = NewArrival(
            agent_id=agent.id,
            name=arrived.name,
            sha256=arrived.sha256,
            size_bytes=arrived.size_bytes,
            received_ms=now_ms,
            **values_of(found, CaptureCounts),
        )
        number = segments.add_arrival(tx, new)
        for part in found.parts:
            enter_part(tx, part, number, agent.id, keys[part.name], now_ms)
        note(
            tx,
            now_ms,
            agent.actor,
            "segment.accept",
            arrived.name,
            alert=bool(found.strangers),
            captures=found.captures,
            strangers=found.strangers,
            withheld=found.withheld,
            refused=found.refused,
        )
    return outcome_of(new, repeated=False)


def indexes_in_trash(reading: ExaminationTools, key: str, day: str = "") -> Iterator[Path]:
    """Yield where the index of a segment may lie in the trash. day: looked at first."""
    folder = reading.layout.trash
    days = sorted((path.name for path in folder.glob("*-*-*")), reverse=True)
    for one in [day, *days] if day else days:
        yield folder / one / index_name(key)


def keep_files(reading: ExaminationTools, part: SegmentPart, key: str) -> None:
    """Put the files of a part where they stay; an index that no row named is replaced."""
    reading.store.put(part.path, key)
    index = reading.layout.index_file(key)
    replace_file(part.index, index, reading.layout.access)
    replace_file(part.cdxj, index.with_suffix(".cdxj"), reading.layout.access)


def enter_part(
    tx: Transaction,
    part: SegmentPart,
    arrival_id: int,
    agent_id: int,
    key: str,
    now_ms: int,
    revision: int = 0,
) -> None:
    """Enter a part whose files are in place; a public one is news for third parties.

    A host of it that was excluded in the meantime withdraws it at once.
    """
    excluded = segments.excluded_keys(tx, [host.host for host in part.hosts])
    number = segments.add_segment(
        tx,
        NewSegment(
            arrival_id=arrival_id,
            agent_id=agent_id,
            key=key,
            state="withdrawn" if excluded else "current",
            revision=revision,
            made_ms=now_ms,
            **values_of(part, SegmentFacts),
        ),
        {host.host: host for host in part.hosts},
    )
    if part.kind == "public" and not excluded:
        segments.add_change(tx, now_ms, "created", [(number, part.name)])


def _refused(
    db: Database, agent: AgentIdentity, arrived: Arrived, why: Message, now_ms: int
) -> Refused:
    with db.write() as tx:
        note(tx, now_ms, agent.actor, "segment.refuse", arrived.name, alert=True, reason=why)
    return Refused(why)
