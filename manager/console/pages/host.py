"""One host: who owns it and owned it before, how far it is from every agent, what it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console.access import Page
from manager.console.visit import Question, Visit, link
from manager.operations.host_views import HostDetail, host_detail
from manager.operations.hosts import exclude_host, include_host

__all__ = ["PAGES"]

ROWS_MOST: Final = 50
REASON_MOST: Final = 500


def show(visit: Visit) -> Response:
    """Show all that is known of a host."""
    detail = host_detail(visit.db, visit.query.get("host", ""), visit.policy)
    paths = {unit.id: unit.path for unit in detail.units}
    owners = {row.unit_id: row.agent_id for row in detail.owners if row.until_ms is None}
    distances = sorted(
        detail.distances,
        key=lambda row: (paths[row.unit_id], row.ms_per_kb is None, row.ms_per_kb or 0.0),
    )
    return visit.page(
        "host.html",
        detail=detail,
        host=detail.host,
        paths=paths,
        top=next((unit for unit in detail.units if unit.path == "/"), None),
        owners_now=owners,
        history=sorted(detail.owners, key=lambda row: row.since_ms, reverse=True)[:ROWS_MOST],
        distances=distances,
        is_split=len(detail.units) > 1,
        orders=detail.orders[:ROWS_MOST],
        sums=detail.sums[:ROWS_MOST],
        addresses=_by_address(detail),
        others=[key for key in detail.group if key != detail.host.key],
        name_of=lambda number: detail.agents.get(number, f"agent {number}"),
    )


def _by_address(detail: HostDetail) -> Sequence[tuple[str, list[str]]]:
    """Return each address with who sees it; source 0 is the manager."""
    seen: dict[str, list[str]] = defaultdict(list)
    for source, address in detail.addresses:
        seen[address].append(
            detail.agents.get(source, f"agent {source}") if source else "the manager"
        )
    return sorted(seen.items())


def exclude(visit: Visit) -> Response:
    """Take a host out of the crawl; ask once."""
    key, reason = visit.form.get("host", ""), visit.form.get("reason", "").strip()[:REASON_MOST]
    if not visit.is_confirmed:
        known = host_detail(visit.db, key).host
        return visit.ask(
            Question(
                f"Exclude {known.key}?",
                (
                    "No agent owns it or is sent to it any more, from the next lists on.",
                    "What was fetched stays. It can be included again at any time.",
                ),
                "Exclude",
                "/console/host/exclude",
                link("host", host=known.key),
                {"host": known.key},
                {"reason": reason},
            )
        )
    exclude_host(visit.db, key, reason, visit.actor, visit.now_ms)
    return visit.go(link("host", host=key), done=f"{key} is excluded.")


def include(visit: Visit) -> Response:
    """Let a host into the crawl again."""
    key = visit.form.get("host", "")
    include_host(visit.db, key, visit.actor, visit.now_ms)
    return visit.go(
        link("host", host=key), done=f"{key} takes part again; it is probed and placed as new."
    )


PAGES: Final = (
    Page("GET", "/host", "viewer", show),
    Page("POST", "/host/exclude", "operator", exclude),
    Page("POST", "/host/include", "operator", include),
)
