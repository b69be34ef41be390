"""Turn the tables into a balancing problem: who could fetch what, and what that costs.

Invariant: a group is one atom, so no plan splits an address, but for the pieces of a split host;
only agents that take part are in it; pins that stand and bans hold in every plan (`pin_rules`).
A volume that was never crawled is taken from the probe: exact where the probe saw the whole unit,
else, as where it was cut short, at least as much as it saw, and at least the median.
Costs are transfer costs, dearer for agents of less capacity (`agent_capacity`). Solving is left to
`manager.balancing`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.balancing.arrays import NO_OWNER
from manager.balancing.cost import cost_matrix
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import relative_capacity, scale_costs
from manager.balancing.problem import Problem
from manager.db.engine import Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements
from manager.db.ownership import rights
from manager.db.planning import plan_inputs
from manager.db.planning.plan_inputs import PlanUnit
from manager.distance.minimum_spanning_tree import SpanningTree
from manager.distance.nearest_agents import nearest_pairs
from manager.operations.measurement.distance_model import LoadedModel, load_model
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.ownership.pin_rules import EffectivePins, load_standing
from manager.operations.planning.distance_matrix import (
    barred,
    between_agents,
    complete,
    fetched_elsewhere,
    tree_of,
)
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["DEAL", "Loaded", "load_all", "load_some"]

WIDE: Final = 20_000_000
"""Cells from which single precision is used: 200 agents x 500,000 units are 400 MB then."""

DEAL: Final = "random"
"""The method that asks no distance, so that no prediction moves anything: it may go by them."""

PROBE_FACTOR: Final = 10.0
"""Largest probe of a unit over the next."""

PIECES: Final = -(1 << 40)
"""Numbers of atoms below this one are pieces; those of groups and of agents' units are above."""

NOTHING: Final[Mapping[int, int]] = MappingProxyType({})

DistanceTuple = tuple[int, int, float | None, int, int]


@dataclass(frozen=True)
class Loaded:
    """A problem, and which agent and unit its rows and columns are.

    predicted: (agents, units) no agent measured that distance. work: the inputs of the work of
    agents. remarks: pins and bans that cannot be applied now.
    """

    problem: Problem
    agent_ids: tuple[int, ...]
    unit_ids: npt.NDArray[np.int64]
    tree: SpanningTree
    predicted: npt.NDArray[np.bool_]
    work: Work
    remarks: tuple[Message, ...] = ()


def load_all(
    tx: Transaction,
    agents: Sequence[AgentRow],
    states: Sequence[str],
    policy: Policy,
    *,
    on_predictions: bool = False,
    keep_crawled: bool = False,
    fetched: Mapping[int, int] = NOTHING,
    start_ms: int = 0,
) -> Loaded | None:
    """Load the units in some states; None where there is no agent or no unit.

    start_ms: when the crawl begins, epoch milliseconds; the hours of agents are counted from it.
    on_predictions: agents whose distance is only predicted may have units that others measured.
    keep_crawled: what an agent crawls now stays with it, as rounds may overlap.
    fetched: unit to the agent whose probe fetched all of it in the round: it goes to no agent that
    did not measure it, on predictions neither.
    """
    if not agents:
        return None
    ids = [agent.id for agent in agents]
    return _load(
        agents,
        plan_inputs.plan_units(tx, states=states),
        plan_inputs.distances_among(tx, ids, states),
        plan_inputs.cut_short_among(tx, states=states),
        policy,
        load_standing(tx),
        load_model(tx, ids),
        plan_inputs.last_tree(tx),
        on_predictions=on_predictions,
        crawled=rights.crawled_now(tx) if keep_crawled else {},
        fetched=fetched,
        start_ms=start_ms,
    )


def load_some(
    tx: Transaction,
    agents: Sequence[AgentRow],
    unit_ids: Collection[int],
    policy: Policy,
    *,
    start_ms: int = 0,
) -> Loaded | None:
    """Load some units; None where there is no agent or no unit. start_ms: see `load_all`."""
    if not agents:
        return None
    ids = {agent.id for agent in agents}
    known = [
        (row.unit_id, row.agent_id, row.ms_per_kb, row.bytes, row.lines)
        for row in measurements.distances_of_units(tx, unit_ids)
        if row.agent_id in ids
    ]
    units = plan_inputs.plan_units(tx, unit_ids=unit_ids)
    standing = load_standing(tx, unit_ids)
    model = load_model(tx, [agent.id for agent in agents])
    cut = plan_inputs.cut_short_among(tx, unit_ids=unit_ids)
    return _load(agents, units, known, cut, policy, standing, model, start_ms=start_ms)


