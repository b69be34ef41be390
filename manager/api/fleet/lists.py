"""Lists of units written by hand."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import Query, Request

from manager.api.access import Operator, Services
from manager.api.hosts.text_lists import TEXT_BODY, text_body
from manager.api.routes import subject_router
from manager.operations.hosts.lists.list_import import ImportedLists, import_lists

__all__ = ["router"]

router: Final = subject_router("hosts", "/lists")


@router.post("/import", openapi_extra=TEXT_BODY)
async def import_(
    request: Request,
    services: Services,
    actor: Operator,
    add_hosts: Annotated[bool, Query(description="hosts that are not known are added")] = False,
) -> ImportedLists:
    """Pin units to agents: `#Agent=NAME` begins a list, a server or URL a line; text or gzip.

    All lines are taken, or nothing changes and the answer (400) names those that cannot be, by
    agent and number, counted from the line of the agent.
    """
    async with text_body(request, services) as lines:
        return await asyncio.to_thread(
            import_lists,
            services.db,
            lines,
            actor,
            services.now_ms(),
            add_hosts=add_hosts,
            policy=services.policy,
        )
