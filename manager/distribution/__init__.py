"""Captures for third parties: files, selections, changes, the index.

`door` says whose token it is and what it may take; `sending` sends files, by ranges or through the
web server in front; each other module holds the routes of one way in.
"""

from fastapi import APIRouter

from manager.distribution import segments, wasapi
from manager.distribution.door import DistributionDoor
from manager.distribution.usage import Usage

__all__ = ["DistributionDoor", "Usage", "router"]

router = APIRouter()
for way in (segments, wasapi):
    router.include_router(way.router)
