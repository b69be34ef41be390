"""`prsm migrate`: the schema of the database, and bringing it to another."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError, settings_of
from manager.cli.options import Place, pass_place
from shared.errors import PrsmError

__all__ = ["migrate"]


@click.group()
def migrate() -> None:
    """Show or change the schema of the database. `prsm serve` upgrades it by itself."""


@migrate.command()
@pass_place
def status(place: Place) -> None:
    """Show the schema of the database, and the schema of this version."""
    from manager.app.maintenance.migration import schema_of  # noqa: PLC0415 - only this needs the database

    try:
        schema = schema_of(settings_of(place.data, place.config))
    except PrsmError as error:
        raise RefusedError.of(error) from error
    output.say(f"database {schema.version or 'empty'}, this version {schema.newest}")


@migrate.command()
@pass_place
def up(place: Place) -> None:
    """Upgrade the database to the schema of this version; older managers continue to run."""
    _change(place, "head")


@migrate.command()
@click.argument("schema")
@pass_place
def down(place: Place, schema: str) -> None:
    """Downgrade the database to SCHEMA, as 0017, for an older version.

    All managers must have stopped. Data that only the newer schema has is lost: back up first.
    """
    _change(place, schema)


def _change(place: Place, target: str) -> None:
    from manager.app.maintenance.migration import change_schema  # noqa: PLC0415 - as above
    from manager.clock import wall_clock_ms  # noqa: PLC0415

    try:
        settings = settings_of(place.data, place.config)
        schema = change_schema(settings, target, wall_clock_ms())
    except (PrsmError, RuntimeError) as error:
        raise RefusedError.of(error) from error
    output.say(f"database {schema.version}, this version {schema.newest}")
