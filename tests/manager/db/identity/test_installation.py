"""Each database has one installation id from its first schema on."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.identity.installation import installation_of
from manager.db.migrate import migrate, migrate_to
from manager.db.tables import installation
from manager.operations.identity.installation import installation_id
from shared.errors import SettingError


def test_a_new_database_has_an_id_that_stays(database: Database) -> None:
    """Migrating again gives no second id."""
    before = installation_id(database)
    migrate(database)
    assert before
    assert installation_id(database) == before


def test_an_older_database_gets_its_id_at_the_upgrade(database: Database) -> None:
    """The step before had none; the id is new after each time, for no row was kept."""
    with database.write() as tx:
        before = installation_of(tx)
        migrate_to(tx, "0035")
        migrate_to(tx, "head")
        assert installation_of(tx).uuid != before.uuid


def test_a_database_without_its_row_is_refused(database: Database) -> None:
    """A table that was emptied by hand gives no id that would be made up."""
    with database.write() as tx:
        tx.execute(installation.delete())
    with pytest.raises(SettingError, match="prsm restore"):
        installation_id(database)