def _load(
    agents: Sequence[AgentRow],
    units: Sequence[PlanUnit],
    known: Iterable[DistanceTuple],
    cut_short: Collection[tuple[int, int]],
    policy: Policy,
    standing: EffectivePins,
    model: LoadedModel | None,
    tree_before: Sequence[tuple[str, str]] = (),
    *,
    on_predictions: bool = False,
    crawled: Mapping[int, int] = NOTHING,
    fetched: Mapping[int, int] = NOTHING,
    start_ms: int = 0,
) -> Loaded | None:
    row_of = {agent.id: row for row, agent in enumerate(agents)}
    plain = {agent.id for agent in agents if agent.is_plain}
    pinned = {unit: agent for unit, agent in standing.owner.items() if agent in row_of}
    units, remarks = _allowed(units, row_of.keys(), plain, standing)
    if not units:
        return None
    pinned = _kept(units, crawled, row_of, standing) | pinned
    column_of = {unit.unit_id: column for column, unit in enumerate(units)}
    wide = len(agents) * len(units) > WIDE
    distance = np.full((len(agents), len(units)), np.nan, np.float32 if wide else np.float64)
    probed_kb = np.zeros(len(units))
    probed_urls = np.zeros(len(units))
    whole = np.zeros(len(units), dtype=np.bool_)
    seen: dict[int, list[tuple[float, int, bool]]] = {}
    for unit, agent, ms_per_kb, size_bytes, lines in known:
        column = column_of.get(unit)
        if column is None:
            continue
        distance[row_of[agent], column] = np.inf if ms_per_kb is None else ms_per_kb
        seen.setdefault(column, []).append(
            (
                size_bytes / 1000,
                lines,
                lines < policy.probe_pages and (unit, agent) not in cut_short,
            )
        )
    for column, probes in seen.items():
        probed_kb[column], probed_urls[column], whole[column] = _largest_probe(probes)
    volume_kb = _volumes(units, probed_kb, whole)
    matrix = complete(distance, model, policy.distance_outlier_factor)
    names = tuple(agent.name for agent in agents)
    between = between_agents(matrix)
    tree = tree_of(between, names, tree_before)
    costs = cost_matrix(volume_kb, matrix.ms_per_kb)
    before = np.array([row_of.get(unit.owner or 0, NO_OWNER) for unit in units], dtype=np.intp)
    group = np.array([_atom(unit) for unit in units], dtype=np.intp)
    work = _work(agents, units, costs.costs, volume_kb, probed_urls, start_ms)
    scale_costs(costs.costs, work.relative)
    unreachable = costs.unreachable
    if on_predictions:
        fetcher = [row_of.get(fetched.get(unit.unit_id, 0), NO_OWNER) for unit in units]
        unreachable = unreachable | fetched_elsewhere(
            matrix.predicted, np.array(fetcher, dtype=np.intp), group
        )
    else:
        minor = whole & (np.isfinite(matrix.ms_per_kb) & ~matrix.predicted).any(axis=0)
        unreachable = barred(matrix, unreachable, before, group, minor)
    problem = Problem(
        names=names,
        costs=costs.costs,
        before=before,
        edges=tree.edges,
        near=nearest_pairs(between),
        group=group,
        pins=np.array(
            [row_of[pinned[u.unit_id]] if u.unit_id in pinned else NO_OWNER for u in units],
            dtype=np.intp,
        ),
        forbidden=_forbidden(agents, units, standing),
        unreachable=unreachable,
        work=work,
    )
    return Loaded(
        problem,
        tuple(agent.id for agent in agents),
        np.array([unit.unit_id for unit in units], dtype=np.int64),
        tree,
        matrix.predicted,
        work,
        remarks,
    )


def _kept(
    units: Sequence[PlanUnit],
    crawled: Mapping[int, int],
    agent_ids: Collection[int],
    standing: EffectivePins,
) -> dict[int, int]:
    """Return the units that stay with the agents that crawl them, unless a person says otherwise.

    What must have one owner stays as a whole, so the others of its address are named, too.
    """
    agent_of = {
        _atom(unit): crawled[unit.unit_id]
        for unit in units
        if unit.owner is not None and crawled.get(unit.unit_id) == unit.owner
    }
    return {
        unit.unit_id: agent
        for unit in units
        if (agent := agent_of.get(_atom(unit))) in agent_ids
        and agent is not None
        and unit.owner == agent
        and _atom(unit) not in standing.of_atom
        and agent not in standing.banned.get(unit.group_id, ())
    }


