"""The hosts that all agents probe, as CSV."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.pages.planning.probes import coverage_now
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit

__all__ = ["PAGES"]

HEADER: Final = ("host", "since (UTC)", "agents that measured it")


def export(visit: Visit) -> Response:
    """Send the control hosts; may be minutes old, as on the page."""
    rows: list[list[Cell]] = [
        [row.host, figures.iso(row.control_ms), row.agents] for row in coverage_now(visit).controls
    ]
    return csv_response("control-hosts", HEADER, rows)


PAGES: Final = (Page("GET", "/probes/control-hosts.csv", "viewer", export),)
