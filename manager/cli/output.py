"""Print answers: tables for people, JSON for programs."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = [
    "Column",
    "answer_rows",
    "as_json",
    "bytes_text",
    "columns",
    "counts_text",
    "facts",
    "figure_text",
    "link_kinds",
    "more",
    "ms_text",
    "printable",
    "say",
    "table",
    "time_text",
]


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print sentences, in which nouns agree with their numbers."""
    click.echo(with_plurals(text), err=err, nl=nl)


def as_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


@frozen
class Column:
    """A column of a printed table.

    value: a field of the row, or a function of the row; empty: the field of the title's name.
    text: how that value is written, as `time_text`.
    """

    title: str
    value: str | Callable[[Any], object] = ""
    text: Callable[[Any], object] | None = None

    def cell(self, row: Any) -> str:
        """Return the text of a row; control characters cannot move the cursor."""
        value = self.value(row) if callable(self.value) else row[self.value or self.title]
        return with_plurals(printable(value if self.text is None else self.text(value)))


def columns(*titles: str) -> list[Column]:
    """Return columns that are named as the fields that they show."""
    return [Column(title) for title in titles]


def table(rows: Iterable[Any], empty: str, *shown: Column) -> None:
    """Print rows in columns, or `empty` where there is none."""
    cells = [[column.cell(row) for column in shown] for row in rows]
    if not cells:
        say(empty)
        return
    lines = [[column.title for column in shown], *cells]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip()[: _width()])


def answer_rows(rows: list[Any], empty: str, *shown: Column) -> Iterator[Any]:
    """Yield rows as a command's answer, then print them as a table."""
    yield rows
    table(rows, empty, *shown)


def link_kinds(kinds: Iterable[dict[str, Any]]) -> None:
    """Print what each kind of links brought, where any did."""
    rows = list(kinds)
    if rows:
        click.echo()
        titles = Column("links of kind", "kind"), Column("URLs", "links")
        table(rows, "", *titles, *columns("pages", "missing"))


def more(total: int, end: int) -> None:
    """Print how many rows follow those up to `end`, and how to see them."""
    if total > end:
        say(f"... {total - end} more; --offset {end} continues")


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one a line; skip empty values."""
    shown = [
        (name, with_plurals(printable(value)))
        for name, value in pairs
        if value not in (None, "", [])
    ]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{name.ljust(width)}  {value}")


def counts_text(counts: dict[str, int]) -> str:
    """Return counts by name in words."""
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())


def printable(value: object) -> str:
    """Return a value as text that cannot move the cursor."""
    text = "-" if value is None else str(value)
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def time_text(at_ms: int | None) -> str:
    """Return a time in this machine's zone, or `-`."""
    if at_ms is None:
        return "-"
    moment = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S %z")


def ms_text(duration_ms: float | None) -> str:
    """Return a duration as a person would say it, or `-`."""
    if duration_ms is None:
        return "-"
    for unit_ms, name in ((3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if duration_ms >= unit_ms:
            return f"{duration_ms / unit_ms:.1f} {name}"
    return f"{duration_ms:.0f} ms"


def bytes_text(size_bytes: float | None) -> str:
    """Return a size as a person would say it, or `-`."""
    if size_bytes is None:
        return "-"
    for unit_bytes, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB")):
        if size_bytes >= unit_bytes:
            return f"{size_bytes / unit_bytes:.1f} {name}"
    return f"{size_bytes:.0f} B"


def figure_text(number: float | None) -> str:
    """Return a number in three digits, more only before the point, never with an exponent."""
    if number is None:
        return "-"
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    if abs(number) >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if abs(number) >= 0.01 else "<0.01"


def _width() -> int:
    # Where the output is no terminal, lines are whole.
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
