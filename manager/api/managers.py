"""The managers that serve this database."""

from __future__ import annotations

from typing import Final

from manager.api.access import Admin, Services, Viewer
from manager.api.routes import subject_router
from manager.operations.identity.managers import Managers, forget_manager, list_managers

__all__ = ["router"]

router: Final = subject_router("managers")


@router.get("/managers")
def managers(services: Services, _: Viewer) -> Managers:
    """Show the managers, and which of them leads."""
    return list_managers(services.db)


@router.post("/managers/{name}/forget", status_code=204)
def forget(services: Services, actor: Admin, name: str) -> None:
    """Forget a manager that was removed permanently; refused while the manager serves."""
    forget_manager(services.db, name, actor, services.now_ms())
