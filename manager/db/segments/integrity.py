"""Passes over the kept files, and the files that are missing or damaged."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from manager.db.segments.segments import ArrivalRow, SegmentRow
from manager.db.tables import arrivals, file_problems, scrubs, segments
from manager.db.transaction import Transaction, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "ProblemRow",
    "ScrubRow",
    "add_scrub",
    "arrival_of",
    "damaged_of_arrival",
    "end_problem",
    "free_key",
    "last_scrub",
    "note_problem",
    "open_problems",
    "problem_at",
    "problems_of_segments",
    "segment_by_id",
    "set_index",
    "update_problem",
    "update_scrub",
]


@frozen
class ScrubRow:
    """A pass over the kept files. cursor: of the last row read."""

    id: int
    begun_ms: int
    ended_ms: int | None
    cursor: str
    total_files: int
    total_bytes: int
    files: int
    bytes: int
    problems: int


@message_fields
@frozen
class ProblemRow:
    """A kept file that is missing or damaged, as `tables.archive` describes it."""

    id: int
    kind: str
    place: str
    subject: str
    problem: str
    detail: Message | None
    segment_id: int | None
    found_ms: int
    seen_ms: int
    order_id: int | None
    asked_ms: int | None
    answer: str
    ended_ms: int | None


def last_scrub(tx: Transaction, *, ended: bool = False) -> ScrubRow | None:
    """Return the newest pass, or the newest that has ended."""
    query = sa.select(scrubs).order_by(scrubs.c.id.desc()).limit(1)
    if ended:
        query = query.where(scrubs.c.ended_ms.is_not(None))
    return tx.row(ScrubRow, query)


def add_scrub(tx: Transaction, **values: Any) -> None:
    """Begin a pass, and forget all but the last ones."""
    number = tx.add(scrubs, **values)
    tx.execute(scrubs.delete().where(scrubs.c.id < number - 100))


def update_scrub(tx: Transaction, number: int, **values: Any) -> None:
    """Write down how far a pass is."""
    tx.execute(scrubs.update().where(scrubs.c.id == number).values(**values))


def open_problems(tx: Transaction, limit: int, before: int | None = None) -> list[ProblemRow]:
    """Return files that are missing or damaged, the newest first, before a number."""
    query = sa.select(file_problems).where(file_problems.c.ended_ms.is_(None))
    return tx.rows(ProblemRow, newest_first(query, file_problems.c.id, limit, before))


def problem_at(tx: Transaction, kind: str, place: str) -> ProblemRow | None:
    """Return the problem of a file, also one that has ended."""
    c = file_problems.c
    return tx.row(ProblemRow, sa.select(file_problems).where(c.kind == kind, c.place == place))


def note_problem(tx: Transaction, now_ms: int, **values: Any) -> bool:
    """Write down a problem of a file; tell whether it is new, or has come back."""
    before = problem_at(tx, values["kind"], values["place"])
    if before is not None and before.ended_ms is None:
        update_problem(
            tx, before.id, problem=values["problem"], detail=values["detail"], seen_ms=now_ms
        )
        return False
    fresh = {
        "found_ms": now_ms,
        "seen_ms": now_ms,
        "order_id": None,
        "asked_ms": None,
        "answer": "",
        "ended_ms": None,
    }
    tx.upsert(file_problems, [{**values, **fresh}], ["kind", "place"])
    return True


def update_problem(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a problem."""
    tx.execute(file_problems.update().where(file_problems.c.id == number).values(**values))


def end_problem(tx: Transaction, kind: str, place: str, now_ms: int, answer: str) -> bool:
    """Write down that a file is whole again, or not needed; tell whether it was not."""
    c = file_problems.c
    mine = file_problems.update().where(c.kind == kind, c.place == place, c.ended_ms.is_(None))
    return bool(tx.changed(mine.values(ended_ms=now_ms, answer=answer)))


def problems_of_segments(tx: Transaction, segment_ids: Collection[int]) -> list[ProblemRow]:
    """Return the open problems of some segments and their indexes."""
    c = file_problems.c
    query = sa.select(file_problems).where(c.ended_ms.is_(None)).order_by(c.id)
    return tx.rows_among(ProblemRow, query, c.segment_id, segment_ids)


def segment_by_id(tx: Transaction, number: int) -> SegmentRow | None:
    """Return a segment, whatever its state."""
    return tx.row(SegmentRow, sa.select(segments).where(segments.c.id == number))


def arrival_of(tx: Transaction, segment_id: int) -> ArrivalRow | None:
    """Return the arrival that a segment was made of."""
    query = sa.select(arrivals).join(segments, segments.c.arrival_id == arrivals.c.id)
    return tx.row(ArrivalRow, query.where(segments.c.id == segment_id))


def set_index(tx: Transaction, segment_id: int, **values: Any) -> None:
    """Write down the index and CDXJ that were made again."""
    tx.execute(segments.update().where(segments.c.id == segment_id).values(**values))


def free_key(tx: Transaction, segment_id: int) -> None:
    """Give another segment the key of a removed one."""
    mine = segments.update().where(segments.c.id == segment_id)
    tx.execute(mine.values(key=segments.c.key + f"#{segment_id}"))


def damaged_of_arrival(tx: Transaction, agent_id: int, sha256: str) -> list[SegmentRow]:
    """Return the segments of an agent's arrival that are not whole, oldest first."""
    problem = sa.exists().where(
        file_problems.c.segment_id == segments.c.id, file_problems.c.ended_ms.is_(None)
    )
    query = (
        sa.select(segments)
        .join(arrivals, arrivals.c.id == segments.c.arrival_id)
        .where(
            arrivals.c.agent_id == agent_id,
            arrivals.c.sha256 == sha256,
            segments.c.state != "gone",
            problem,
        )
    )
    return tx.rows(SegmentRow, query.order_by(segments.c.id))
