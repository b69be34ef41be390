"""Search over all subjects: what a person types leads to what it names."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query

from manager.api.access import Person, Services
from manager.api.routes import subject_router
from manager.operations.search import HITS_MOST, Kind, SearchResult

__all__ = ["router"]

router: Final = subject_router("search")


@router.get("/search")
def search(
    services: Services,
    asks: Person,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=500,
            description="a name, part of one, URL, IP address or number; `round 12` is that round",
        ),
    ],
    kind: Annotated[list[Kind] | None, Query(description="only these; all, if absent")] = None,
    limit: Annotated[int, Query(ge=1, le=HITS_MOST, description="hits of each kind")] = 10,
) -> SearchResult:
    """Find hosts, agents, pages, rounds, plans, people, records and settings by a typed text.

    The results exclude all that the caller's role may not see. `leads_to` is the one exact match.
    """
    return services.search.find(
        q, asks.name, asks.role, services.now_ms(), kinds=kind or (), limit=limit
    )
