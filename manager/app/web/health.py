"""`/healthz` and `/readyz`: for the proxy in front, systemd, and whoever watches from outside.

`/healthz` says that the process answers. `/readyz` says whether to send it requests: not while its
database does not answer or is damaged, nor while its folders take no files. It names other
problems of the machine, too. Neither asks the database or a disk, so both answer at once, and to
anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse

from manager.operations.machine_conditions import Condition
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Health", "router"]

RETRY_S: Final = 5


router: Final = APIRouter(include_in_schema=False)


@frozen
class Health:
    """The state of a manager, as `health` of the application's state.

    database_gone_s: for how long the database has not answered. conditions: of this machine.
    """

    database_gone_s: Callable[[], float]
    conditions: Callable[[], Sequence[Condition]]


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """Answer that the process runs."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Return whether requests can be answered."""
    health: Health = request.app.state.health
    found, gone_s = health.conditions(), health.database_gone_s()
    told: dict[str, Any] = {}
    if found:
        told["problems"] = [{"code": one.code, "text": str(one.message)} for one in found]
    why = next((one.message for one in found if one.stops), None)
    if why is None and gone_s:
        why = Message("app.database_not_answering", gone_s=gone_s)
    if why is None:
        return JSONResponse({"ready": True, **told})
    headers = {"Retry-After": str(RETRY_S)}
    return JSONResponse({"ready": False, "reason": str(why), **told}, 503, headers)
