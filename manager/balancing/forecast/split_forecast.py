"""Splits that pay: the end of the whole crawl with a host in pieces, or whole again.

A piece rests as ADR 70 has it: the pause of its host times the agents that have pieces. Only what
holds the crawl up is looked at: the longest address of the agent that ends last, then of the one
that does so with that host in pieces, until nothing more can be gained.
Invariants: the crawl with all chosen splits ends earlier than without by more than the error of the
predictor; no step makes it later than those before it. The agents of a split send no more requests
together than one that keeps the pause of the host.
Not decided here: where a host is cut, and the pause, which a person or robots.txt may have set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from manager.balancing.forecast.agent_load import CrawlForecast, HostPart

__all__ = ["PieceSize", "SplitChoice", "SplitStep", "choose_splits", "merge_pays", "split_end"]

ALMOST: Final = 1.02
"""The fewest pieces are taken whose end is within this of the best."""


@dataclass(frozen=True)
class PieceSize:
    """Size of a piece and its agent. transfer_ms: at that agent."""

    agent: int
    requests: float
    volume_kb: float
    transfer_ms: float


@dataclass(frozen=True)
class SplitChoice:
    """A way to split a host. address: its number. pause_ms: between two requests of all agents
    together; each rests as many of them as there are pieces."""

    address: int
    owner: int
    pause_ms: float
    pieces: tuple[PieceSize, ...]

    def own_rest_ms(self) -> float:
        """Return how long each agent rests after a request."""
        return self.pause_ms * len(self.pieces)


@dataclass(frozen=True)
class SplitStep:
    """A split that was chosen. host_before_ms, host_ms: when the host ends where nothing else is.

    before_ms, end_ms: of the whole crawl, with all steps before this one.
    """

    choice: SplitChoice
    host_before_ms: float
    host_ms: float
    before_ms: float
    end_ms: float


def split_end(
    forecast: CrawlForecast, choice: SplitChoice, wait_ms: float = 0.0
) -> tuple[CrawlForecast, float]:
    """Return the forecast with a host split, and when the host ends where nothing else is.

    wait_ms: how much later pieces end because pages that one found for another travel.
    """
    loads = {choice.owner: forecast.loads[choice.owner].without(choice.address)}
    ended = 0.0
    for piece in choice.pieces:
        load = loads.get(piece.agent, forecast.loads[piece.agent])
        part = HostPart(
            max(piece.requests, 1.0), piece.volume_kb, piece.transfer_ms, choice.own_rest_ms()
        )
        added = load.alone(part)
        loads[piece.agent] = load.plus(choice.address, added, wait_ms)
        work_ms = float(load.alone_ms(added)[0]) + wait_ms
        ended = max(ended, forecast.end_of(piece.agent, work_ms))
    return forecast.changed(loads), ended


def choose_splits(
    forecast: CrawlForecast,
    ways: Callable[[int, int], Sequence[SplitChoice]],
    *,
    error: float,
    wait_ms: float = 0.0,
    most: int,
) -> list[SplitStep]:
    """Return the splits that make the whole crawl end earlier, in the order in which they do.

    ways: (address, agent) -> the ways in which that address can be split, fewest pieces first; none
    where it cannot. error: share of an end by which predictions may be wrong; less gains nothing.
    most: so many addresses are looked at.
    """
    return _that_pay(list(_steps(forecast, ways, error, wait_ms, most)), error)


def _steps(
    forecast: CrawlForecast,
    ways: Callable[[int, int], Sequence[SplitChoice]],
    error: float,
    wait_ms: float,
    most: int,
) -> Iterator[SplitStep]:
    """Yield splits of the address that ends last, each with those before it."""
    split: set[int] = set()
    for _ in range(most):
        agent = max(forecast.ends_ms, key=lambda one: (forecast.ends_ms[one], one), default=None)
        if agent is None or not len(forecast.loads[agent].address):
            return
        mine = forecast.loads[agent]
        alone_ms = mine.alone_ms(mine.load)
        longest = int(alone_ms.argmax())
        address = int(mine.address[longest])
        host_before = forecast.end_of(agent, float(alone_ms[longest]))
        if address in split or host_before < (1 - error) * forecast.end_ms:
            return  # a piece holds the crawl up, or many hosts together, which a plan can move
        tried = [(one, *split_end(forecast, one, wait_ms)) for one in ways(address, agent)]
        tried = [one for one in tried if one[1].end_ms <= forecast.end_ms and one[2] < host_before]
        if not tried:
            return
        best = min(after.end_ms for _, after, _ in tried) * ALMOST
        soon = [one for one in tried if one[1].end_ms <= best]
        host_best = min(host_ms for *_, host_ms in soon) * ALMOST
        choice, after, host_ms = next(one for one in soon if one[2] <= host_best)
        yield SplitStep(choice, host_before, host_ms, forecast.end_ms, after.end_ms)
        split.add(address)
        forecast = after


def _that_pay(steps: list[SplitStep], error: float) -> list[SplitStep]:
    """Return the steps up to the last that gains more than the error, with those it needs."""
    paid = 0
    for count, step in enumerate(steps, 1):
        if step.end_ms < (1 - error) * steps[paid].before_ms:
            paid = count
            if paid == len(steps):
                break
    return steps[:paid]


def merge_pays(
    forecast: CrawlForecast,
    address: int,
    owner: int,
    whole: HostPart,
    agents: Mapping[int, float],
    *,
    error: float,
) -> CrawlForecast | None:
    """Return the forecast with a host merged, None where its split still pays.

    agents: those that have pieces, with the work of their piece alone. The crawl may end no later
    than now, and the host clearly before it, or no later than its pieces: so a small change does
    not split it again.
    """
    loads = {number: forecast.loads[number].without(address) for number in agents}
    load = loads.get(owner, forecast.loads[owner])
    added = load.alone(whole)
    after = forecast.changed({**loads, owner: load.plus(address, added)})
    if after.end_ms > forecast.end_ms:
        return None
    host_ms = forecast.end_of(owner, float(load.alone_ms(added)[0]))
    pieces_ms = max(forecast.end_of(number, work) for number, work in agents.items())
    return after if host_ms <= max(pieces_ms, (1 - error) * forecast.end_ms) else None
