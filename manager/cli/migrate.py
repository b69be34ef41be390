"""`prsm migrate`: the schema of the database, and bringing it to another."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError, settings_of
from manager.cli.options import Target, pass_target
from shared.errors import PrsmError

__all__ = ["migrate"]


@click.group()
def migrate() -> None:
    """Show or change the schema of the database. `prsm serve` upgrades it by itself."""


@migrate.command()
@pass_target
def status(target: Target) -> None:
    """Show the schema of the database, and the schema of this version."""
    from manager.app.maintenance.migration import schema_of  # noqa: PLC0415 - only this needs the database

    try:
        schema = schema_of(settings_of(target.data, target.config))
    except PrsmError as error:
        raise RefusedError.of(error) from error
    output.say(f"database {schema.version or 'empty'}, this version {schema.newest}")


@migrate.command()
@pass_target
def up(target: Target) -> None:
    """Upgrade the database to the schema of this version; older managers continue to run."""
    _change(target, "head")


@migrate.command()
@click.argument("schema")
@pass_target
def down(target: Target, schema: str) -> None:
    """Downgrade the database to SCHEMA, as 0017, for an older version.

    All managers must have stopped. Data that only the newer schema has is lost: back up first.
    """
    _change(target, schema)


def _change(target: Target, schema_wanted: str) -> None:
    from manager.app.maintenance.migration import change_schema  # noqa: PLC0415 - as above
    from manager.clock import wall_clock_ms  # noqa: PLC0415

    try:
        settings = settings_of(target.data, target.config)
        schema = change_schema(settings, schema_wanted, wall_clock_ms())
    except (PrsmError, RuntimeError) as error:
        raise RefusedError.of(error) from error
    output.say(f"database {schema.version}, this version {schema.newest}")
