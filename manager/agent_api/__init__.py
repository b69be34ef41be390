"""What agents say to the manager: the five messages, sync, and how they join.

`messages`, `joining`, `tus`, `collection` and `releases` hold the routes, `sync_route` the one that
is called most; `door` says who comes in, `syncs` answers many at once, `uploads` says how many
reports may come at once.
"""

from fastapi import APIRouter

from manager.agent_api import collection, joining, messages, releases, tus
from manager.agent_api.door import AgentDoor
from manager.agent_api.sync_route import add_sync
from manager.agent_api.syncs import Syncs
from manager.agent_api.uploads import Uploads

__all__ = ["AgentDoor", "Syncs", "Uploads", "add_sync", "router"]

router = APIRouter()
router.include_router(messages.router)
router.include_router(joining.router)
router.include_router(tus.router)
router.include_router(collection.router)
router.include_router(releases.router)
