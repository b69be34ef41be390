"""Give an agent another key, while nothing works in its home (docs/adr/0154)."""

from __future__ import annotations

import asyncio
import random

from agent.adapters.clock import SystemClock
from agent.errors import RefusedError
from agent.link.client import client_of
from agent.link.keys import UNKNOWN_KEY, Identity, renew
from agent.link.link_memory import Memory
from agent.settings import Home, Settings
from shared.wire.names import hash_of_key

__all__ = ["renew_key"]


def renew_key(settings: Settings, identity: Identity) -> Identity:
    """Replace the key, or end what an earlier try began; the caller holds the home's lock.

    Raises HomeError, LinkError: the home is unchanged.
    """
    home = Home(settings.home)

    async def hand_in(key: str) -> None:
        async with client_of(settings, identity) as client:
            await client.change_key(key)

    async def is_known(coming: Identity) -> bool:
        try:
            async with client_of(settings, coming) as client:
                await client.is_restart()
        except RefusedError as error:
            if error.status == UNKNOWN_KEY:
                return False
            raise
        return True

    renewed = asyncio.run(renew(home, identity, hand_in, is_known))
    _keep_place(home, identity, renewed)
    return renewed


def _keep_place(home: Home, before: Identity, now: Identity) -> None:
    """Record for the new key where the old one was used (docs/adr/0109).

    As another key it would wait for no copy, and one may be at work with a permit of the old key.
    """
    clock, rng = SystemClock(), random.SystemRandom()
    memory = Memory.open(home.link_state, epoch_ms=clock.epoch_ms(), rng=rng)
    key_hash, _, place = memory.location.partition(" ")
    if key_hash == hash_of_key(before.key):
        memory.remember_location(f"{hash_of_key(now.key)} {place}")
