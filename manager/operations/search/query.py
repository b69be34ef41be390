"""Typed texts, read as the name, number or URL of something.

`12` is the number of any subject, `round 12`, `#12 ` and `ラウンド12` name the subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from manager.operations.hosts.typed_hosts import TypedHost, storable, typed_host
from manager.operations.search.hits import Kind, Match
from shared.frozen import frozen
from shared.idn import folded

__all__ = ["NUMBERED", "Query", "read_query"]

LARGEST: Final = 2**63 - 1
_WORDS: Final[Mapping[str, tuple[Kind, ...]]] = {
    "": ("round", "plan", "round-schedule", "collection-schedule", "audit"),
    "no": ("round", "plan", "round-schedule", "collection-schedule", "audit"),
    "第": ("round", "plan", "round-schedule", "collection-schedule", "audit"),
    "round": ("round",),
    "rounds": ("round",),
    "ラウンド": ("round",),
    "plan": ("plan",),
    "plans": ("plan",),
    "割り当て案": ("plan",),
    "schedule": ("round-schedule", "collection-schedule"),
    "schedules": ("round-schedule", "collection-schedule"),
    "予定": ("round-schedule", "collection-schedule"),
    "定時実行": ("round-schedule", "collection-schedule"),
    "audit": ("audit",),
    "監査": ("audit",),
    "監査記録": ("audit",),
}
NUMBERED: Final = frozenset(_WORDS[""])
"""Kinds that have numbers."""

_NUMBER: Final = re.compile(r"([^\W\d_]*)\s*(?:#|no\.?\s*|第)?\s*([0-9]{1,19})\s*(?:番|回)?")


@frozen
class Query:
    """A typed text. folded: without case and width. number: of the kinds in `numbered`."""

    text: str
    folded: str
    host: TypedHost
    number: int | None
    numbered: tuple[Kind, ...]

    def match(self, *names: str) -> Match | None:
        """Return how the text fits a thing of some names; None: not at all."""
        compared = [folded(name) for name in names]
        if self.folded in compared or self.folded.rstrip(".") in compared:
            return "exact"
        return "part" if any(self.folded in name for name in compared) else None


def read_query(text: str) -> Query:
    """Return what a text may mean."""
    text = storable(text).strip()
    said = folded(text)
    match = _NUMBER.fullmatch(said)
    kinds = _WORDS.get(match[1], ()) if match else ()
    number = int(match[2]) if match and kinds else None
    if number is not None and number > LARGEST:
        number, kinds = None, ()
    return Query(text, said, typed_host(text), number, kinds)
