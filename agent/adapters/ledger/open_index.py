"""Index of the open segment, so that a start need not read all its records.

With each commit the lines of the index that are new go into a row, with how far the segment was
written and the sum of all its bytes. A start adds the lines up and compares the sum: some seconds
for a segment of a gigabyte, where to unpack its records takes half a minute (docs/adr/0162).

Invariant: rows that do not tell of all committed bytes of the committed segment are not believed.
An older program may have written to the segment meanwhile, and knows no such rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.jobs.journal import pack, unpack
from shared.archive.segment import KnownSegment

__all__ = ["OpenIndex"]

ROWS_AT_A_TIME: Final = 64

_EXTENTS: Final = Query[tuple[str, int, int]](
    "SELECT segment, before_bytes, size_bytes FROM open_index ORDER BY id"
)
_LINES: Final = Query[tuple[int, bytes]](
    "SELECT id, lines FROM open_index WHERE id > ? ORDER BY id LIMIT ?"
)
_LAST: Final = Query[tuple[int, str, int, int, int]](
    "SELECT size_bytes, sha256, captures, first_ms, last_ms FROM open_index "
    "ORDER BY id DESC LIMIT 1"
)


class OpenIndex:
    """The rows of one segment, the open one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._segment = ""  # that the rows are of
        self._size_bytes = 0  # that they tell of
        self._gap = False  # they do not tell of all that lies before it

    def known(self, segment: str, size_bytes: int) -> KnownSegment | None:
        """Return what the rows say of a committed segment; None: they do not tell of all of it."""
        rows = self._database.ask(_EXTENTS)
        before = 0
        for name, begin, end in rows:
            if name != segment or begin != before:
                break
            before = end
        else:
            if rows and before == size_bytes:
                self._segment, self._size_bytes = segment, size_bytes
                return KnownSegment(*self._database.ask(_LAST)[0])
        self.give_up(segment)
        return None

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the index, with few rows in memory at a time."""
        last = 0
        while rows := self._database.ask(_LINES, (last, ROWS_AT_A_TIME)):
            for number, packed in rows:
                last = number
                yield from (line + b"\n" for line in unpack(packed) if line)

    def give_up(self, segment: str) -> None:
        """Keep nothing of a segment until the next one begins: its earlier part is not known."""
        self._database.run("DELETE FROM open_index")
        self._segment, self._size_bytes, self._gap = segment, 0, True

    def enter(self, segment: str, known: KnownSegment | None, lines: Sequence[bytes]) -> None:
        """Hand the lines since the last commit to the open transaction.

        segment: the open one; "": none is open. known: None where none is.
        """
        if segment != self._segment:
            self._database.run("DELETE FROM open_index")
            self._segment, self._size_bytes, self._gap = segment, 0, False
        if known is None or self._gap or known.size_bytes == self._size_bytes:
            return
        self._database.run(
            "INSERT INTO open_index (segment, before_bytes, size_bytes, sha256, captures, "
            "first_ms, last_ms, lines) VALUES (?,?,?,?,?,?,?,?)",
            (
                *(segment, self._size_bytes, known.size_bytes, known.sha256, known.captures),
                *(known.first_ms, known.last_ms, pack(line[:-1] for line in lines)),
            ),
        )
        self._size_bytes = known.size_bytes
