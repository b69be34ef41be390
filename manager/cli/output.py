"""Print answers: tables for people, JSON for programs."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from shared.plurals import with_plurals

__all__ = [
    "as_json",
    "bytes_text",
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


def link_kinds(kinds: Iterable[dict[str, Any]]) -> None:
    """Print what each kind of links brought, where any did."""
    rows = [(one["kind"], one["links"], one["pages"], one["missing"]) for one in kinds]
    if rows:
        click.echo()
        table(("links of kind", "URLs", "pages", "missing"), rows, "")


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Print rows in columns; control characters in foreign text cannot move the cursor."""
    cells = [[with_plurals(printable(cell)) for cell in row] for row in rows]
    if not cells:
        say(empty)
        return
    widths = [
        max(len(titles[column]), *(len(row[column]) for row in cells))
        for column in range(len(titles))
    ]
    for line in [list(titles), *cells]:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip()[: _width()])


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
