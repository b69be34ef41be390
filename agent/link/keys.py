"""The agent's key, made here, its registration with the manager, and the manager's installation.

The key never leaves this machine but as a bearer token to the manager that it was made for; the
manager learns its hash. Invariant: a key is on the disk before its hash is sent, so a lost
answer loses nothing: the same command, with the same token, hands in the same key again. A key that
replaces another (docs/adr/0154) is kept beside it in the same way until the manager has it.
The id of the installation is learned when a home joins, or with its first sync. Invariant: it
changes only when the home joins again, so no other manager that answers at the same address takes
its place.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Final

from agent.errors import HomeError, RefusedError
from agent.settings.home import Home, sync_folder, write_whole
from shared.archive.errors import DiskFullError
from shared.frozen import frozen
from shared.wire.installation import read_installation
from shared.wire.names import hash_of_key, new_key

__all__ = ["Identity", "KnownInstallation", "enrol", "is_renewing", "read_identity", "renew"]

UNKNOWN_KEY: Final = 401


@frozen
class Identity:
    """An agent's name and key, and the manager for which they are good."""

    manager: str
    name: str
    key: str = field(repr=False)  # so that it stands in no message by accident
    token_hash: str = field(repr=False)  # of the join token with which the first key came in
    renewed: bool = False  # another key than the one that was handed in with the token


def read_identity(home: Home) -> Identity | None:
    """Return who this home is enrolled as; None: not enrolled. Raises HomeError."""
    return _read(home.key)


async def enrol(
    home: Home,
    manager: str,
    name: str,
    token: str,
    hand_in: Callable[[str], Awaitable[None]],
) -> Identity:
    """Make a key, hand its hash in with the token, and keep it once the manager has taken it.

    hand_in: sends a new key's hash and raises LinkError unless the manager took it. A home that
    is enrolled already keeps its old key until then. Raises HomeError, LinkError.
    """
    token_hash = hash_of_key(token)
    wanted = (manager, name, token_hash)
    current = _read(home.key)
    if current is not None and (current.manager, current.name, current.token_hash) == wanted:
        if not current.renewed:  # the manager no longer knows the token's own key
            await hand_in(current.key)
        return current
    coming = _read(home.new_key)
    if coming is None or (coming.manager, coming.name, coming.token_hash) != wanted:
        coming = Identity(manager, name, new_key(), token_hash)
        write_whole(home.new_key, [json.dumps(asdict(coming)).encode()])
    await hand_in(coming.key)
    return _take(home, coming)


def is_renewing(home: Home) -> bool:
    """Return whether a new key waits here of which the manager may or may not know.

    Raises HomeError.
    """
    coming = _read(home.new_key)
    return coming is not None and coming.renewed


async def renew(
    home: Home,
    current: Identity,
    hand_in: Callable[[str], Awaitable[None]],
    is_known: Callable[[Identity], Awaitable[bool]],
) -> Identity:
    """Replace the key of a home, or end what an earlier try began; return who it is then.

    hand_in: shows the old key, and sends a new one's hash. is_known: whether the manager knows an
    identity. It is asked where the old key is refused, because an answer may have been lost.
    Raises HomeError, LinkError: the home is unchanged.
    """
    coming = _read(home.new_key)
    if coming is None or coming != replace(current, key=coming.key, renewed=True):
        coming = replace(current, key=new_key(), renewed=True)
        write_whole(home.new_key, [json.dumps(asdict(coming)).encode()])
    try:
        await hand_in(coming.key)
    except RefusedError as error:
        if error.status != UNKNOWN_KEY or not await is_known(coming):
            raise
    return _take(home, coming)


def _take(home: Home, coming: Identity) -> Identity:
    home.new_key.replace(home.key)
    sync_folder(home.path)
    return coming


def _read(path: Path) -> Identity | None:
    try:
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise HomeError(
                "agent_errors.key_open_to_others", path=str(path), mode=stat.S_IMODE(mode)
            )
        values = json.loads(path.read_bytes())
        said = {name: str(values[name]) for name in ("manager", "name", "key", "token_hash")}
        return Identity(**said, renewed=values.get("renewed") is True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HomeError("agent_errors.key_unreadable", path=str(path), why=str(error)) from error


class KnownInstallation:
    """The id of an installation, in a file beside the key."""

    def __init__(self, path: Path | None, manager: str) -> None:
        """path: None: nothing is kept. manager: the URL for which the id is good."""
        self._path = path
        self._manager = manager
        self.id = self._read()

    def learn(self, shown: str) -> None:
        """Keep the id of the manager that answered, where none is known."""
        if not self.id:
            self.join(shown)

    def join(self, shown: str) -> None:
        """Keep the id of the manager that this home joined; empty: it says none."""
        self.id = read_installation(shown)
        if self._path is None:
            return
        if not self.id:
            self._path.unlink(missing_ok=True)
            return
        kept = {"manager": self._manager, "installation": self.id}
        with suppress(DiskFullError):  # it is learned again with a sync
            write_whole(self._path, [json.dumps(kept).encode()])

    def _read(self) -> str:
        if self._path is None:
            return ""
        try:
            kept = json.loads(self._path.read_bytes())
            manager, shown = kept["manager"], kept["installation"]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return read_installation(str(shown)) if manager == self._manager else ""
