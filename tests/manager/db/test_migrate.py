"""The steps lead to the tables that the code speaks of."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from manager.db.engine import Database
from manager.db.migrate import STEPS, check_known, is_current, migrate, newest_schema
from manager.db.tables import metadata, users
from shared.errors import SettingError


def test_migrated_is_what_the_code_declares(database: Database) -> None:
    """No table, column or index differs between the steps and the declarations."""
    with database.read() as tx:
        context = MigrationContext.configure(tx.connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert set(sa.inspect(tx.connection).get_table_names()) == {
            *metadata.tables,
            "alembic_version",
        }


def test_checks_of_the_database_hold(database: Database) -> None:
    """The constraints are in the steps as well: an unknown word is refused."""
    row = {"name": "a", "password_hash": "", "role": "emperor", "created_ms": 0}
    with pytest.raises(sa.exc.IntegrityError), database.write() as tx:
        tx.insert(users, [row])


def test_migrating_again_changes_nothing(database: Database) -> None:
    """A manager that starts migrates; usually there is nothing to do."""
    assert is_current(database)
    migrate(database)
    assert is_current(database)


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    """An old manager never writes into tables that it does not know."""
    with database.write() as tx:
        tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SettingError, match="created by a newer one"):
        migrate(database)


def test_each_step_has_the_name_of_its_file() -> None:
    """Which schemas there are is read from the files' names; Alembic reads the same."""
    steps = ScriptDirectory(STEPS)
    assert steps.get_heads() == [newest_schema()]
    for step in steps.walk_revisions():
        check_known(step.revision)
    assert len(list(steps.walk_revisions())) == len(list((STEPS / "versions").glob("[0-9]*.py")))