def _largest_probe(probes: list[tuple[float, int, bool]]) -> tuple[float, int, bool]:
    """Return (KBytes, lines, saw all) of the probe that saw most of a unit.

    One that claims ten times what the next one saw is no measure of the unit.
    """
    largest, *others = sorted(probes, reverse=True)
    if others and others[0][0] > 0 and largest[0] > PROBE_FACTOR * others[0][0]:
        return others[0]
    return largest


def _work(
    agents: Sequence[AgentRow],
    units: Sequence[PlanUnit],
    costs: npt.NDArray[np.floating],
    volume_kb: npt.NDArray[np.float64],
    probed_urls: npt.NDArray[np.float64],
    start_ms: int,
) -> Work:
    """Return the inputs of the work of agents; uncounted URLs are estimated from the volume."""
    known = volume_kb[~np.isnan(volume_kb)]
    volume = np.where(np.isnan(volume_kb), np.median(known) if len(known) else 1.0, volume_kb)
    crawled = np.array([unit.pages or 0 for unit in units], dtype=np.float64)
    counted = np.flatnonzero((crawled > 0) & (volume > 0))
    per_kb = crawled[counted].sum() / volume[counted].sum() if len(counted) else 0.0
    urls = np.where(crawled > 0, crawled, np.maximum(probed_urls, np.ceil(volume * per_kb)))
    capacities = tuple(capacity_of(agent) for agent in agents)
    relative = relative_capacity(capacities, costs, volume)
    return Work.of(
        capacities,
        costs,
        urls + 1,  # and a robots.txt
        volume,
        np.array([unit.group_id for unit in units], dtype=np.intp),
        start_ms=start_ms,
        pause_ms=np.array([unit.pause_ms for unit in units], dtype=np.float64),
        relative=relative,
    )


def _allowed(
    units: Sequence[PlanUnit],
    agent_ids: Collection[int],
    plain: Collection[int],
    standing: EffectivePins,
) -> tuple[Sequence[PlanUnit], tuple[Message, ...]]:
    """Return the units that some agent may have, and remarks on pins and bans.

    plain: the plain ones of the agents: they get no group with a directory. Units that no agent
    here may have stay where they are.
    """
    here = set(agent_ids)
    denied = {group: set(banned) for group, banned in standing.banned.items()}
    for unit in units if plain else ():
        if unit.is_directory:
            denied.setdefault(unit.group_id, set()).update(plain)
    blocked = {group for group, of_group in denied.items() if here <= of_group}
    left = [unit for unit in units if unit.group_id not in blocked] if blocked else units
    remarks = standing.sentences
    if len(left) == len(units):
        return units, remarks
    return left, (*remarks, Message("planning.units_stay", units=len(units) - len(left)))


def _atom(unit: PlanUnit) -> int:
    """Return what must have one owner: an address, or a piece of a split host."""
    return PIECES - unit.unit_id if unit.is_piece else unit.group_id


def _forbidden(
    agents: Sequence[AgentRow], units: Sequence[PlanUnit], standing: EffectivePins
) -> npt.NDArray[np.bool_] | None:
    """Return (agents, units): what bans say, and that a plain agent, which cannot read `#Except`,
    gets whole hosts only."""
    directory = np.array([unit.is_directory for unit in units], dtype=np.bool_)
    if not directory.any() and not standing.banned:
        return None
    plain = np.array([agent.is_plain for agent in agents], dtype=np.bool_)
    forbidden = plain[:, None] & directory[None, :]
    row_of = {agent.id: row for row, agent in enumerate(agents)}
    for column, unit in enumerate(units) if standing.banned else ():
        for agent in standing.banned.get(unit.group_id, ()):
            if agent in row_of:
                forbidden[row_of[agent], column] = True
    return forbidden


def _volumes(
    units: Sequence[PlanUnit],
    probed_kb: npt.NDArray[np.float64],
    whole: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float64]:
    """Return (units,) KBytes, nan where nothing is known. whole: the probe saw all of it."""
    crawled = np.array(
        [np.nan if unit.volume_kb is None else unit.volume_kb for unit in units], dtype=np.float64
    )
    volume = np.where(np.isnan(crawled) & whole, probed_kb, crawled)
    sure = volume[~np.isnan(volume)]
    if not len(sure):
        return np.where(probed_kb > 0, probed_kb, np.nan)
    partly = np.isnan(volume) & (probed_kb > 0)
    return np.where(partly, np.maximum(probed_kb, np.median(sure)), volume)
