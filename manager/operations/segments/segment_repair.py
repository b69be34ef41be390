"""Repair of damaged segments: from the copy that their agent still keeps, or an index from its
segment.

Invariant: a reader finds the damaged bytes or the right ones, never a part. Where the copy gives
the same bytes as before they replace the damaged ones under their key and name. Else, as where a
host was excluded since, the segment gets a new name, and third parties learn of both.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.segments import integrity, segments
from manager.db.segments.segments import SegmentRow
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.identity.enrolment import AgentIdentity, identity_by_id
from manager.operations.segments.archive_upkeep import local_copy, next_name, remove_files
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    enter_part,
    keep_files,
    segment_job,
)
from manager.operations.segments.segment_outcomes import Accepted, Arrived, Outcome, Refused
from manager.store.segments.segment_examination import Examined, RefusedSegment
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_rewrite import RewriteJob, rewrite_segment
from manager.store.segments.segment_store import replace_file, segment_key
from shared.messages import Message

__all__ = ["accept_again", "damaged_segments", "rebuild_index"]

_ENDINGS: Final = ("-r1", "-withheld", "-quarantine")


def damaged_segments(db: Database, agent_id: int, sha256: str) -> list[SegmentRow]:
    """Return the segments of an arrival that are not whole."""
    with db.read() as tx:
        return integrity.damaged_of_arrival(tx, agent_id, sha256)


def accept_again(
    db: Database,
    reading: ExaminationTools,
    agent: AgentIdentity,
    arrived: Arrived,
    damaged: list[SegmentRow],
    now_ms: int,
) -> Outcome:
    """Take a file that was taken before, and replace its damaged segments.

    When it is kept, `arrived.path` is removed. Raises InstallationError, BusyError, StoreFullError.
    """
    reading.check()
    with reading.scratch() as folder:
        job = replace(
            segment_job(db, reading, agent, arrived, folder, now_ms), name=_base_name(damaged)
        )
        found = reading.examine(job)
        if isinstance(found, RefusedSegment):
            return Refused(found.message)
        repaired = _repair(db, reading, damaged, found, agent.actor, now_ms)
    arrived.path.unlink(missing_ok=True)
    code = "segments.repaired" if repaired else "segments.nothing_repaired"
    said = Message(code, captures=found.captures, segments=repaired)
    return Accepted(
        arrived.name, found.captures, found.withheld, found.refused, repeated=True, said=said
    )


def rebuild_index(db: Database, reading: ExaminationTools, segment_id: int, now_ms: int) -> bool:
    """Make the index of a whole segment again; return whether it could be. Raises BusyError."""
    with db.read() as tx:
        row = integrity.segment_by_id(tx, segment_id)
    if row is None or row.state == "gone":
        return False
    reading.check()
    with reading.scratch() as folder:
        arrived = Arrived(local_copy(reading, row, folder), row.name, row.sha256, row.size_bytes)
        agent = identity_by_id(db, row.agent_id)
        work = folder / "index"
        work.mkdir(mode=0o700)
        job = replace(
            segment_job(db, reading, agent, arrived, work, now_ms), name=_base_name([row])
        )
        found = reading.examine(job)
        part = None if isinstance(found, RefusedSegment) else _part_of(found, row)
        if part is None or (part.sha256, part.name) != (row.sha256, row.name):
            return False
        _replace(db, reading, row, part, CLOCK, now_ms, answer="rebuilt")
    return True


def _base_name(rows: list[SegmentRow]) -> str:
    """Return the name that an arrival had before it was divided."""
    row = rows[0]
    if row.revision:
        return row.name
    stem = row.name.removesuffix(".warc.gz")
    ending = next((one for one in _ENDINGS if stem.endswith(one)), "")
    return f"{stem.removesuffix(ending)}.warc.gz"


def _part_of(found: Examined, row: SegmentRow) -> SegmentPart | None:
    return next((one for one in found.parts if one.kind == row.kind), None)


def _repair(
    db: Database,
    reading: ExaminationTools,
    damaged: list[SegmentRow],
    found: Examined,
    actor: Actor,
    now_ms: int,
) -> list[str]:
    """Put the parts of an arrival in place of damaged segments; return the names of those."""
    repaired = []
    for row in damaged:
        part = _part_of(found, row)
        if part is None:
            continue  # the arrival no longer has a part of this kind
        if (part.sha256, part.name) == (row.sha256, row.name):
            _replace(db, reading, row, part, actor, now_ms)
        else:
            _succeed(db, reading, row, part, actor, now_ms)
        repaired.append(row.name)
    return repaired


def _replace(
    db: Database,
    reading: ExaminationTools,
    row: SegmentRow,
    part: SegmentPart,
    actor: Actor,
    now_ms: int,
    answer: str = "repaired",
) -> None:
    """Replace the files of a segment by the same bytes."""
    _replace_files(reading, part, row.key, with_segment=answer == "repaired")
    with db.write() as tx:
        integrity.set_index(
            tx,
            row.id,
            index_bytes=part.index_bytes,
            index_sha256=part.index_sha256,
            cdxj_bytes=part.cdxj_bytes,
            cdxj_sha256=part.cdxj_sha256,
        )
        for problem in integrity.problems_of_segments(tx, [row.id]):
            integrity.end_problem(tx, problem.kind, problem.place, now_ms, answer)
        note(tx, now_ms, actor, "segment.repair", row.name, answer=answer)


def _succeed(
    db: Database,
    reading: ExaminationTools,
    row: SegmentRow,
    part: SegmentPart,
    actor: Actor,
    now_ms: int,
) -> None:
    """Replace a damaged segment by a new one."""
    with reading.scratch() as folder:
        named = rewrite_segment(
            RewriteJob(
                source=part.path,
                index=part.index,
                folder=folder,
                name=next_name(row),
                kind=row.kind,
                without=(),
                memory_bytes=reading.memory_bytes,
            )
        )
        assert named is not None, "a part has captures"
        key = segment_key(row.agent_id, named.sha256)
        if key == row.key:
            _replace_files(reading, named, key, with_segment=True)
        else:
            keep_files(reading, named, key)
        with db.write() as tx:
            if not archive_withdrawals.end_segment(tx, row.id):
                return
            if row.kind == "public" and row.state == "current":
                segments.add_change(tx, now_ms, "deleted", [(row.id, row.name)])
            if key == row.key:
                integrity.free_key(tx, row.id)
            enter_part(tx, named, row.arrival_id, row.agent_id, key, now_ms, row.revision + 1)
            for problem in integrity.problems_of_segments(tx, [row.id]):
                integrity.end_problem(tx, problem.kind, problem.place, now_ms, "repaired")
            note(tx, now_ms, actor, "segment.repair", row.name, answer="repaired", new=named.name)
    if key != row.key:
        remove_files(db, reading, row.key)


def _replace_files(
    reading: ExaminationTools, part: SegmentPart, key: str, *, with_segment: bool
) -> None:
    """Put the files of a part in place of those of a key, each at once."""
    if with_segment:
        reading.store.replace(part.path, key)
    index = reading.layout.index_file(key)
    access = reading.layout.access
    pairs: list[tuple[Path, Path]] = [(part.index, index), (part.cdxj, index.with_suffix(".cdxj"))]
    for source, target in pairs:
        replace_file(source, target, access)
