"""Keys of requests that come together are looked up together, and none is believed for long."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from manager.agent_api import Keys, keys
from manager.db.engine import Database
from manager.errors import BusyError
from manager.operations.identity.enrolment import AgentIdentity, authenticate, replace_key
from shared.wire.names import hash_of_key, new_key
from tests.manager.operations.world import World
from tests.postgres import database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]

NAMES = ("a", "b", "c")
HASHES = [hash_of_key(f"key of {name}") for name in NAMES]


@pytest.fixture
def world(database: Database) -> World:
    """Some agents."""
    world = World(database)
    world.join(*NAMES)
    return world


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """Note which keys are looked up at once."""
    noted: list[set[str]] = []

    def look(db: Database, key_hashes: Collection[str]) -> dict[str, AgentIdentity]:
        noted.append(set(key_hashes))
        return authenticate(db, key_hashes)

    monkeypatch.setattr(keys, "authenticate", look)
    return noted


def test_who_waits_is_looked_up_at_once(
    world: World, looks: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same key twice is one; so many at most; a stranger's is nobody's."""
    monkeypatch.setattr(keys, "AT_ONCE", 3)

    async def ask() -> list[AgentIdentity | None]:
        desk = Keys(world.db)
        return await asyncio.gather(
            *(desk.agent_of_key(one) for one in (*HASHES, hash_of_key("stranger"), HASHES[0]))
        )

    agents: list[Any] = [world.agents[name].identity for name in NAMES]
    assert asyncio.run(ask()) == [*agents, None, agents[0]]
    assert looks == [set(HASHES), {hash_of_key("stranger")}]


def test_lately_asks_once_and_whose_each_time(world: World, looks: list[set[str]]) -> None:
    """A replaced key is nobody's for `agent_of_key`, and then for `recent_agent_of_key` too."""

    async def ask() -> None:
        desk = Keys(world.db)
        identity = world.agents["a"].identity
        assert await desk.recent_agent_of_key(HASHES[0]) == identity
        new = hash_of_key(new_key())
        replace_key(world.db, identity, new, world.now_ms)
        assert await desk.recent_agent_of_key(HASHES[0]) == identity
        assert len(looks) == 1
        assert await desk.agent_of_key(new) == identity
        assert await desk.agent_of_key(HASHES[0]) is None
        assert await desk.recent_agent_of_key(HASHES[0]) is None
        desk.forget(new)
        assert await desk.recent_agent_of_key(new) == identity
        assert len(looks) == 5

    asyncio.run(ask())


def test_a_failure_is_told_to_all_and_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks after a database that was away is answered; who went away spoils nothing."""

    def busy(_db: Database, _key_hashes: Collection[str]) -> dict[str, AgentIdentity]:
        raise BusyError("away")

    async def ask() -> None:
        desk = Keys(world.db)
        with monkeypatch.context() as patched:
            patched.setattr(keys, "authenticate", busy)
            told = await asyncio.gather(*map(desk.agent_of_key, HASHES), return_exceptions=True)
            assert [type(one) for one in told] == [BusyError] * 3
        gone = asyncio.create_task(desk.agent_of_key(HASHES[0]))
        stays = asyncio.create_task(desk.agent_of_key(HASHES[0]))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == world.agents["a"].identity
        assert gone.cancelled()

    asyncio.run(ask())
