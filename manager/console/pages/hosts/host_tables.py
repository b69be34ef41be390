"""The tables and lists of a host's page, whole and as CSV."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
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

__all__ = ["PAGES", "agent_name", "newest_orders", "newest_owners", "newest_sums"]

OWNERS_HEADER: Final = (
    "unit",
    "agent",
    "since (UTC)",
    "until (UTC)",
    "reason",
    "ended because",
    "plan",
)
MEASURED_HEADER: Final = (
    "unit",
    "round",
    "kind",
    "agent",
    "requests",
    "pages",
    "errors",
    "sent (bytes)",
    "received (bytes)",
    "took (ms)",
)
ORDERS_HEADER: Final = (
    "id",
    "unit",
    "round",
    "agent",
    "state",
    "ordered (UTC)",
    "granted (UTC)",
    "finished (UTC)",
    "pages",
    "reason",
)
DIRECTORIES_HEADER: Final = (
    "directory",
    "round",
    "kind",
    "agent",
    "requests",
    "pages",
    "errors",
    "sent (bytes)",
    "received (bytes)",
    "took (ms)",
)
BESIDE_HEADER: Final = ("host", "state", "owner")
START_PAGES_HEADER: Final = ("unit", "page", "found on")


def agent_name(detail: HostDetail, number: int) -> str:
    """Return the name of an agent that a host's rows have by its number."""
    return detail.agents.get(number, f"agent {number}")


def newest_owners(detail: HostDetail) -> list[AssignmentRow]:
    """Return who owned units of a host, the last first."""
    return sorted(detail.owners, key=lambda row: row.since_ms, reverse=True)


def newest_sums(detail: HostDetail) -> list[SumRow]:
    """Return the measured sums of a host, the newest round first."""
    return sorted(detail.sums, key=lambda row: row.round, reverse=True)


def newest_orders(detail: HostDetail) -> list[OrderRow]:
    """Return which probes of a host were ordered, the last first."""
    return sorted(detail.orders, key=lambda row: row.id, reverse=True)


def _detail(visit: Visit) -> HostDetail:
    return host_detail(visit.db, visit.query.get("host", ""), visit.policy)


def _units(detail: HostDetail) -> dict[int, str]:
    return {unit.id: unit.key for unit in detail.units}


def export_owners(visit: Visit) -> Response:
    """Send all owners of a host's units as CSV."""
    detail = _detail(visit)
    units = _units(detail)
    rows: list[list[Cell]] = [
        [
            units[row.unit_id],
            agent_name(detail, row.agent_id),
            figures.iso(row.since_ms),
            moment_cell(row.until_ms),
            row.reason_opened,
            row.reason_closed,
            row.plan_id,
        ]
        for row in newest_owners(detail)
    ]
    return csv_response("host-owners", OWNERS_HEADER, rows)


def export_measured(visit: Visit) -> Response:
    """Send what agents measured of a host in all rounds as CSV."""
    detail = _detail(visit)
    units = _units(detail)
    rows: list[list[Cell]] = [
        [
            units[row.unit_id],
            row.round,
            row.kind,
            agent_name(detail, row.agent_id),
            row.requests,
            row.pages,
            row.errors,
            row.request_bytes,
            row.response_bytes,
            row.ms,
        ]
        for row in newest_sums(detail)
    ]
    return csv_response("host-measured", MEASURED_HEADER, rows)


def export_orders(visit: Visit) -> Response:
    """Send all probe orders of a host as CSV."""
    detail = _detail(visit)
    units = _units(detail)
    rows: list[list[Cell]] = [
        [
            row.id,
            units[row.unit_id],
            row.round,
            agent_name(detail, row.agent_id),
            row.state,
            figures.iso(row.ordered_ms),
            moment_cell(row.granted_ms),
            moment_cell(row.finished_ms),
            row.pages,
            str(row.reason or ""),
        ]
        for row in newest_orders(detail)
    ]
    return csv_response("host-probe-orders", ORDERS_HEADER, rows)


def export_directories(visit: Visit) -> Response:
    """Send the measured sums of all directories of a host as CSV, not only of the largest."""
    names = {one.id: one.name for one in named_agents(visit.db)}
    rows: list[list[Cell]] = [
        [
            row.path,
            row.round,
            row.kind,
            names.get(row.agent_id, f"agent {row.agent_id}"),
            row.requests,
            row.pages,
            row.errors,
            row.request_bytes,
            row.response_bytes,
            row.ms,
        ]
        for row in directories_of_host(visit.db, visit.query.get("host", ""))
    ]
    return csv_response("host-directories", DIRECTORIES_HEADER, rows)


def export_beside(visit: Visit) -> Response:
    """Send all other hosts that share a host's address as CSV."""
    found = hosts_beside(visit.db, visit.query.get("host", ""))
    rows: list[list[Cell]] = [[host.key, host.state, host.owner] for host in found]
    return csv_response("hosts-beside", BESIDE_HEADER, rows)


def export_start_pages(visit: Visit) -> Response:
    """Send all start pages of a host as CSV."""
    found = start_pages_of_host(visit.db, visit.query.get("host", ""))
    rows: list[list[Cell]] = [[unit, page.url, page.referer] for unit, page in found]
    return csv_response("host-start-pages", START_PAGES_HEADER, rows)


PAGES: Final = (
    Page("GET", "/host/owners.csv", "viewer", export_owners, query=("host",)),
    Page("GET", "/host/measured.csv", "viewer", export_measured, query=("host",)),
    Page("GET", "/host/probe-orders.csv", "viewer", export_orders, query=("host",)),
    Page("GET", "/host/directories.csv", "viewer", export_directories, query=("host",)),
    Page("GET", "/host/beside.csv", "viewer", export_beside, query=("host",)),
    Page("GET", "/host/start-pages.csv", "viewer", export_start_pages, query=("host",)),
)
