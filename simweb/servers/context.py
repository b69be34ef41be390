"""State shared by all connections of a running web."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simweb.servers.answers import Answers
from simweb.servers.request_log import RequestLog
from simweb.servers.stats import Stats
from simweb.sites.distance import Pace
from simweb.sites.plan import HostPlan, World
from simweb.sites.world_state import Running

if TYPE_CHECKING:
    from simweb.servers.connection import Connection

__all__ = ["Context"]


class Context:
    """The world being served, its log and counters, and the open connections."""

    def __init__(
        self,
        world: World,
        running: Running,
        answers: Answers,
        log: RequestLog,
        idle_s: float,
        on_failure: Callable[[OSError], None],
    ) -> None:
        self.world, self.running, self.answers = world, running, answers
        self.idle_s = idle_s
        self.stats = Stats()
        self.connections: set[Connection] = set()
        self._log = log
        self._on_failure = on_failure
        self._number = 0
        self._paces: dict[tuple[int, int], Pace] = {}

    def next_number(self) -> int:
        """Return the number of a new connection, from 1."""
        self._number += 1
        return self._number

    def pace(self, client_region: int, host: HostPlan) -> Pace:
        """Return the pace of one answer."""
        key = (client_region, host.index)
        found = self._paces.get(key)
        if found is None:
            found = self.world.distances.pace(client_region, host.region, host.index)
            self._paces[key] = found
        return self.world.distances.jittered(found)

    def log(self, event: str, **fields: Any) -> None:
        """Write an event; a log that cannot be written ends the web, for it judges nothing."""
        self._write(self._log.write, event, fields)

    def log_moment(self, event: str, **fields: Any) -> None:
        """Write an event that happens now."""
        self._write(self._log.moment, event, fields)

    def _write(self, write: Callable[..., None], event: str, fields: dict[str, Any]) -> None:
        try:
            write(event, **fields)
        except OSError as error:
            self._on_failure(error)
