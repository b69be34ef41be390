"""The tables and lists of a host's page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from manager.console.language import lazy, plazy
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import (
    AGENT,
    AGO,
    BYTES,
    DURATION,
    FIGURE,
    FLAG,
    ID,
    MOMENT,
    NUMBER,
    SENTENCE,
    STATE,
    WORD,
)
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.db.hosts.directories import DirectoryRow
from manager.db.hosts.host_views import HostLine
from manager.db.hosts.start_pages import StartPageRow
from manager.db.measurement.measurements import SumRow
from manager.db.ownership.assignments import AssignmentRow
from manager.db.planning.probes import OrderRow
from manager.operations.fleet.agents import named_agents
from manager.operations.hosts.host_views import (
    HostDetail,
    directories_of_host,
    host_detail,
    hosts_beside,
    start_pages_of_host,
)
from manager.operations.planning.distance_views import DistanceView
from shared.frozen import frozen

__all__ = [
    "BESIDE",
    "DIRECTORIES",
    "DISTANCES",
    "MEASURED",
    "ORDERS",
    "OWNERS",
    "PAGES",
    "START_PAGES",
    "Named",
    "agent_name",
    "nearest_distances",
    "newest_orders",
    "newest_owners",
    "newest_sums",
    "present_owners",
]

R = TypeVar("R")
UnitRow = TypeVar("UnitRow", AssignmentRow, SumRow, OrderRow, DistanceView)


@frozen
class Named(Generic[R]):
    """A row of a host with the name of its agent and its unit: the key, and the path below it."""

    row: R
    agent: str
    unit: str = ""
    path: str = ""


def agent_name(detail: HostDetail, number: int) -> str:
    """Return the name of an agent that a host's rows have by its number."""
    return detail.agents.get(number, f"agent {number}")


def _named(detail: HostDetail, rows: Iterable[UnitRow]) -> list[Named[UnitRow]]:
    units = {unit.id: unit for unit in detail.units}
    return [
        Named(
            row,
            agent_name(detail, row.agent_id),
            units[row.unit_id].key,
            units[row.unit_id].path,
        )
        for row in rows
    ]


def present_owners(detail: HostDetail) -> dict[int, int]:
    """Return the number of the agent that owns each unit of a host now, by the unit's number."""
    return {row.unit_id: row.agent_id for row in detail.owners if row.until_ms is None}


def nearest_distances(detail: HostDetail) -> list[Named[DistanceView]]:
    """Return the distances of a host, the nearest first, measured ones before predicted ones.

    A piece of a split host is as far as its host, but from the agent that crawls it.
    """
    owners = present_owners(detail)
    return sorted(
        (
            one
            for one in _named(detail, detail.distances)
            if one.path == "/" or owners.get(one.row.unit_id) == one.row.agent_id
        ),
        key=lambda one: (
            one.path,
            one.row.state == "predicted",
            one.row.ms_per_kb is None,
            one.row.ms_per_kb or 0.0,
        ),
    )


def newest_owners(detail: HostDetail) -> list[Named[AssignmentRow]]:
    """Return who owned units of a host, the last first."""
    return _named(detail, sorted(detail.owners, key=lambda row: row.since_ms, reverse=True))


def newest_sums(detail: HostDetail) -> list[Named[SumRow]]:
    """Return the measured sums of a host, the newest round first."""
    return _named(detail, sorted(detail.sums, key=lambda row: row.round, reverse=True))


def newest_orders(detail: HostDetail) -> list[Named[OrderRow]]:
    """Return which probes of a host were ordered, the last first."""
    return _named(detail, sorted(detail.orders, key=lambda row: row.id, reverse=True))


def _directories(visit: Visit) -> list[Named[DirectoryRow]]:
    names = {one.id: one.name for one in named_agents(visit.db)}
    return [
        Named(row, names.get(row.agent_id, f"agent {row.agent_id}"))
        for row in directories_of_host(visit.db, _key(visit))
    ]


def _quartile(name: str) -> Column[Named[DistanceView]]:
    heading = f"{name.replace('_', ' ')} (ms/KB)"
    return Column(name, lambda one: getattr(one.row, name), kind=FIGURE, file=heading)


def _key(visit: Visit) -> str:
    return visit.query.get("host", "")


def _detail(visit: Visit) -> HostDetail:
    return host_detail(visit.db, _key(visit), visit.policy)


