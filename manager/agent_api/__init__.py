"""HTTP routes for agents: the five messages, sync, joining, uploads.

`messages`, `join`, `tus`, `collection` and `releases` hold the routes, `sync_route` the busiest
one. `authentication` finds the agent of a request, `keys` looks up many keys at once, `syncs`
answers many syncs at once, and `uploads` limits how many reports arrive at the same time.
"""

from manager.agent_api import collection, join, messages, releases, tus
from manager.agent_api.authentication import AgentServices, known_agent
from manager.agent_api.keys import Keys
from manager.agent_api.sync_route import PATH as SYNC_PATH
from manager.agent_api.sync_route import SyncLane
from manager.agent_api.sync_route import router as sync_router
from manager.agent_api.syncs import Syncs
from manager.agent_api.uploads import Uploads

__all__ = [
    "ROUTES",
    "SYNC_PATH",
    "AgentServices",
    "Keys",
    "SyncLane",
    "Syncs",
    "Uploads",
    "known_agent",
    "sync_router",
]

ROUTES = [
    route
    for subject in (messages, join, tus, collection, releases)
    for route in subject.router.routes
]
