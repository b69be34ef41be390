"""State shared by all connections of a running web."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from simweb.servers.address_queue import AddressQueues
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
    """The world being served, its log and counters, the open connections and the next numbers."""

    def __init__(
        self, world: World, running: Running, answers: Answers, log: RequestLog, idle_s: float
    ) -> None:
        self.world, self.running, self.answers = world, running, answers
        self.log, self.idle_s = log, idle_s
        self.stats = Stats()
        self.queues = AddressQueues(world.options)
        self.connections: set[Connection] = set()
        self.numbers = count(1)
        self._paces: dict[tuple[int, int], Pace] = {}

    def pace(self, client_region: int, host: HostPlan) -> Pace:
        """Return the pace of one answer."""
        key = (client_region, host.index)
        found = self._paces.get(key)
        if found is None:
            found = self.world.distances.pace(client_region, host.region, host.index)
            self._paces[key] = found
        return self.world.distances.jittered(found)
