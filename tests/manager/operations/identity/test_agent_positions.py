"""Where agents are is said by people."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.errors import NotFoundError
from manager.operations.identity.agent_positions import set_position
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError
from shared.wire.positions import Position, read_position
from tests.manager.operations.world import ADMIN, World


def test_a_position_is_set_and_taken_back(database: Database) -> None:
    """To a hundredth of a degree: nobody needs the building."""
    world = World(database)
    world.join("a")
    set_position(database, "a", read_position(35.02684, 135.78084), ADMIN, world.now_ms)
    with database.read() as tx:
        row = agents.by_name(tx, "a")
    assert row is not None
    assert (row.latitude, row.longitude) == (35.03, 135.78)
    set_position(database, "a", None, ADMIN, world.now_ms)
    with database.read() as tx:
        row = agents.by_name(tx, "a")
    assert row is not None
    assert (row.latitude, row.longitude) == (None, None)
    assert len(audit_page(database, action="agent.set-position")) == 2
    with pytest.raises(NotFoundError, match="agent b"):
        set_position(database, "b", Position(0, 0), ADMIN, world.now_ms)


@pytest.mark.parametrize(("latitude", "longitude"), [(91, 0), (0, 181), (float("nan"), 0)])
def test_what_is_nowhere_is_refused(latitude: float, longitude: float) -> None:
    """With the range."""
    with pytest.raises(FormatError, match="must be -"):
        read_position(latitude, longitude)
