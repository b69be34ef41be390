"""Captures for third parties: files, selections, changes, the index.

`authentication` finds the client of a token and its scopes; `file_responses` sends files, by ranges
or through the web server in front; each other module holds the routes of one way in.
"""

from manager.distribution import changes, pages, pieces, segments, wasapi, wasapi_jobs
from manager.distribution.authentication import DistributionServices, known_client
from manager.distribution.downloads import Downloads
from manager.distribution.selections import Selections
from manager.distribution.usage import Usage
from manager.distribution.wasapi_jobs import read_query

__all__ = [
    "ROUTES",
    "DistributionServices",
    "Downloads",
    "Selections",
    "Usage",
    "known_client",
    "read_query",
]

ROUTES = [
    route
    for way in (segments, pages, pieces, changes, wasapi, wasapi_jobs)
    for route in way.router.routes
]
