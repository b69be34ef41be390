"""Files of a table's rows, sent while they are made: CSV, and JSON with the same values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from starlette.responses import StreamingResponse

from manager.console.csv_export import MARK, MARKED_IN, ROWS_AT_ONCE, Cell, csv_lines
from manager.console.language import current
from manager.console.streamed_files import in_threads
from shared.messages import Message

__all__ = ["file_response", "json_lines"]

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
