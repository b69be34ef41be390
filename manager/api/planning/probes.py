"""Probes: the measurements with their age, and orders for more."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import Limit, Offset, subject_router
from manager.operations.hosts import probe_matrix
from manager.operations.hosts.host_views import HostFilter
from manager.operations.hosts.probe_matrix import Matrix
from manager.operations.planning import distance_pairs, probe_coverage, requested_probes
from manager.operations.planning.distance_pairs import PairFilter, PairRow
from manager.operations.planning.probe_coverage import Coverage
from manager.operations.planning.requested_probes import Ordered

__all__ = ["router"]

router: Final = subject_router("probes", "/probes")


class NewProbes(BaseModel):
    """Probes to order: at least one of the fields."""

    host: Annotated[str, Field(max_length=2083)] = ""
    agent: Annotated[str, Field(max_length=253)] = ""
    older_days: Annotated[
        float | None, Field(ge=0, le=3650, description="measured longer ago than that")
    ] = None


@router.get("")
def pairs(
    services: Services,
    _: Viewer,
    agent: Annotated[str, Query(description="its name")] = "",
    host: Annotated[str, Query(description="its key, or any URL on it")] = "",
    older_days: Annotated[float | None, Query(ge=0, le=3650)] = None,
    reached: Annotated[str, Query(description="reached or unreachable")] = "",
    sort: Annotated[str, Query(description="age or distance, `-` before it turns it")] = "age",
    limit: Limit = 50,
    offset: Offset = 0,
) -> list[PairRow]:
    """List what agents measured of hosts, a page at a time."""
    return distance_pairs.pairs(
        services.db,
        PairFilter(agent, host, older_days, reached),
        services.now_ms(),
        sort=sort,
        limit=limit,
        offset=offset,
    )


@router.get("/matrix")
def matrix(
    services: Services,
    _: Viewer,
    agent: Annotated[list[str], Query(description="names; one or more", min_length=1)],
    domain: Annotated[str, Query(description="`example.jp`: it and all names below it")] = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> Matrix:
    """Lay hosts beside agents: what is measured, predicted, ordered and failed."""
    return probe_matrix.matrix(
        services.db,
        agent,
        HostFilter(domain=domain),
        limit=limit,
        offset=offset,
        policy=services.policy,
    )


@router.get("/coverage")
def coverage(services: Services, _: Viewer) -> Coverage:
    """Show the share of fresh pairs by agent, and the age of distances."""
    return probe_coverage.coverage(services.db, services.now_ms(), services.policy)


@router.post("", status_code=201)
def order(services: Services, actor: Operator, asked: NewProbes) -> Ordered:
    """Order probes of a host, by an agent, or of units with old measurements."""
    return requested_probes.order_probes(
        services.db,
        actor,
        services.now_ms(),
        host=asked.host,
        agent=asked.agent,
        older_days=asked.older_days,
        policy=services.policy,
    )
