"""Load of one agent by address, to which hosts are added and from which they are taken.

A forecast asks what changes if one host of a million is split: only the agents that it touches are
predicted again, and each from the load of its addresses, not from its units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.forecast.predictor import (
    AddressLoad,
    address_ends,
    address_loads,
    crawl_ms,
    turn_rests,
)
from manager.balancing.forecast.work_duration import Availability, Capacity

__all__ = ["AgentLoad", "CrawlForecast", "HostPart"]


@dataclass(frozen=True)
class HostPart:
    """A host, or a piece of one, at one agent.

    requests: robots.txt included. own_rest_ms: of the host itself, after each request; 0: none.
    """

    requests: float
    volume_kb: float
    transfer_ms: float
    own_rest_ms: float = 0.0


@dataclass(frozen=True)
class AgentLoad:
    """Addresses of an agent. address: (addresses,) numbers, ascending; load: of each of them.

    fast_bytes_per_ms: of `predictor.fast_threshold`.
    """

    capacity: Capacity
    fast_bytes_per_ms: float
    address: IntArray
    load: AddressLoad

    @cached_property
    def work_ms(self) -> float:
        """Return how long it works while it is open."""
        return crawl_ms(self.load, self.capacity)

    def ends_ms(self) -> FloatArray:
        """Return (addresses,) the work after which each is ended; none is later than `work_ms`."""
        return np.minimum(address_ends(self.load, self.capacity), self.work_ms)

    def alone_ms(self, load: AddressLoad) -> FloatArray:
        """Return (addresses,) how long each would take here if it were the only one."""
        if not self.capacity.bytes_per_s:
            return load.alone_ms
        network_ms: FloatArray = load.volume_kb * 1e6 / self.capacity.bytes_per_s
        return np.maximum(load.alone_ms, network_ms)

    def alone(self, part: HostPart) -> AddressLoad:
        """Return the load of one host here."""
        one = np.zeros(1, dtype=np.intp)
        return address_loads(
            np.array([part.transfer_ms]),
            np.array([part.requests]),
            np.array([part.volume_kb]),
            np.array([part.own_rest_ms]),
            one,
            1,
            self.capacity,
            self.fast_bytes_per_ms,
        )

    def pause_ms(self, part: HostPart) -> float:
        """Return how long a host rests for each request to it, as this agent crawls it alone.

        Where a turn has several requests, its rest is divided among them. Without rests it is the
        time of an answer: the agent has one connection to a host.
        """
        if not self.capacity.burst:
            return max(part.transfer_ms / part.requests, part.own_rest_ms)
        return max(self.rest_ms(part) / self.capacity.burst, part.own_rest_ms)

    def rest_ms(self, part: HostPart) -> float:
        """Return how long the address of a host rests after a turn."""
        rests = turn_rests(
            np.array([part.transfer_ms]),
            np.array([part.requests]),
            np.array([part.volume_kb]),
            self.capacity,
            self.fast_bytes_per_ms,
        )
        return float(rests[0])

    def without(self, address: int) -> AgentLoad:
        """Return the load without an address."""
        stays = self.address != address
        return replace(
            self,
            address=self.address[stays],
            load=AddressLoad(*(values[stays] for values in _arrays(self.load))),
        )

    def later(self, addresses: IntArray, wait_ms: float) -> AgentLoad:
        """Return the load where some addresses end so much later."""
        wait = np.where(np.isin(self.address, addresses), wait_ms, 0.0)
        return replace(self, load=replace(self.load, alone_ms=self.load.alone_ms + wait))

    def plus(self, address: int, added: AddressLoad, wait_ms: float = 0.0) -> AgentLoad:
        """Return the load with one more address, which ends so much later."""
        at = int(np.searchsorted(self.address, address))
        late = replace(added, alone_ms=added.alone_ms + wait_ms)
        return replace(
            self,
            address=np.insert(self.address, at, address),
            load=AddressLoad(
                *(
                    np.insert(values, at, one)
                    for values, one in zip(_arrays(self.load), _arrays(late), strict=True)
                )
            ),
        )


def _arrays(load: AddressLoad) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return load.alone_ms, load.busy_ms, load.turns, load.volume_kb


@dataclass(frozen=True)
class CrawlForecast:
    """Forecast of a whole crawl, by agent. ends_ms: after its start; inf: never."""

    loads: Mapping[int, AgentLoad]
    hours: Mapping[int, Availability]
    ends_ms: Mapping[int, float]

    @staticmethod
    def of(loads: Mapping[int, AgentLoad], start_ms: int) -> CrawlForecast:
        """Return the forecast of a crawl that starts at a moment, epoch milliseconds."""
        hours = {number: Availability(one.capacity, start_ms) for number, one in loads.items()}
        ends = {number: _end(hours[number], one.work_ms) for number, one in loads.items()}
        return CrawlForecast(loads, hours, ends)

    @property
    def end_ms(self) -> float:
        """Return when the last agent has ended."""
        return max(self.ends_ms.values(), default=0.0)

    def end_of(self, agent: int, work_ms: float) -> float:
        """Return when an agent has done so much work and nothing else."""
        return _end(self.hours[agent], work_ms)

    def changed(self, loads: Mapping[int, AgentLoad]) -> CrawlForecast:
        """Return the forecast with other loads of some agents."""
        ends = {number: _end(self.hours[number], one.work_ms) for number, one in loads.items()}
        return CrawlForecast({**self.loads, **loads}, self.hours, {**self.ends_ms, **ends})


def _end(hours: Availability, work_ms: float) -> float:
    return float(hours.end_of(np.array([work_ms]))[0])
