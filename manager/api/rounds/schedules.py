"""Schedules of one use: listed and removed. How one is made is left to its use."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from manager.api.access import Operator, Services, Viewer
from manager.operations.timetables import Timetable

__all__ = ["add_schedule_routes"]


def add_schedule_routes(
    router: APIRouter, path: str, timetable: Timetable[Any], shown: Any
) -> None:
    """Add `GET path` and `POST path/N/remove` to a router. shown: the model of one."""

    @router.get(path, response_model=list[shown])
    def list_schedules(services: Services, _: Viewer) -> Any:
        """List schedules, the next to run first, with their next five runs."""
        return timetable.listed(services.db, services.now_ms())

    @router.post(f"{path}/{{number}}/remove", status_code=204)
    def remove_schedule(services: Services, actor: Operator, number: int) -> None:
        """Remove a schedule."""
        timetable.remove(services.db, number, actor, services.now_ms())
