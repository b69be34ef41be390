"""State of the link kept over restarts: sequence number, minute, last command, place, list.

Invariant: a number is handed out only after the disk says that it is used up, so it is never
handed out again. Numbers are taken from the disk by the hundred: most syncs write nothing, and a
disk that is full for a while does not stop the report of it. After a lost memory (not the key)
numbers continue from the clock in milliseconds, far above all counted numbers, because a
number that runs backwards looks like a cloned machine.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from agent.errors import HomeError
from agent.settings.home import write_whole
from shared.frozen import frozen

__all__ = ["Kept", "Memory"]

RESERVED: Final = 100
AHEAD_MOST: Final = timedelta(days=300)
"""A manager takes names that are a year ahead of its clock at most."""
_MINUTE: Final = "%Y%m%d%H%M"


@frozen
class Kept:
    """The numbers of the link, as its file has them."""

    sequence: int = 0  # all up to here are used up
    spread_minute: int = 0  # 0 to 59: when in the hour this installation makes its planned calls
    command_done: str = ""
    log_minute: str = ""  # of the last log, yyyymmddHHMM
    log_key: str = ""  # what that log was made of
    place: str = ""  # which key was used where when an agent last worked here; empty: not known
    list_told: str = ""  # under which list all was said that was finished before it; empty: none


class Memory:
    """The link's durable numbers, in one small file."""

    def __init__(self, path: Path, kept: Kept) -> None:
        self._path = path
        self.kept = kept
        self._sequence = kept.sequence

    @classmethod
    def open(cls, path: Path, *, epoch_ms: int, rng: random.Random) -> Memory:
        """Read the file, or make it at the first start. Raises HomeError for one that is broken."""
        try:
            values = json.loads(path.read_bytes())
            kept = Kept(
                int(values["sequence"]),
                int(values["spread_minute"]) % 60,
                str(values["command_done"]),
                str(values["log_minute"]),
                str(values.get("log_key", "")),
                str(values.get("place", "")),
                str(values.get("list_told", "")),
            )
        except FileNotFoundError:
            kept = Kept(epoch_ms, rng.randrange(60))
            memory = cls(path, kept)
            memory._keep(kept)
            return memory
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HomeError(
                "agent_errors.link_memory_unreadable", path=str(path), why=str(error)
            ) from error
        return cls(path, kept)

    def remember_location(self, location: str) -> None:
        """Keep which key is used where. Raises DiskFullError."""
        if location != self.kept.place:
            self._keep(replace(self.kept, place=location))

    def remember_list(self, name: str) -> None:
        """Keep under which list that was said to the end. Raises DiskFullError."""
        if name != self.kept.list_told:
            self._keep(replace(self.kept, list_told=name))

    def next_sequence(self) -> int:
        """Return a number greater than all before, over restarts. Raises DiskFullError."""
        if self._sequence >= self.kept.sequence:
            self._keep(replace(self.kept, sequence=self._sequence + RESERVED))
        self._sequence += 1
        return self._sequence

    def remember_command(self, command_id: str) -> None:
        """Keep the id of a command that was carried out. Raises DiskFullError."""
        self._keep(replace(self.kept, command_done=command_id))

    def log_minute(self, epoch_ms: int, key: str) -> str:
        """Return the minute that names a log: now, or one later than the last one's.

        The manager knows a log by its name, so two logs must not share a minute; and one that is
        made again of the same (key) must get the same, or it would count twice. Where the last
        was named by a clock that was far ahead, and has been set since, names continue from now.

        Raises DiskFullError.
        """
        if key == self.kept.log_key:
            return self.kept.log_minute
        now = datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime(_MINUTE)
        ahead = (datetime.fromtimestamp(epoch_ms / 1000, UTC) + AHEAD_MOST).strftime(_MINUTE)
        if now <= self.kept.log_minute <= ahead:
            last = datetime.strptime(self.kept.log_minute, _MINUTE).replace(tzinfo=UTC)
            now = (last + timedelta(minutes=1)).strftime(_MINUTE)
        self._keep(replace(self.kept, log_minute=now, log_key=key))
        return now

    def _keep(self, kept: Kept) -> None:
        write_whole(self._path, [json.dumps(asdict(kept)).encode()])
        self.kept = kept
