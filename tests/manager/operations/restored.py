"""Backups of a world's database: its rows, and putting them back as a restore does."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.row_dumps import dump, load, table_names
from manager.db.tables import metadata
from manager.operations.health.restore_safety import longest_permit_ms, make_safe
from tests.manager.operations.world import ADMIN, World

__all__ = ["restored", "rows_of"]


def rows_of(db: Database) -> dict[str, list[bytes]]:
    """Return the rows of all tables, as a backup has them."""
    with db.read() as tx:
        return {name: list(dump(tx, name)) for name in table_names()}


def restored(world: World, kept: dict[str, list[bytes]], down_s: float = 0) -> int:
    """Put the rows of a backup into the world's database; return until when is waited."""
    with world.db.write() as tx:
        for name in reversed(kept):
            tx.execute(metadata.tables[name].delete())
        for name, lines in kept.items():
            load(tx, name, lines)
        until_ms = world.now_ms - round(down_s * 1000) + longest_permit_ms(tx, world.policy)
        make_safe(tx, ADMIN, 1, until_ms, world.now_ms)
    return until_ms
