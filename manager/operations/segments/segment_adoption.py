"""Enter a segment that no row names: its agent, its hosts, an arrival, and its parts.

Invariants: what is entered has the bytes that its name says, and its files are in place before the
transaction that names them; a segment that was left unchanged can be tried again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from manager.assignment.right_history import SLACK_MS, RightPeriod
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.hosts.hosts import NewHost
from manager.db.segments import segments as archive
from manager.db.segments.segments import NewArrival
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.identity.installation import MarkedFiles
from manager.operations.logs.reports import held_during
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    enter_part,
    fetch_segment,
    indexes_in_trash,
)
from manager.store.durable_files import move, sync_file
from manager.store.segments.segment_examination import Examined, RefusedSegment, SegmentJob
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_rebuild import RebuildJob
from manager.store.segments.segment_store import segment_key
from manager.store.segments.trash import TrashEntry, index_name
from shared.archive.segment_facts import CaptureCounts
from shared.frozen import frozen, values_of
from shared.messages import Message
from shared.urls import reversed_host_key

__all__ = ["Adoption", "IdOf", "NotEntered", "Rebuild", "ReportProgress", "SegmentAdoption"]

_NAME: Final = re.compile(
    r".*-[0-9]{14}-[0-9]+-(?P<agent>.+?)"
    r"(?:-[0-9a-f]{12})?(?:-r[0-9]+|-withheld|-quarantine)*\.warc\.gz"
)
_REVISION: Final = re.compile(r"-r([0-9]{1,6})\.warc\.gz$")

IdOf = Literal["", "database", "files"]
ReportProgress = Callable[[int, int], None]
Rebuild = Callable[[RebuildJob], Examined | RefusedSegment]
"""Whoever reads a segment elsewhere, as `Workers.run_here`."""


@message_fields
@frozen
class NotEntered:
    """A segment that was left unchanged, and why."""

    key: str
    reason: Message


@frozen
class Adoption:
    """The input of an adoption. trusted: captures of segments without an index are public.

    id_of: whose id both have afterwards, `database` or `files`; empty: the files', where the
    database knows no agent, else the database's. at_once: segments that are read side by side.
    progress: called with how many are done, and of how many.
    """

    db: Database
    reading: ExaminationTools
    files: MarkedFiles
    rebuild: Rebuild
    dry_run: bool = False
    trusted: bool = False
    id_of: IdOf = ""
    at_once: int = 1
    progress: ReportProgress = lambda _done, _of: None


@dataclass
class SegmentAdoption:
    """Enters segments, and counts; several threads may read, and one at a time enters."""

    asked: Adoption
    actor: Actor
    now_ms: int
    segments: int = 0
    captures: int = 0
    quarantined: int = 0
    new_agents: set[str] = field(default_factory=set)
    new_hosts: set[str] = field(default_factory=set)
    entered: list[str] = field(default_factory=list)
    not_entered: list[NotEntered] = field(default_factory=list)
    _entering: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, key: str, entry: TrashEntry | None) -> None:
        """Enter one segment, or note why not. entry: where it lies in the trash; None: in place.

        Raises StoreFullError, BusyError.
        """
        with self.asked.reading.scratch() as folder:
            why = self._entered(key, entry, folder)
        if why is not None:
            self.not_entered.append(NotEntered(key, why))

    def _entered(self, key: str, entry: TrashEntry | None, folder: Path) -> Message | None:
        """Enter one segment; return why not, or None."""
        number, _, file = key.partition("/")
        source = _here(self.asked.reading, key, entry, folder)
        job = self._job(int(number), file.partition(".")[0], source, folder)
        reading = self.asked.reading
        trashed = indexes_in_trash(reading, key, "" if entry is None else entry.day)
        indexes = (reading.layout.index_file(key), *trashed)
        wanted = RebuildJob(job, indexes, "", self.asked.trusted)
        found = self.asked.rebuild(wanted)
        if isinstance(found, RefusedSegment):
            return found.message
        if not found.parts:
            return Message("segments.all_excluded", captures=found.captures)
        with self._entering:
            return self._enter_found(key, entry, found, wanted)

    def _enter_found(
        self, key: str, entry: TrashEntry | None, found: Examined, wanted: RebuildJob
    ) -> Message | None:
        """Enter the parts of a segment; return the reason if they are not entered, else None."""
        job = wanted.job
        number, source, folder = key.partition("/")[0], job.path, job.folder
        agent = self._agent_of(int(number), found.parts[0].name)
        with self.asked.db.read() as tx:
            row = agents.by_name(tx, agent)
            if row is not None and archive.arrival_by_sha256(tx, row.id, job.sha256) is not None:
                return Message("segments.already_entered")
            name = _free_name(tx, found, job.sha256)
        if name != found.parts[0].name:
            for made in set(folder.iterdir()) - {source}:
                made.unlink()
            renamed = self.asked.rebuild(replace(wanted, name=name))
            assert isinstance(renamed, Examined), "the same bytes were read a moment ago"
            found = renamed
        self._count(found, agent)
        if not self.asked.dry_run:
            keys = {part.name: _key_of(part, key) for part in found.parts}
            for part in found.parts:
                _keep(self.asked.reading, part, keys[part.name], entry)
            # Where the segment was moved into place, it is its one part.
            size_bytes = source.stat().st_size if source.exists() else found.parts[0].size_bytes
            self._write(found, agent, keys, job.sha256, size_bytes)
        return None

    def _write(
        self, found: Examined, agent: str, keys: dict[str, str], sha256: str, size_bytes: int
    ) -> None:
        name = found.parts[0].name
        with self.asked.db.write() as tx:
            agent_id = _agent_id(tx, agent, self.now_ms)
            hosts.add_hosts(tx, _hosts_of(found), self.now_ms)
            is_taken = archive.arrival_by_name(tx, agent_id, name) is not None
            new = NewArrival(
                agent_id=agent_id,
                name=_with_digest(name, sha256) if is_taken else name,
                sha256=sha256,
                size_bytes=size_bytes,
                received_ms=self.now_ms,
                **values_of(found, CaptureCounts),
            )
            arrival = archive.add_arrival(tx, new)
            for part in found.parts:
                revision = _REVISION.search(part.name)
                number = int(revision[1]) if revision else 0
                enter_part(tx, part, arrival, agent_id, keys[part.name], self.now_ms, number)
            note(tx, self.now_ms, self.actor, "segment.adopt", name, captures=found.captures)

    def _job(self, number: int, sha256: str, source: Path, folder: Path) -> SegmentJob:
        """Return how a segment without an index is examined: by the rights of its agent."""
        with self.asked.db.read() as tx:
            row = agents.by_id(tx, number)
            excluded = archive.excluded_keys(tx)
        held: tuple[RightPeriod, ...] = ()
        if row is not None:
            identity = AgentIdentity(row.id, row.name, "plain" if row.is_plain else "sync")
            during = held_during(self.asked.db, identity, -SLACK_MS, self.now_ms + SLACK_MS)
            held = during.held
        agent = f"agent-{number}" if row is None else row.name
        return SegmentJob(
            path=source,
            sha256=sha256,
            folder=folder,
            name=f"adopted-{sha256[:12]}-{agent}.warc.gz",
            held=held,
            excluded=frozenset(excluded),
            now_ms=self.now_ms,
            memory_bytes=self.asked.reading.memory_bytes,
            cpu_s=self.asked.reading.cpu_s,
        )

    def _agent_of(self, number: int, name: str) -> str:
        """Return the name of a segment's agent: of this number, if the name fits, or by the name.

        Another installation's agent may have had the number.
        """
        with self.asked.db.read() as tx:
            row = agents.by_id(tx, number)
        if row is not None and f"-{row.name}" in name:
            return row.name
        found = _NAME.fullmatch(name)
        return found["agent"] if found else f"agent-{number}"

    def _count(self, found: Examined, agent: str) -> None:
        with self.asked.db.read() as tx:
            for host in _hosts_of(found):
                if hosts.by_key(tx, host.key) is None:
                    self.new_hosts.add(host.key)
            if agents.by_name(tx, agent) is None:
                self.new_agents.add(agent)
        self.segments += len(found.parts)
        self.captures += sum(part.captures for part in found.parts)
        self.quarantined += found.strangers
        self.entered += [part.name for part in found.parts]


def _hosts_of(found: Examined) -> list[NewHost]:
    """Return the hosts that a segment may give away: selected, and taken down, by their rows."""
    new = {
        host.host: NewHost(host.host, reversed_host_key(host.host), None, None)
        for part in found.parts
        if part.kind != "quarantined"
        for host in part.hosts
    }
    return list(new.values())


def _key_of(part: SegmentPart, key: str) -> str:
    """Return where a part lies: the file that it is of, or one that was made of that."""
    number, _, file = key.partition("/")
    return key if file.startswith(part.sha256) else segment_key(int(number), part.sha256)


def _keep(reading: ExaminationTools, part: SegmentPart, key: str, entry: TrashEntry | None) -> None:
    """Put the files of a part where they stay; an index that is there is replaced."""
    if entry is not None and entry.key == key:
        reading.trash.give_back(entry)
    elif not reading.store.has(key):
        reading.store.put(part.path, key)
    index = reading.layout.index_file(key)
    reading.layout.access.make_folder(index.parent)
    for made, target in ((part.index, index), (part.cdxj, index.with_suffix(".cdxj"))):
        sync_file(made)
        move(made, target)
        reading.layout.access.give(target)
        if entry is not None:
            reading.trash.delete(replace(entry, name=index_name(key, target.suffix)))


def _here(reading: ExaminationTools, key: str, entry: TrashEntry | None, folder: Path) -> Path:
    """Return a file with the bytes of a segment; of an object store it is fetched."""
    path = reading.store.path(key)
    if path is not None:
        return path if entry is None else reading.trash.path(entry)
    opened = reading.store.open(key) if entry is None else reading.trash.open(entry)
    return fetch_segment(opened, folder)


def _agent_id(tx: Transaction, name: str, now_ms: int) -> int:
    """Return the number of an agent; one that is unknown is entered as retired, until it joins."""
    row = agents.by_name(tx, name)
    if row is not None:
        return row.id
    number = agents.add(tx, name, "sync", None, now_ms)
    agents.update(tx, number, retired_ms=now_ms, subscribed=False)
    return number


def _free_name(tx: Transaction, found: Examined, sha256: str) -> str:
    """Return the name of a segment's first part, or one that no other segment has."""
    name = found.parts[0].name
    if all(archive.segment_by_name(tx, part.name) is None for part in found.parts):
        return name
    return _with_digest(name, sha256)


def _with_digest(name: str, sha256: str) -> str:
    return f"{name.removesuffix('.warc.gz')}-{sha256[:12]}.warc.gz"
