"""Pause and drain requests, kept over restarts.

Paused: nothing is fetched, the work stays here. Drained: nothing is fetched, and what is not done
goes back to the manager for others. The site and the manager each have their own word, and neither
undoes the other's: a partner must be able to stop a robot on his network, whoever runs the manager;
and a crawl that the manager stopped must not resume because a partner did not know why.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

from agent.errors import HomeError
from agent.settings.home import write_whole
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["HoldOwner", "Holds", "change_holds", "read_holds"]

HoldOwner = Literal["site", "manager"]


@frozen
class Holds:
    """Holds of this agent. handed_back: the manager was told that this agent has left."""

    paused_by: tuple[HoldOwner, ...] = ()
    drained_by: tuple[HoldOwner, ...] = ()
    handed_back: bool = False

    @property
    def paused(self) -> bool:
        """Return whether nothing may be fetched now, drained or paused."""
        return bool(self.paused_by or self.drained_by)

    @property
    def drained(self) -> bool:
        """Return whether the work is to be handed back."""
        return bool(self.drained_by)

    @property
    def reason(self) -> Message | None:
        """Return who holds the agent and how it resumes; None: not held."""
        if "site" in self.drained_by:
            return Message("agent.drained_by_site")
        if self.drained_by:
            return Message("agent.drained_by_manager")
        if "site" in self.paused_by:
            return Message("agent.paused_by_site")
        return Message("agent.paused_by_manager") if self.paused_by else None

    def pause(self, owner: HoldOwner) -> Holds:
        """Return these holds with a pause by `owner`."""
        return replace(self, paused_by=_with(self.paused_by, owner))

    def drain(self, owner: HoldOwner) -> Holds:
        """Return these holds with a drain by `owner`."""
        return replace(self, drained_by=_with(self.drained_by, owner))

    def resume(self, owner: HoldOwner) -> Holds:
        """Return these holds without those of `owner`."""
        return replace(
            self,
            paused_by=tuple(one for one in self.paused_by if one != owner),
            drained_by=tuple(one for one in self.drained_by if one != owner),
        )


def read_holds(path: Path) -> Holds:
    """Return who holds the agent. Raises HomeError for a file that cannot be read."""
    try:
        values = json.loads(path.read_bytes())
        return Holds(
            _names(values["paused_by"]), _names(values["drained_by"]), bool(values["handed_back"])
        )
    except FileNotFoundError:
        return Holds()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HomeError("agent_errors.holds_unreadable", path=str(path), why=str(error)) from error


def change_holds(path: Path, change: Callable[[Holds], Holds]) -> Holds:
    """Change who holds the agent, and return that; a command and the agent may do it at once."""
    with path.with_name(path.name + ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        holds = change(read_holds(path))
        write_whole(path, [json.dumps(asdict(holds)).encode()])
    return holds


def _with(names: tuple[HoldOwner, ...], owner: HoldOwner) -> tuple[HoldOwner, ...]:
    return names if owner in names else (*names, owner)


def _names(values: object) -> tuple[HoldOwner, ...]:
    if not isinstance(values, list):
        raise TypeError("no list of names")
    found: list[HoldOwner] = []
    for name in values:
        if name == "site":
            found.append("site")
        elif name == "manager":
            found.append("manager")
        else:
            raise ValueError(f"{name!r} is neither site nor manager")
    return tuple(found)
