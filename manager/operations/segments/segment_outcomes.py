"""Outcomes of an arrived segment for its agent: accepted, quarantined or refused."""

from __future__ import annotations

from pathlib import Path

from manager.db.segments.segments import ArrivalRow, NewArrival
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Accepted", "Arrived", "Outcome", "Quarantined", "Refused"]


@frozen
class Arrived:
    """A file that came whole: synced, its SHA-256 as its sender said. name: as the sender says."""

    path: Path
    name: str
    sha256: str
    size_bytes: int


@frozen
class Accepted:
    """It is kept. withheld: not given away (noindex, noarchive). refused: of excluded hosts."""

    name: str
    captures: int
    withheld: int
    refused: int
    repeated: bool
    said: Message


@frozen
class Quarantined:
    """It is kept, and what is of hosts that the agent did not hold then is set apart."""

    name: str
    captures: int
    strangers: int
    repeated: bool
    said: Message


@frozen
class Refused:
    """It is not kept, and why. for_good: the same bytes will never be taken."""

    said: Message
    for_good: bool = True


Outcome = Accepted | Quarantined | Refused


def outcome_of(row: NewArrival | ArrivalRow, *, repeated: bool) -> Outcome:
    """Return the outcome that an arrival was recorded with."""
    said = _message_of(row)
    if row.strangers:
        return Quarantined(
            name=row.name,
            captures=row.captures,
            strangers=row.strangers,
            repeated=repeated,
            said=said,
        )
    return Accepted(
        name=row.name,
        captures=row.captures,
        withheld=row.withheld,
        refused=row.refused,
        repeated=repeated,
        said=said,
    )


def _message_of(row: NewArrival | ArrivalRow) -> Message:
    counts = {
        "segments.part_quarantined": row.strangers,
        "segments.part_withheld": row.withheld,
        "segments.part_discarded": row.refused,
    }
    parts = [Message(code, captures=captures) for code, captures in counts.items() if captures]
    if not parts:
        return Message("segments.accepted", captures=row.captures)
    return Message("segments.accepted_in_parts", captures=row.captures, parts=parts)
