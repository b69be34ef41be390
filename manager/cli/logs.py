"""`prsm logs`, `reports` and `activity`: lines of crawl logs, the logs, and rates by them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, before_option, json_answer, json_option, pass_target

__all__ = ["activity", "logs", "reports"]

PORTION = 1000


@click.command()
@click.option("--host", default="", help="A name, or `*.example.jp` for all below it.")
@click.option("--url", default="", help="A part of it.")
@click.option("--status", default="", help="404, 5xx, `none` (no answer), or `bad`.")
@click.option("--kind", default="", help="probe, crawl or refetch.")
@click.option("--agent", default="", help="Only of this agent.")
@click.option(
    "--since",
    default="",
    help="A day or a moment, as 2026-11-21T04:30; UTC, or with a zone, as +09:00.",
)
@click.option("--until", default="", help="The same; a day is meant to its end.")
@click.option("--quarantined", is_flag=True, help="Only lines of units that the agent did not own.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10**9))
@json_option
@pass_target
def logs(target: Target, /, limit: int, as_json: bool, **wanted: Any) -> None:
    """Show lines of crawl logs, newest first; with --json one object a line."""
    lines = _lines(target, limit, wanted)
    if as_json:
        for line in lines:
            click.echo(json.dumps(line, ensure_ascii=False))
        return
    output.table(
        lines,
        "No line is like that.",
        output.Column("agent"),
        output.Column("time", _moment_text),
        output.Column("kind", _kind_text),
        output.Column("status", lambda line: line["status"] or "none"),
        output.Column("bytes", "response_bytes"),
        output.Column("ms", "elapsed_ms"),
        output.Column("url"),
    )


def _moment_text(line: dict[str, Any]) -> str:
    return ("" if line["is_exact"] else "~") + output.time_text(line["at_ms"])


def _kind_text(line: dict[str, Any]) -> str:
    return f"{line['kind']}{'' if line['unit'] is not None else ', quarantined'}"


def _lines(target: Target, limit: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield lines, portion by portion, until there are enough or all was looked at."""
    mark = ""
    while limit > 0:
        portion = target.calls.get("/logs", **wanted, mark=mark, limit=min(PORTION, limit))
        yield from portion["lines"]
        limit -= len(portion["lines"])
        mark = portion["next"]
        if mark is None:
            return


@click.command()
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@click.option("--agent", default="", help="Only of this agent.")
@before_option
@json_answer
def reports(target: Target, before: int | None, **wanted: Any) -> Iterator[Any]:
    """List the accepted crawl logs, newest first."""
    return output.answer_rows(
        target.calls.get("/reports", **wanted, before_id=before),
        "No log yet. Agents send them when they have finished a list.",
        output.Column("report", "name"),
        output.Column("received", "received_ms", output.time_text),
        output.Column("lines"),
        output.Column("not held", "quarantined"),
        output.Column("size", "size_bytes", output.bytes_text),
    )


@click.command()
@click.option("--steps", default=24, show_default=True, type=click.IntRange(1, 1000))
@click.option("--hours", default=1, show_default=True, type=click.IntRange(1, 744), help="Of each.")
@json_answer
def activity(target: Target, **window: Any) -> Iterator[Any]:
    """Show the fetch rate over time, from the received logs."""
    return output.answer_rows(
        target.calls.get("/overview/activity", **window),
        "",
        output.Column("from", "from_ms", output.time_text),
        output.Column("pages/s", "pages_per_s", output.figure_text),
        output.Column("bytes/s", "bytes_per_s", output.figure_text),
        output.Column("errors/s", "errors_per_s", output.figure_text),
    )
