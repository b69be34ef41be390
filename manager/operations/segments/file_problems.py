"""Kept files that are missing or damaged: recorded, reported, and ordered again from agents.

A damaged segment, or one whose index is, is ordered from the agent that sent it by a collection
order `full`: the agent offers the files that it still keeps, and the manager takes a file that it
already had (`segment_repair`). Invariant: a problem ends only when the file was read again and is
whole, was replaced, or no row needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.segments import collection_orders, integrity
from manager.db.segments.integrity import ProblemRow
from manager.operations.actor import CLOCK, note
from manager.operations.alert import Alert
from manager.operations.segments.collection_orders import ORDERS_MOST, NewCollection, order_in
from manager.operations.segments.file_checks import FileFinding
from manager.operations.segments.kept_file_list import KeptFile
from manager.store.segments.verification import FileProblem
from shared.messages import Message

__all__ = [
    "ProblemRow",
    "answer_message",
    "ask_again",
    "file_alerts",
    "kind_message",
    "list_problems",
    "problem_message",
    "record_findings",
    "record_recovery",
]

ASK_AGAIN_MS: Final = 24 * 3_600_000
"""After an order that failed, or was cancelled."""
NAMED: Final = 5
MADE_BY: Final = "the scrub"


def list_problems(db: Database, limit: int = 100, before: int | None = None) -> list[ProblemRow]:
    """Return the files that are missing or damaged now, newest first, before a number."""
    with db.read() as tx:
        return integrity.open_problems(tx, limit, before)


def answer_message(answer: str) -> Message | None:
    """Return the outcome of a problem, by the word of its row; None: none yet."""
    return Message(f"segments.answer_{answer}") if answer else None


def kind_message(kind: str) -> Message:
    """Return the kind of a file, of `FileKind`."""
    return Message(f"segments.kind_{kind}")


def problem_message(problem: str) -> Message:
    """Return what is wrong with a file, of `FileProblem`."""
    return Message(f"segments.problem_{problem}")


def _row_message(one: ProblemRow) -> Message:
    """Return the problem of a file, with its outcome."""
    answer = answer_message(one.answer)
    return Message(
        "segments.damaged_file" if answer is None else "segments.damaged_file_answered",
        name=one.subject,
        kind=kind_message(one.kind),
        problem=problem_message(one.problem),
        answer=answer,
    )


def record_findings(db: Database, findings: Sequence[FileFinding], now_ms: int) -> int:
    """Write findings down; each new one is an alert in the audit. Return how many are new."""
    new = 0
    with db.write() as tx:
        for one in findings:
            if one.problem is FileProblem.NO_ROW:
                continue
            facts: dict[str, Any] = {
                "kind": one.kind.value,
                "place": one.place,
                "problem": one.problem.value,
                "detail": one.detail,
            }
            if integrity.note_problem(
                tx, now_ms, subject=one.subject, segment_id=one.segment_id, **facts
            ):
                new += 1
                facts["reason"] = Message(
                    "segments.damaged_file",
                    name=one.place,
                    kind=kind_message(one.kind),
                    problem=problem_message(one.problem),
                )
                note(tx, now_ms, CLOCK, "file.find-damaged", one.subject, alert=True, **facts)
    return new


def record_recovery(
    db: Database, file: KeptFile | ProblemRow, now_ms: int, answer: str = "sound"
) -> None:
    """End the problem of a file, where it has one."""
    with db.read() as tx:
        known = integrity.problem_at(tx, str(file.kind), file.place)
    if known is None or known.ended_ms is not None:
        return
    with db.write() as tx:
        if integrity.end_problem(tx, str(file.kind), file.place, now_ms, answer):
            note(
                tx, now_ms, CLOCK, "file.find-intact", file.subject, place=file.place, answer=answer
            )


def ask_again(db: Database, now_ms: int) -> int:
    """Order from agents what of their segments is not whole; return how many orders were made."""
    with db.read() as tx:
        waiting = [one for one in integrity.open_problems(tx, 10_000) if one.segment_id is not None]
    made = 0
    if waiting:
        with db.write() as tx:
            by_agent: dict[int, list[ProblemRow]] = {}
            for one in waiting:
                agent_id = _agent_to_ask(tx, one, now_ms)
                if agent_id is not None:
                    by_agent.setdefault(agent_id, []).append(one)
            for agent_id, problems in by_agent.items():
                made += _order(tx, agent_id, problems, now_ms)
    return made


def file_alerts(db: Database) -> list[Alert]:
    """Return one alert for all files that are not whole, which names the first."""
    with db.read() as tx:
        found = integrity.open_problems(tx, 1000)
    if not found:
        return []
    named = [_row_message(one) for one in found[:NAMED]]
    if len(found) > NAMED:
        named.append(Message("segments.more_files", files=len(found) - NAMED))
    return [Alert("files:", Message("segments.files_damaged", files=len(found), named=named))]


def _agent_to_ask(tx: Transaction, one: ProblemRow, now_ms: int) -> int | None:
    """Return the agent that is to be asked for a segment now; None: not now."""
    assert one.segment_id is not None
    arrival = integrity.arrival_of(tx, one.segment_id)
    row = None if arrival is None else agents.by_id(tx, arrival.agent_id)
    if row is None or row.is_plain or row.retired_ms is not None:
        if one.answer != "no_agent":
            integrity.update_problem(tx, one.id, answer="no_agent")
        return None
    if one.order_id is None:
        return row.id
    order = collection_orders.order_by_id(tx, one.order_id)
    if order is not None and order.state == "open":
        return None
    if order is not None and order.state == "done":
        if one.answer != "not_kept":
            integrity.update_problem(tx, one.id, answer="not_kept")
        return None
    ended_ms = now_ms if order is None else (order.ended_ms or now_ms)
    return row.id if now_ms - ended_ms >= ASK_AGAIN_MS else None


def _order(tx: Transaction, agent_id: int, problems: Sequence[ProblemRow], now_ms: int) -> int:
    if len(collection_orders.open_orders(tx, [agent_id])) >= ORDERS_MOST:
        return 0
    number = order_in(tx, agent_id, None, NewCollection("full"), MADE_BY, now_ms)
    for one in problems:
        integrity.update_problem(tx, one.id, order_id=number, asked_ms=now_ms, answer="asked")
    row = agents.by_id(tx, agent_id)
    assert row is not None, "it was found a moment ago"
    note(
        tx,
        now_ms,
        CLOCK,
        "collection.order",
        row.name,
        order=number,
        condition="full",
        way="push",
        segments=[one.subject for one in problems][:20],
    )
    return 1
