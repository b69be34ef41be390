"""Hosts: search, look at one, import a list, exclude and include."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import Query, Request
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.hosts.text_lists import TEXT_BODY, text_body
from manager.api.routes import Limit, Offset, subject_router
from manager.db.hosts.address_rules import AddressRule
from manager.operations.hosts import (
    address_decisions,
    host_views,
    hosts,
    name_lookups,
)
from manager.operations.hosts.address_decisions import AddressDecision
from manager.operations.hosts.host_views import HostDetail, HostFilter, HostPage
from manager.operations.hosts.hosts import Imported
from manager.operations.hosts.name_lookups import Resolutions, ResolveAsked

__all__ = ["router"]

router: Final = subject_router("hosts", "/hosts")


class Exclude(BaseModel):
    """A host that no agent may visit, with the reason; the reason is public."""

    host: Annotated[str, Field(max_length=2083)]
    reason: Annotated[str, Field(max_length=500)] = ""


class Include(BaseModel):
    """A host that may be visited again."""

    host: Annotated[str, Field(max_length=2083)]


class ResolveHosts(BaseModel):
    """Names to look up again."""

    host: Annotated[
        str | None, Field(max_length=2083, description="none: all hosts that are unresolved")
    ] = None


class DecideAddress(BaseModel):
    """An address, and how politeness is to count there."""

    address: Annotated[str, Field(max_length=80)]
    decision: AddressDecision


@router.get("")
def list_hosts(
    services: Services,
    _: Viewer,
    domain: Annotated[str, Query(description="`example.jp`: it and all names below it")] = "",
    text: Annotated[str, Query(description="anywhere in the key")] = "",
    search: Annotated[
        str,
        Query(
            max_length=500,
            description="a domain with all names below it, or where none matches, any part of "
            "an address; `found_by` says which",
        ),
    ] = "",
    owner: Annotated[str, Query(description="an agent's name")] = "",
    state: Annotated[str, Query(description="new, idle, probing, placed or excluded")] = "",
    sort: Annotated[str, Query(description="a column, `-` before it for descending")] = "domain",
    limit: Limit = 50,
    offset: Offset = 0,
) -> HostPage:
    """List the hosts that match, sorted, a page at a time."""
    return host_views.list_hosts(
        services.db,
        HostFilter(domain, text, owner, state, search),
        sort=sort,
        limit=limit,
        offset=offset,
    )


@router.get("/detail")
def host_detail(
    services: Services,
    _: Viewer,
    host: Annotated[str, Query(description="its key, or any URL on it")],
) -> HostDetail:
    """Show all that is known of a host."""
    return host_views.host_detail(services.db, host, services.policy)


@router.post("/import", openapi_extra=TEXT_BODY)
async def import_hosts(request: Request, services: Services, actor: Operator) -> Imported:
    """Add the hosts of a list: a URL a line, perhaps a tab and a referer; plain text or gzip.

    `http://` is put before lines without a scheme; empty lines and comments are skipped; lines
    that name no host are refused by their number, and keep no other out.
    """
    async with text_body(request, services) as lines:
        return await asyncio.to_thread(
            hosts.import_hosts, services.db, lines(), actor, services.now_ms(), services.policy
        )


@router.get("/resolutions")
def all_resolutions(services: Services, _: Viewer) -> Resolutions:
    """Count resolved hosts, and the others by reason, with examples."""
    return name_lookups.resolutions(services.db)


@router.post("/resolutions", openapi_extra=TEXT_BODY)
async def resolutions_of_list(request: Request, services: Services, _: Viewer) -> Resolutions:
    """Count the same of the hosts of a list, in the format of an import."""
    async with text_body(request, services) as lines:
        return await asyncio.to_thread(name_lookups.resolutions_of_list, services.db, lines())


@router.post("/resolve")
def resolve(services: Services, actor: Operator, asked: ResolveHosts) -> ResolveAsked:
    """Look the name of a host up again with the next tick, or of all that are unresolved."""
    return name_lookups.look_up_again(services.db, asked.host or "", actor, services.now_ms())


@router.post("/addresses/decide")
def decide_address(services: Services, actor: Operator, asked: DecideAddress) -> AddressRule:
    """Share an address among sites, make it one clock, or leave that to its domains again.

    An address that is to be one clock is `merging` until only one agent has rights there.
    """
    return address_decisions.decide_address(
        services.db, asked.address, asked.decision, actor, services.now_ms(), services.policy
    )


@router.post("/exclude", status_code=204)
def exclude(services: Services, actor: Operator, asked: Exclude) -> None:
    """Take a host out of the crawl."""
    hosts.exclude_host(services.db, asked.host, asked.reason, actor, services.now_ms())


@router.post("/include", status_code=204)
def include(services: Services, actor: Operator, asked: Include) -> None:
    """Include a host again."""
    hosts.include_host(services.db, asked.host, actor, services.now_ms())
