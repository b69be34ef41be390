"""`prsm serve` and `prsm settings`: run a manager, and what can be set."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError, settings_of
from manager.cli.options import Target, json_answer, json_option, pass_target
from manager.settings import FORM, SETTINGS_FILE, documented
from shared.errors import PrsmError, SettingError

__all__ = ["serve", "settings"]


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Short for --set server.listen_host and _port.")
@click.option("--set", "overrides", metavar="GROUP.NAME=VALUE", multiple=True, help="A setting.")
@json_option
@pass_target
def serve(target: Target, listen: str | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Run the manager of the data directory until SIGTERM."""
    # Only this command needs the web, the database and DuckDB: the others start in a tenth.
    # 300,000 objects come into being, and all stay: looking for garbage among them, again
    # and again, was a tenth of the start; frozen, they are passed over afterwards, too.
    gc.disable()
    from manager.app.manager_run import serve as run  # noqa: PLC0415 - see above

    gc.freeze()
    gc.enable()
    made = settings_of(target.data, target.config, (*_listen(listen), *overrides))
    try:
        FORM.refuse_secrets(overrides, SETTINGS_FILE)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    try:
        run(made, config=target.config, as_json=as_json)
    except PrsmError as error:
        raise RefusedError.of(error) from error
    finally:
        gc.unfreeze()  # or libraries in C++ report theirs as leaked


def _listen(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit():
        raise click.UsageError(f"--listen {text}: must be HOST:PORT, as 127.0.0.1:8000")
    return f'server.listen_host="{host.strip("[]")}"', f"server.listen_port={port}"


@click.group(invoke_without_command=True)
@click.pass_context
def settings(context: click.Context) -> None:
    """Print a prsm.toml with all settings, their defaults, ranges and reasons."""
    if context.invoked_subcommand is None:
        click.echo(documented(), nl=False)


@settings.command()
@click.option("--all", "everything", is_flag=True, help="Also what is at its default.")
@json_answer
def show(target: Target, everything: bool) -> Iterator[Any]:
    """Show the settings in effect at the manager, with the source of each; no secrets."""
    found = target.calls.get("/settings")
    yield found
    output.table(
        (one for one in found if everything or one["value"] != one["default"]),
        "All settings are at their defaults.",
        output.Column("setting", "name"),
        *output.columns("value", "default"),
        output.Column("said in", lambda one: one["source"] or "-"),
    )
