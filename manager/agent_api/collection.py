"""Route that reports an agent's progress in its collection orders."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import Base64Bytes, BaseModel, Field

from manager.agent_api.authentication import Agent, Services
from manager.operations.segments.collection_orders import report_order
from manager.operations.segments.uploads import NewUpload
from shared.wire.sync import EpochMs, OrderReport
from shared.wire.sync_bounds import COUNT_END

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1/collection", tags=["agents' own"])


class Offer(BaseModel):
    """A segment that the manager may fetch (`prs serve`), with a token for it alone."""

    filename: Annotated[str, Field(max_length=200)]
    sha256: Annotated[str, Field(max_length=64)]
    size_bytes: Annotated[int, Field(ge=0, lt=COUNT_END)]
    blocks: Annotated[Base64Bytes, Field(max_length=8192)] = b""
    order: Annotated[int | None, Field(ge=0, lt=COUNT_END)] = None
    token: Annotated[str, Field(min_length=1, max_length=200)]
    until_ms: EpochMs


class Offered(BaseModel):
    """Location of the upload's state."""

    where: str


@router.post("/offers", status_code=201)
async def offer(services: Services, agent: Agent, said: Offer) -> Offered:
    """Offer a segment for pulling; the same again renews its token."""
    row = await services.desk.offer(
        agent,
        NewUpload(
            filename=said.filename,
            sha256=said.sha256,
            size_bytes=said.size_bytes,
            blocks=said.blocks,
            order_id=said.order,
        ),
        said.token,
        said.until_ms,
    )
    return Offered(where=f"/api/v1/uploads/{row.key}")


@router.post("/orders/{number}", status_code=204)
async def report(services: Services, agent: Agent, number: int, said: OrderReport) -> None:
    """Record the progress of an order; a repeat, or a report on an ended one, does no harm."""
    await asyncio.to_thread(report_order, services.db, agent, number, said, services.now_ms())
