"""Lists as CSV (RFC 4180), a row at a time, safe to open in a spreadsheet.

Invariant: no cell of text begins with `= + - @`, a tab or a line's end: spreadsheets would run it
as a formula. Such a cell gets an apostrophe before it. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from manager.console import figures
from manager.console.visible_text import visible
from shared.messages import Message

__all__ = ["MARK", "MARKED_IN", "ROWS_AT_ONCE", "Cell", "csv_lines", "moment_cell", "plain_cell"]

Cell = str | int | float | bool | Message | None
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
ROWS_AT_ONCE: Final = 500
MARK: Final = "\ufeff"
MARKED_IN: Final = frozenset({"ja"})
"""Where spreadsheets take a file without a mark for another encoding (Shift_JIS)."""


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the text of a table in pieces of some rows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(header)
    for number, row in enumerate(rows, 1):
        writer.writerow([plain_cell(cell) for cell in row])
        if number % ROWS_AT_ONCE == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def moment_cell(at_ms: int | None) -> str | None:
    """Return a moment as all files have it, ISO 8601 in UTC; an empty cell where there is none."""
    return None if at_ms is None else figures.iso(at_ms)


def plain_cell(cell: Cell) -> str | int | float:
    """Return a value as CSV has it: no formula, nothing hidden."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Message):
        cell = str(cell)
    if not isinstance(cell, str):
        return cell
    return visible(f"'{cell}" if cell.startswith(_FORMULA) else cell)
