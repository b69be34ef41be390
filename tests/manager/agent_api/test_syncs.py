"""Syncs that wait are answered together, each as if it were alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from manager.agent_api import Syncs, syncs
from manager.db.engine import Database
from manager.errors import BusyError, ConflictError, UnknownKeyError
from manager.operations.fleet import sync
from manager.operations.fleet.sync import Asked
from manager.operations.identity.enrolment import replace_key
from shared.wire.names import hash_of_key, new_key
from shared.wire.sync import SyncAnswer
from tests.manager.operations.world import World
from tests.postgres import database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]

NAMES = ("a", "b", "c", "d")


def desk_of(world: World) -> Syncs:
    """Return who answers for a world."""
    return Syncs(world.db, world.policy, lambda: world.now_ms)


async def asked(desk: Syncs, world: World, name: str, **more: Any) -> SyncAnswer:
    """Let an agent ask with its key."""
    key_hash = hash_of_key(f"key of {name}")
    agent = world.agents[name].identity
    request = replace(world.request(name), **more)
    return await desk.answer(agent, key_hash, request)


def test_who_waits_is_answered_in_one_transaction(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All agents get permits; of one agent the second sync comes after the first."""
    world = World(database)
    world.join(*NAMES)
    sizes: list[list[str]] = []
    whole = sync.sync_all

    def noted(db: Database, some: list[Asked], *rest: Any) -> Any:
        sizes.append([one.agent.name for one in some])
        return whole(db, some, *rest)

    monkeypatch.setattr(syncs, "sync_all", noted)

    async def ask() -> list[SyncAnswer]:
        desk = desk_of(world)
        return await asyncio.gather(*(asked(desk, world, name) for name in (*NAMES, "a")))

    answers = asyncio.run(ask())
    assert all(one.permit is not None for one in answers)
    assert sizes == [[world.agents[name].identity.name for name in NAMES],
                     [world.agents["a"].identity.name]]  # fmt: skip


def test_one_refusal_is_told_to_one(database: Database) -> None:
    """Who repeats an old request hears so; the others are answered."""
    world = World(database)
    world.join(*NAMES)

    async def ask() -> list[Any]:
        desk = desk_of(world)
        await asked(desk, world, "b", sequence=1000)
        return await asyncio.gather(
            *(asked(desk, world, name, sequence=500) for name in NAMES), return_exceptions=True
        )

    outcomes = asyncio.run(ask())
    assert [type(one) for one in outcomes] == [SyncAnswer, ConflictError, SyncAnswer, SyncAnswer]


def test_what_spoils_a_batch_spoils_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault with one agent's sync is its own; a database that is busy is told to all."""
    world = World(database)
    world.join(*NAMES)
    whole = sync.sync_all
    fault: list[Exception] = [ValueError("a fault of ours")]

    def faulty(db: Database, some: list[Asked], *rest: Any) -> Any:
        if any(one.agent.id == world.agents["c"].identity.id for one in some):
            raise fault[0]
        return whole(db, some, *rest)

    monkeypatch.setattr(syncs, "sync_all", faulty)

    async def ask() -> list[Any]:
        desk = desk_of(world)
        return await asyncio.gather(
            *(asked(desk, world, name) for name in NAMES), return_exceptions=True
        )

    kinds = [type(one) for one in asyncio.run(ask())]
    assert kinds == [SyncAnswer, SyncAnswer, ValueError, SyncAnswer]
    fault[0] = BusyError("no turn")
    busy = asyncio.run(ask())
    assert type(busy[2]) is BusyError


def test_a_key_that_was_replaced_counts_no_more(database: Database) -> None:
    """Also where it was known a moment ago: whose it is stands in the transaction."""
    world = World(database)
    world.join("a")

    async def ask() -> None:
        desk = desk_of(world)
        assert (await asked(desk, world, "a")).permit is not None
        new = new_key()
        replace_key(world.db, world.agents["a"].identity, hash_of_key(new), world.now_ms)
        for _ in range(2):
            with pytest.raises(UnknownKeyError):
                await asked(desk, world, "a")

    asyncio.run(ask())


def test_a_batch_behind_another_waits_until_enough_have_come(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is answered at once; then two wait for a third, however long it takes."""
    monkeypatch.setattr(syncs, "APART_S", 1000.0)
    monkeypatch.setattr(syncs, "ENOUGH", 3)
    world = World(database)
    world.join(*NAMES)
    sizes: list[int] = []
    whole = sync.sync_all

    def noted(db: Database, some: list[Asked], *rest: Any) -> Any:
        sizes.append(len(some))
        return whole(db, some, *rest)

    monkeypatch.setattr(syncs, "sync_all", noted)

    async def ask() -> list[SyncAnswer]:
        desk = desk_of(world)
        await asked(desk, world, "a")
        early = [asyncio.ensure_future(asked(desk, world, name)) for name in ("b", "c")]
        for _ in range(100):
            await asyncio.sleep(0)
        assert not any(one.done() for one in early)
        third = await asked(desk, world, "d")
        return [*await asyncio.gather(*early), third]

    assert all(one.permit is not None for one in asyncio.run(ask()))
    assert sizes == [1, 3]


def test_a_batch_behind_another_does_not_wait_long(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is alone is answered when the moment is over."""
    monkeypatch.setattr(syncs, "APART_S", 0.2)
    world = World(database)
    world.join(*NAMES)

    async def ask() -> list[SyncAnswer]:
        desk = desk_of(world)
        return [await asked(desk, world, name) for name in NAMES]

    assert all(one.permit is not None for one in asyncio.run(ask()))
