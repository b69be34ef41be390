"""`/healthz` and `/readyz`: for the proxy in front, systemd, and whoever watches from outside.

`/healthz` says that the process answers. `/readyz` says whether to send it requests: not while its
database does not answer. Neither asks the database, so both answer at once, and to anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse

__all__ = ["health_router"]

RETRY_S: Final = 5


def health_router(database_gone_s: Callable[[], float]) -> APIRouter:
    """Return the routes. database_gone_s: for how long the database has not answered."""
    router = APIRouter(include_in_schema=False)

    @router.get("/healthz")
    async def healthz() -> PlainTextResponse:
        """Say that the process answers."""
        return PlainTextResponse("ok\n")

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        """Say whether requests can be answered."""
        gone_s = database_gone_s()
        if not gone_s:
            return JSONResponse({"ready": True})
        why = f"the database has not answered for {gone_s:.0f} s"
        headers = {"Retry-After": str(RETRY_S)}
        return JSONResponse({"ready": False, "reason": why}, 503, headers)

    return router
