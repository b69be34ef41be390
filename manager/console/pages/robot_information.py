"""The robots, told to owners of sites that they visit: who they are, how gently, how to end it.

Anybody may read it, without a login: partners name it in `robot.info_url`, so it stands in each
request's User-Agent. It says nothing of who crawls what.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.requests.page import Page
from manager.console.requests.visit import Visit

__all__ = ["PAGES"]


def show(visit: Visit) -> Response:
    """Show it, in the language of the browser."""
    return visit.page("robot.html", contact=visit.services.settings.console.contact)


PAGES: Final = (Page("GET", "/robot", None, show),)
