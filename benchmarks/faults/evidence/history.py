"""Everything that happens to rights and owners, written down by the database itself.

Triggers, which the suite installs in its own database, append each change of `rights`,
`assignments`, `leader` and `clock` to a table, in the order of the writes. So the checks do
not rest on the manager's own records, nor on any clock: clocks jump here.
"""

from __future__ import annotations

from typing import Final

import psycopg

__all__ = ["install"]

_INSTALL: Final = """
CREATE TABLE faults_history (
    seq bigserial PRIMARY KEY, what text NOT NULL, op text NOT NULL,
    leader_epoch bigint, writer text, was jsonb, becomes jsonb
);
CREATE FUNCTION faults_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO faults_history (what, op, leader_epoch, writer, was, becomes)
    VALUES (TG_TABLE_NAME, TG_OP, (SELECT epoch FROM leader),
            current_setting('application_name'), to_jsonb(OLD), to_jsonb(NEW));
    RETURN NULL;
END $$;
"""

_TRIGGER: Final = """
CREATE TRIGGER faults_{table} AFTER INSERT OR UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION faults_note();
"""

TABLES: Final = ("rights", "assignments", "leader", "clock")


def install(url: str) -> None:
    """Begin to write down what happens, in a database that has its tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_INSTALL)
        for table in TABLES:
            connection.execute(_TRIGGER.format(table=table).encode())
