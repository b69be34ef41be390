"""Hosts beside agents: how far each is from each.

Invariant: only a page of hosts is ever loaded. What is measured and what is predicted stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.planning import probe_coverage
from manager.db.planning.probe_coverage import OrderState
from manager.db.transaction import chunks
from manager.errors import NotFoundError
from manager.message_fields import message_fields
from manager.operations.hosts.host_views import HostFilter, HostLine, every_host, list_hosts
from manager.operations.planning.distance_views import DistanceView, distances_of
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Cell", "Matrix", "MatrixRow", "every_matrix_row", "matrix"]

CELLS_AT_ONCE: Final = 200_000
ROWS_AT_ONCE: Final = 1_000


@message_fields
@frozen
class Cell:
    """Distance of a host from an agent. state: measured, weak, unreachable, predicted; empty:
    nothing is known. order: of the newest order of the pair its state, and why it failed."""

    state: str
    ms_per_kb: float | None
    measured_ms: int | None
    order: str
    reason: Message | None


_NOTHING: Final = Cell("", None, None, "", None)  # most are, where agents are many


@frozen
class MatrixRow:
    """A host with its owner, and a cell for each agent, in the order of `Matrix.agents`."""

    host: str
    owner: str
    cells: list[Cell]


@frozen
class Matrix:
    """A page of hosts beside some agents. matching: hosts; counted up to 10,000."""

    matching: int
    agents: list[str]
    rows: list[MatrixRow]


def matrix(
    db: Database,
    agent_names: Sequence[str],
    where: HostFilter | None = None,
    *,
    descending: bool = False,
    limit: int = 50,
    offset: int = 0,
    policy: Policy = DEFAULT_POLICY,
) -> Matrix:
    """Return a page of hosts, by name from its end, with their distances from some agents.

    Raises NotFoundError for an agent that does not exist.
    """
    found = list_hosts(db, where, sort=_sort(descending), limit=limit, offset=offset)
    with db.read() as tx:
        numbers = _numbers(tx, agent_names)
        rows = _rows(tx, found.hosts, numbers, policy)
    return Matrix(found.matching, list(agent_names), rows)


def every_matrix_row(
    db: Database,
    agent_names: Sequence[str],
    where: HostFilter | None = None,
    *,
    descending: bool = False,
    policy: Policy = DEFAULT_POLICY,
) -> Iterator[MatrixRow]:
    """Yield the rows of all hosts that match, in their order of this moment.

    Each row is read when its turn comes, so a reader may be slow. Raises the errors of `matrix`,
    before the first row.
    """
    with db.read() as tx:
        numbers = _numbers(tx, agent_names)
    lines = every_host(db, where or HostFilter(), sort=_sort(descending))
    return _every_row(db, lines, numbers, policy)


def _every_row(
    db: Database, lines: Iterator[HostLine], numbers: Sequence[int], policy: Policy
) -> Iterator[MatrixRow]:
    rows_at_once = min(ROWS_AT_ONCE, max(1, CELLS_AT_ONCE // max(1, len(numbers))))
    for part in chunks(lines, rows_at_once):
        with db.read() as tx:
            rows = _rows(tx, part, numbers, policy)
        yield from rows


def _sort(descending: bool) -> str:
    return "-domain" if descending else "domain"


def _numbers(tx: Transaction, agent_names: Sequence[str]) -> list[int]:
    """Return the numbers of agents. Raises NotFoundError for one that does not exist."""
    number_of = {name: number for number, name in agents.names(tx).items()}
    for name in agent_names:
        if name not in number_of:
            raise NotFoundError("general.unknown_agent", agent=name[:253], see="agents")
    return [number_of[name] for name in agent_names]


def _rows(
    tx: Transaction, lines: Sequence[HostLine], numbers: Sequence[int], policy: Policy
) -> list[MatrixRow]:
    unit_of = hosts.ids_of_units(tx, [line.key for line in lines])
    ids = list(unit_of.values())
    views = {(view.unit_id, view.agent_id): view for view in distances_of(tx, ids, policy)}
    orders = probe_coverage.newest_orders(tx, ids)
    rows = []
    for line in lines:
        unit = unit_of.get(line.key, 0)
        pairs_of = [(unit, number) for number in numbers]
        cells = [_cell(views.get(pair), orders.get(pair)) for pair in pairs_of]
        rows.append(MatrixRow(line.key, line.owner or "", cells))
    return rows


def _cell(view: DistanceView | None, order: OrderState | None) -> Cell:
    if view is None and order is None:
        return _NOTHING
    waits, why = "", None
    if order is not None and order.state != "done":
        waits, why = order.state, order.reason
    if view is None:
        return Cell("", None, None, waits, why)
    measured_ms = None if view.state == "predicted" else view.measured_ms
    return Cell(view.state, view.ms_per_kb, measured_ms, waits, why)
