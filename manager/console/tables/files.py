"""Files of a table's rows, sent while they are made: CSV (RFC 4180), and JSON with the same values.

Invariant: no CSV cell of text begins with `= + - @`, a tab or a line's end: spreadsheets would run
it as a formula. Such a cell gets an apostrophe before it. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from starlette.responses import StreamingResponse

from manager.console import figures
from manager.console.language import current
from manager.console.streamed_files import in_threads
from manager.console.visible_text import visible
from shared.messages import Message

__all__ = ["Cell", "csv_lines", "file_response", "json_lines", "moment_cell", "plain_cell"]

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


MEDIA: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_MARKS: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""Characters of JSON texts that no browser may take for marks of a page."""


def file_response(
    name: str, kind: Literal["csv", "json"], names: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> StreamingResponse:
    """Return the answer that a browser saves as `name`.`kind`. names: of the columns.

    Its first piece is made at once: what is refused is refused as a page, not in mid-file. To a
    Japanese page's reader CSV begins with a mark that says UTF-8; scripts ask in no language.
    """
    pieces = csv_lines(names, rows) if kind == "csv" else json_lines(names, rows)
    first = next(pieces)
    if kind == "csv" and current() in MARKED_IN:
        first = MARK + first
    return StreamingResponse(
        in_threads(_all(first, pieces)),
        media_type=MEDIA[kind],
        headers={"Content-Disposition": f'attachment; filename="{name}.{kind}"'},
    )


def _all(first: str, pieces: Iterator[str]) -> Iterator[str]:
    yield first
    yield from pieces


def json_lines(names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield an array of objects, one a line, in pieces of some rows; a file cut short is no JSON.

    Numbers, yes and no, and unknown values stay what they are; moments are ISO 8601 in UTC.
    """
    pieces, separator = ["["], "\n"
    for number, row in enumerate(rows, 1):
        values = dict(zip(names, map(_plain, row), strict=True))
        pieces += (separator, json.dumps(values, allow_nan=False).translate(_MARKS))
        separator = ",\n"
        if number % ROWS_AT_ONCE == 0:
            yield "".join(pieces)
            pieces.clear()
    yield "".join((*pieces, "\n]\n"))


def _plain(cell: Cell) -> str | float | bool | None:
    if isinstance(cell, Message):
        return str(cell)
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