DISTANCES: Final[Table[Named[DistanceView]]] = Table(
    "/host/distances",
    "Distances of a host, the nearest first, measured ones before predicted ones",
    InMemory(lambda visit: nearest_distances(_detail(visit))),
    (
        Column("unit", lambda one: one.unit),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("path", lambda one: one.path, lazy("Directory"), file=None),
        Column("distance", lambda one: one.row.ms_per_kb, lazy("ms/KB"), FIGURE, "ms/KB"),
        Column(
            "state",
            lambda one: one.row.state,
            kind=WORD,
            about="unreachable, weak, measured or predicted; at most 10 of a unit are predicted",
        ),
        Column("quartiles", None, lazy("Quartiles"), FIGURE),
        *map(_quartile, ("first_quartile", "median", "third_quartile")),
        Column("measured", lambda one: one.row.measured_ms, lazy("Measured"), AGO),
        Column("since", lambda one: one.row.since_ms, kind=MOMENT, about="oldest request"),
        Column("kind", lambda one: one.row.kind, about="kind of the requests"),
        Column("round", lambda one: one.row.round or None, kind=ID),
        Column("requests", lambda one: one.row.lines, kind=NUMBER),
        Column("failed", lambda one: one.row.failed, kind=NUMBER),
        Column("received", lambda one: one.row.bytes, kind=BYTES),
        Column("took", lambda one: one.row.ms, kind=DURATION),
        Column("unreachable_since", lambda one: one.row.unreachable_since_ms, kind=MOMENT),
        Column("outlier", lambda one: one.row.outlier, kind=FLAG),
        Column("reason", lambda one: one.row.reason, lazy("Evidence"), SENTENCE, style="wide"),
    ),
    parameters=("host",),
)
OWNERS: Final[Table[Named[AssignmentRow]]] = Table(
    "/host/owners",
    "Owners of the units of a host, the last first",
    InMemory(lambda visit: newest_owners(_detail(visit))),
    (
        Column("unit", lambda one: one.unit),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("path", lambda one: one.path, lazy("Directory"), file=None),
        Column("since", lambda one: one.row.since_ms, lazy("Since"), MOMENT),
        Column("until", lambda one: one.row.until_ms, plazy("moment", "Until"), MOMENT),
        Column("reason", lambda one: one.row.reason_opened, lazy("Reason"), SENTENCE, style="wide"),
        Column("ended_because", lambda one: one.row.reason_closed, kind=SENTENCE),
        Column("plan", lambda one: one.row.plan_id, kind=ID),
    ),
    parameters=("host",),
)
MEASURED: Final[Table[Named[SumRow]]] = Table(
    "/host/measured",
    "Measured sums of a host, the newest round first",
    InMemory(lambda visit: newest_sums(_detail(visit))),
    (
        Column("unit", lambda one: one.unit),
        Column("round", lambda one: one.row.round, lazy("Round"), ID, style="numbered"),
        Column("kind", lambda one: one.row.kind, about="kind of the requests"),
        Column("agent", lambda one: one.agent, lazy("Agent")),
        Column("path", lambda one: one.path, lazy("Directory"), file=None),
        Column("requests", lambda one: one.row.requests, lazy("Requests"), NUMBER),
        Column("pages", lambda one: one.row.pages, lazy("Pages"), NUMBER),
        Column("errors", lambda one: one.row.errors, lazy("Errors"), NUMBER),
        Column("sent", lambda one: one.row.request_bytes, kind=BYTES),
        Column("received", lambda one: one.row.response_bytes, lazy("Received"), BYTES),
        Column("took", lambda one: one.row.ms, lazy("Took"), DURATION),
    ),
    parameters=("host",),
)
ORDERS: Final[Table[Named[OrderRow]]] = Table(
    "/host/probe-orders",
    "Probe orders of a host, the last first",
    InMemory(lambda visit: newest_orders(_detail(visit))),
    (
        Column("id", lambda one: one.row.id, kind=ID),
        Column("unit", lambda one: one.unit),
        Column("round", lambda one: one.row.round, lazy("Round"), ID, style="numbered"),
        Column("agent", lambda one: one.agent, lazy("Agent")),
        Column("state", lambda one: one.row.state, lazy("State"), STATE),
        Column("ordered", lambda one: one.row.ordered_ms, lazy("Ordered"), AGO),
        Column("granted", lambda one: one.row.granted_ms, kind=MOMENT),
        Column("finished", lambda one: one.row.finished_ms, kind=MOMENT),
        Column("pages", lambda one: one.row.pages, kind=NUMBER),
        Column("reason", lambda one: one.row.reason, kind=SENTENCE),
    ),
    parameters=("host",),
)
DIRECTORIES: Final[Table[Named[DirectoryRow]]] = Table(
    "/host/directories",
    "Directories of a host, of the newest round and the largest first",
    InMemory(_directories),
    (
        Column("directory", lambda one: one.row.path, lazy("Directory"), style="path"),
        Column("round", lambda one: one.row.round, lazy("Round"), ID),
        Column("kind", lambda one: one.row.kind, about="kind of the requests"),
        Column("agent", lambda one: one.agent),
        Column("requests", lambda one: one.row.requests, kind=NUMBER),
        Column("pages", lambda one: one.row.pages, lazy("Pages"), NUMBER),
        Column("errors", lambda one: one.row.errors, lazy("Errors"), NUMBER),
        Column("sent", lambda one: one.row.request_bytes, kind=BYTES),
        Column("received", lambda one: one.row.response_bytes, lazy("Received"), BYTES),
        Column("took", lambda one: one.row.ms, lazy("Took"), DURATION),
    ),
    parameters=("host",),
)
BESIDE: Final[Table[HostLine]] = Table(
    "/host/beside",
    "Other hosts that share the address of a host",
    InMemory(lambda visit: hosts_beside(visit.db, _key(visit))),
    (
        Column("host", lambda host: host.key),
        Column("state", lambda host: host.state),
        Column("owner", lambda host: host.owner),
    ),
    parameters=("host",),
    files="hosts-beside",
)
START_PAGES: Final[Table[tuple[str, StartPageRow]]] = Table(
    "/host/start-pages",
    "Start pages of a host",
    InMemory(lambda visit: start_pages_of_host(visit.db, _key(visit))),
    (
        Column("unit", lambda row: row[0]),
        Column("page", lambda row: row[1].url),
        Column("found_on", lambda row: row[1].referer),
    ),
    parameters=("host",),
)
PAGES: Final = (
    *DISTANCES.file_pages(),
    *OWNERS.file_pages(),
    *MEASURED.file_pages(),
    *ORDERS.file_pages(),
    *DIRECTORIES.file_pages(),
    *BESIDE.file_pages(),
    *START_PAGES.file_pages(),
)
