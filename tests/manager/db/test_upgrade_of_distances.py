"""What was measured before distances came with their evidence is kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import command

from manager.db.engine import Database
from manager.db.measurement.measurements import distances_of_units, sums_of_agent
from manager.db.migrate import _config, is_current, migrate
from manager.db.tables import metadata

ROWS = """
INSERT INTO agents (id, name, kind, joined_ms) VALUES (1, 'a', 'sync', 0);
INSERT INTO hosts (id, key, reversed_key, first_seen_ms, resolution)
VALUES (1, 'http://h.jp:80/', 'jp,h', 0, 'new');
INSERT INTO units (id, host_id, path, key, state)
VALUES (1, 1, '/', 'http://h.jp:80/', 'new'), (2, 1, '/d/', 'http://h.jp:80/d/', 'new');
INSERT INTO host_sums (agent_id, unit_id, round, kind, requests, response_bytes, ms, last_ms)
VALUES (1, 1, 1, 'probe', 50, 2000, 100, 77);
INSERT INTO distances (unit_id, agent_id, measured_ms, round, kind, lines, bytes, ms, ms_per_kb)
VALUES (1, 1, 77, 1, 'probe', 50, 2000, 100, 50.0), (2, 1, 88, 1, 'probe', 3, 0, 9, NULL)
"""


def test_distances_of_the_first_schema_are_kept(database: Database) -> None:
    """The numbers stay; what is unreachable is so since it was measured."""
    config = _config()
    with database.write() as tx:
        metadata.drop_all(tx.connection)
        tx.execute(sa.text("DROP TABLE alembic_version"))
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "0001")
        for statement in ROWS.split(";"):
            tx.connection.exec_driver_sql(statement)
    assert not is_current(database)
    migrate(database)
    assert is_current(database)
    with database.read() as tx:
        reached, silent = distances_of_units(tx, [1, 2])
        (sums,) = sums_of_agent(tx, 1, [1])
    assert (reached.ms_per_kb, reached.lines, reached.median) == (50.0, 50, None)
    assert (reached.unreachable_since_ms, silent.unreachable_since_ms) == (None, 88)
    assert silent.failed == 3
    assert (sums.requests, sums.spread, sums.first_ms) == (50, "", None)
