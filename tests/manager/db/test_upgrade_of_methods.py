"""Rounds of before the methods were more are kept, and the new ones are known."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic import command

from manager.balancing.balancers import BALANCERS
from manager.db.engine import Database
from manager.db.migrate import _config, is_current, migrate
from manager.db.rounds import rounds
from manager.db.tables import metadata

ROWS = """
INSERT INTO rounds (number, method, state, started_ms) VALUES (1, 'tree', 'finished', 5);
INSERT INTO rounds (number, method, state, started_ms, open) VALUES (2, 'prices', 'crawling', 6, 1)
"""


def test_rounds_are_kept_and_new_methods_known(database: Database) -> None:
    """A finished and an open round stay; each method may begin one, another word may not."""
    config = _config()
    with database.write() as tx:
        metadata.drop_all(tx.connection)
        tx.execute(sa.text("DROP TABLE alembic_version"))
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "0005")
        for statement in ROWS.split(";"):
            tx.connection.exec_driver_sql(statement)
    migrate(database)
    assert is_current(database)
    with database.write() as tx:
        current = rounds.open_round(tx)
        assert current is not None
        assert (current.number, current.method) == (2, "prices")
        rounds.update(tx, 2, state="finished")
        for number, method in enumerate(BALANCERS, 3):
            rounds.add(tx, number=number, method=method, state="probing", started_ms=7)
            rounds.update(tx, number, state="finished")
    with pytest.raises(sa.exc.IntegrityError), database.write() as tx:
        rounds.add(tx, number=99, method="luck", state="probing", started_ms=8)
