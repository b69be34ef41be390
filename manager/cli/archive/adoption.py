"""`prsm archive adopt` and `prsm archive trash`: files that no row names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError, UnreachableError, settings_of
from manager.cli.options import Target, json_answer, yes_option
from shared.errors import PrsmError

__all__ = ["adopt", "trash"]

PROGRESS_S: Final = 2.0


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--trust",
    "trusted",
    is_flag=True,
    help="Give away captures of segments whose index is lost, without proof that their agents "
    "held the hosts then; else they are quarantined.",
)
@click.option(
    "--id-of",
    type=click.Choice(["database", "files"]),
    help="Whose installation id both have afterwards; the files', if the database knows no agent, "
    "else the database's. Agents know the one that they joined.",
)
@yes_option
@json_answer
def adopt(
    target: Target, dry_run: bool, trusted: bool, id_of: str | None, yes: bool
) -> Iterator[Any]:
    """Assign the archive's files to this database, and enter segments without a row.

    For a database that was lost, or restored from an older backup. It works beside a running
    manager, and where `prsm serve` refuses to start. It takes segments out of the trash, too, and
    deletes nothing.
    """
    if not dry_run and not yes:
        click.confirm(
            f"The files of {target.data} will belong to its database from now on. Continue?",
            abort=True,
        )
    asked = {"dry_run": dry_run, "trusted": trusted, "id_of": id_of or ""}
    try:
        done: dict[str, Any] = target.calls.post("/archive/adopt", asked)
    except UnreachableError:
        done = _adopted_here(target, asked)
    yield done
    _show(done)


def _adopted_here(target: Target, asked: dict[str, Any]) -> dict[str, Any]:
    from pydantic import TypeAdapter  # noqa: PLC0415

    from manager.app.maintenance.adoption import adopt_files  # noqa: PLC0415 - only this needs the database
    from manager.clock import wall_clock_ms  # noqa: PLC0415
    from manager.operations.actor import Actor  # noqa: PLC0415

    settings = settings_of(target.data, target.config)
    actor = Actor("local", "local")
    try:
        done = adopt_files(settings, actor, wall_clock_ms, **asked, progress=_ProgressLine().show)
    except PrsmError as error:
        raise RefusedError.of(error) from error
    adopted: dict[str, Any] = TypeAdapter(type(done)).dump_python(done, mode="json")
    return adopted


class _ProgressLine:
    """Line on standard error: how many segments were read."""

    def __init__(self) -> None:
        self._began_s = self._said_s = time.monotonic()

    def show(self, done: int, of: int) -> None:
        """Print the line, at most one every `PROGRESS_S` seconds."""
        now_s = time.monotonic()
        if now_s - self._said_s >= PROGRESS_S:
            self._said_s = now_s
            passed = output.ms_text(1000 * (now_s - self._began_s))
            output.say(f"{done} of {of} segments read, {passed}", err=True)


def _show(done: dict[str, Any]) -> None:
    would = "would be " if done["dry_run"] else ""
    output.say(f"installation {done['installation']}{_ID_FROM[done['id_from']]}")
    output.say(
        f"{done['segments']} segments with {done['captures']} captures {would}entered, of these "
        f"{done['quarantined']} captures quarantined"
    )
    if done["given_back"]:
        output.say(f"{done['given_back']} files that rows name {would}taken out of the trash")
    if done["new_agents"] or done["new_hosts"]:
        output.say(
            f"{done['new_agents']} agents and {done['new_hosts']} hosts were unknown, and {would}"
            "entered: agents as retired until they join again, hosts for the next round. Exclude "
            "again the excluded hosts"
        )
    for one in done["not_entered"]:
        output.say(f"not entered: {one['key']}: {one['reason']}")
    for name in done["missing"]:
        output.say(f"missing: {name}")
    for kind in ("not_entered", "missing"):
        more = done[f"{kind}_count"] - len(done[kind])
        if more > 0:
            output.say(f"{kind.replace('_', ' ')}: {more} more")


_ID_FROM = {
    "": "",
    "database": ", as the database has it; the files were not marked so",
    "files": ", as the files have it; the database had another",
}


@click.command()
@json_answer
def trash(target: Target) -> Iterator[Any]:
    """Show the contents of the trash by day: files that no row named."""
    return output.answer_rows(
        target.calls.get("/archive/trash"),
        "The trash is empty.",
        *output.columns("day", "files"),
        output.Column("bytes", "size_bytes"),
        output.Column("deleted from", "deleted_from"),
    )
