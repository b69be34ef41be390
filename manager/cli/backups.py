"""`prsm backup` and `prsm restore`: all that a manager keeps, as a file or a folder."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError, settings_of
from manager.cli.options import Target, json_option, moment_ms, pass_target
from manager.settings import SETTINGS_FILE
from shared.errors import PrsmError

__all__ = ["backup", "restore"]

TARGET = click.Path(path_type=Path)


@click.command()
@click.argument("output_path", metavar="TARGET", type=TARGET)
@click.option("--without-archive", is_flag=True, help="Leave out the captures (and say so).")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    help="Of the backups (.tar) in the folder of TARGET keep this many, the newest.",
)
@json_option
@pass_target
def backup(
    target: Target, output_path: Path, without_archive: bool, keep: int | None, as_json: bool
) -> None:
    """Write a backup to TARGET: a tar file if the name ends in .tar, else a new folder.

    The manager may run. The backup holds keys and password hashes: protect it like those.
    """
    if keep is not None and output_path.suffix != ".tar":
        raise click.UsageError(f"--keep {keep}: is for tars; name one, as {output_path}.tar")

    from manager.app.maintenance.backup import make_backup, remove_older  # noqa: PLC0415
    from manager.clock import wall_clock_ms  # noqa: PLC0415
    from manager.operations.actor import Actor  # noqa: PLC0415

    config = target.config or target.data / SETTINGS_FILE
    settings = settings_of(target.data, target.config)
    actor = Actor("local", "local")
    try:
        made = make_backup(
            settings, config, output_path, actor, wall_clock_ms, archive=not without_archive
        )
        # One that lacks files is none to replace others with.
        removed = remove_older(output_path, keep) if keep is not None and not made.missing else []
    except (PrsmError, OSError) as error:
        raise RefusedError.of(error) from error
    size_bytes = sum(entry.size_bytes for entry in made.files)
    if as_json:
        told = made.model_dump(exclude={"files"})
        gone = [str(path) for path in removed]
        output.as_json(told | {"files": len(made.files), "size_bytes": size_bytes, "removed": gone})
    else:
        rows = sum(made.tables.values())
        output.say(
            f"{output_path}: {rows} rows of {len(made.tables)} tables, {len(made.files)} files, "
            f"{output.bytes_text(size_bytes)}"
        )
        for name in made.left_out:
            output.say(f"left out: {name}")
        for path in removed:
            output.say(f"removed: {path}")
    if made.missing:
        some = ", ".join(made.missing[:5])
        raise RefusedError(f"{len(made.missing)} files that tables name are missing: {some}")


@click.command()
@click.argument("source", type=TARGET)
@click.option(
    "--down-since",
    metavar="TIME",
    help="When the manager of the backup ended, as 2026-11-22T03:00+09:00; now, if not given.",
)
@click.option("--check", "only_check", is_flag=True, help="Read the backup, restore nothing.")
@json_option
@pass_target
def restore(
    target: Target, source: Path, down_since: str | None, only_check: bool, as_json: bool
) -> None:
    """Restore the backup SOURCE into the data directory, which must be empty or missing.

    The manager that the backup was made of must have stopped. Agents get no work until the
    permits that it may have granted are over; --down-since shortens that wait.
    """
    from manager.app.maintenance.restore import restore as run  # noqa: PLC0415 - as above
    from manager.clock import wall_clock_ms  # noqa: PLC0415
    from manager.operations.actor import Actor  # noqa: PLC0415
    from manager.store.backup_files import open_backup  # noqa: PLC0415

    since_ms = moment_ms("--down-since", down_since)
    try:
        with closing(open_backup(source)) as opened:
            if only_check:
                size_bytes = opened.verify()
                made = output.time_text(opened.manifest.made_ms)
                output.say(f"{source}: whole, made {made}, {output.bytes_text(size_bytes)}")
                return
            actor = Actor("local", "local")
            done = run(opened, target.data, target.config, actor, wall_clock_ms, since_ms)
    except (PrsmError, OSError) as error:
        raise RefusedError.of(error) from error
    if as_json:
        told = {"made_ms": done.manifest.made_ms, "held_until_ms": done.held_until_ms}
        output.as_json(told | {"findings": done.findings})
    else:
        made = output.time_text(done.manifest.made_ms)
        held = output.time_text(done.held_until_ms)
        output.say(f"{target.data}: restored from the backup of {made}")
        output.say(f"agents are given nothing to fetch until {held}: they may hold permits")
        output.say("people log in again; agents that joined since need new tokens")
        output.say("hosts that were excluded since must be excluded again")
    if done.findings:
        raise RefusedError("`prsm check` finds: " + "; ".join(done.findings[:5]))
