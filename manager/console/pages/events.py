"""The event stream of open pages."""

from __future__ import annotations

from typing import Final

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from manager.console.event_stream import told
from manager.console.requests import cookies
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.operations.change_marks import marks
from manager.operations.people.users import session_of
from shared.wire.names import hash_of_key

__all__ = ["PAGES"]

AGAIN_S: Final = "60"


def stream(visit: Visit) -> Response:
    """Stream changes while the session lasts; refuse without a free place."""
    services = visit.services
    token = visit.request.cookies.get(cookies.session_cookie(tls=visit.tls), "")
    session = hash_of_key(token)
    if not services.streams.has_room(session):
        said = "Too many event streams are open: pages ask every few seconds instead.\n"
        return PlainTextResponse(said, 503, {"Retry-After": AGAIN_S})
    return StreamingResponse(
        told(
            services.streams,
            session,
            lambda: services.marks.get(services.now_ms(), lambda: marks(services.db)),
            lambda: session_of(services.db, session, services.now_ms()) is None,
        ),
        media_type="text/event-stream",
        # nginx would collect it; Caddy knows the type.
        headers={"X-Accel-Buffering": "no"},
    )


PAGES: Final = (Page("GET", "/events", "viewer", stream),)
