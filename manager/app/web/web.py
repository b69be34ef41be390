"""The web application: agents, `/api/v1`, third parties, and the console."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from manager import agent_api, api, distribution
from manager.agent_api import AgentServices, Keys, Syncs, Uploads, known_agent
from manager.api import AdminServices, known_person
from manager.app.composition import Manager
from manager.app.web.connection import Connection, Entrance
from manager.app.web.contract import Methods, documented, strict
from manager.app.web.health import Health
from manager.app.web.health import router as health_router
from manager.app.web.statuses import answer_to, install_error_handlers, status_of
from manager.console import ConsoleServices, console, console_pages
from manager.distribution import DistributionServices, Selections, known_client
from manager.intake.messages.messages import FEW_FIELDS_BYTES, MessageDesk
from manager.intake.uploads.uploads import UploadDesk
from manager.operations.identity.installation import installation_id
from manager.operations.logs.log_lines import LogLines
from manager.operations.logs.log_scratch import Scratch
from manager.operations.people.login_gate import GateSize, LoginGate, RefusalHold
from manager.operations.search import Search
from manager.operations.transport import networks
from shared.wire import PROTOCOL

__all__ = ["ROUTES", "build_app", "wrapped"]

UPLOADS: Final = "/api/v1/uploads"
SMALL: Final = (
    "/api/v1/enrol",
    "/api/v1/key",
    "/api/v1/collection/offers",
    "/api/v1/update/report",
    "/api/v1/login",
    "/console/login",
)
"""Prefixes of paths that take a few fields, some from callers without a key."""

STRANGERS: Final = frozenset({"/api/v1/enrol", "/api/v1/login"})
"""Addresses that who shows no key, token or session may call."""


def build_app(manager: Manager) -> FastAPI:
    """Return the web application: what agents say, `/api/v1`, and the pages for people."""
    app = FastAPI(
        title="PRSM",
        version=str(PROTOCOL),
        summary="The manager of a cooperative web crawler",
        description="docs/protocol.md explains what agents say; the rest is for administrators.",
        openapi_url=None,  # below, as one of our routes
        docs_url=None,  # that page loads its scripts from elsewhere
        redoc_url=None,
        # Metrics and logs are our own; looking each time for another's costs a tenth of a sync.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    install_error_handlers(app)
    hold = RefusalHold()
    limits = manager.settings.limits
    size = GateSize(
        limits.queued_logins, limits.queued_known_device_logins, limits.logins_per_address
    )
    logins = LoginGate(size=size)
    installation = app.state.installation = installation_id(manager.db)
    messages = app.state.messages = MessageDesk(
        manager.read, limits.large_messages_per_sender, manager.settings.intake.message_cpu_s
    )
    app.state.agent_services = AgentServices(
        db=manager.db,
        policy=manager.policy,
        limits=limits,
        spool=manager.spool,
        rejected=manager.rejected,
        lists=manager.lists,
        logs=manager.logs,
        discovered=manager.discovered,
        messages=messages,
        uploads=Uploads(
            limits.parallel_uploads,
            limits.uploads_per_minute,
            manager.now_ms,
            per_agent=limits.uploads_per_agent,
            bytes_per_agent=limits.queued_bytes_per_agent,
        ),
        keys=Keys(manager.db),
        syncs=Syncs(manager.db, manager.policy, manager.now_ms),
        desk=UploadDesk(
            manager.db,
            manager.parts,
            manager.settings.collection,
            limits,
            manager.now_ms,
        ),
        now_ms=manager.now_ms,
        bundles=manager.bundles,
        hold=hold,
        installation=installation,
    )
    scratch = Scratch(manager.layout, manager.spool, manager.settings.intake.duckdb_memory_bytes)
    log_lines = LogLines(manager.layout)
    search = Search(manager.db, manager.layout, manager.settings, manager.alerts, console_pages())
    app.state.admin_services = AdminServices(
        db=manager.db,
        policy=manager.policy,
        settings=manager.settings,
        layout=manager.layout,
        spool=manager.spool,
        parts=manager.parts,
        planner=manager.planner,
        now_ms=manager.now_ms,
        compact=manager.archive.compact,
        mirrors=manager.archive.mirrors,
        adopt=manager.archive.adopt,
        trash=manager.archive.trash,
        scratch=scratch,
        log_lines=log_lines,
        bundles=manager.bundles,
        signing=manager.signing,
        alerts=manager.alerts,
        read=manager.read,
        hold=hold,
        logins=logins,
        places=manager.archive.places,
        pace=manager.archive.pace,
        search=search,
    )
    app.state.distribution_services = DistributionServices(
        db=manager.db,
        layout=manager.layout,
        store=manager.archive.store,
        settings=manager.settings,
        usage=manager.archive.usage,
        downloads=manager.archive.downloads,
        selections=Selections(manager.settings.archive.parallel_selections),
        now_ms=manager.now_ms,
        hold=hold,
    )
    app.state.health = Health(
        lambda: manager.leadership.gone_s, lambda: manager.self_check.conditions
    )
    app.router.routes += [*_FIRST, *ROUTES]
    pages = ConsoleServices(
        db=manager.db,
        policy=manager.policy,
        settings=manager.settings,
        parts=manager.parts,
        planner=manager.planner,
        now_ms=manager.now_ms,
        status_of=status_of,
        scratch=scratch,
        log_lines=log_lines,
        alerts=manager.alerts,
        hold=hold,
        logins=logins,
        archive=manager.archive,
        search=search,
        layout=manager.layout,
        signing=manager.signing,
        messages=messages,
    )
    app.state.console_services = pages
    app.mount("/console", console(pages))
    app.router.routes += _FRONT.routes
    return app


_DOCUMENT: Final = APIRouter(include_in_schema=False)
_FRONT: Final = APIRouter(include_in_schema=False)


@_DOCUMENT.get("/api/v1/openapi.json")
async def _document(request: Request) -> Response:
    """Return what OpenAPI says of this application; it is written once, for anybody may ask."""
    state = request.app.state
    if getattr(state, "document", None) is None:
        state.document = JSONResponse(documented(request.app)).body
    return Response(state.document, media_type="application/json")


@_FRONT.get("/", response_class=RedirectResponse, status_code=303)
async def _front() -> str:
    """Lead people to the console."""
    return "/console/"


# Made once for the process: `include_router` makes them again for each application.
_FIRST: Final = strict([*agent_api.sync_router.routes, *_DOCUMENT.routes, *health_router.routes])
ROUTES: Final = [
    *strict(agent_api.ROUTES, known_agent, STRANGERS),
    *strict(distribution.ROUTES, known_client),
    *strict(api.ROUTES, known_person, STRANGERS),
]


def wrapped(app: FastAPI, manager: Manager, *, local: bool) -> ASGIApp:
    """Return the application as one listener serves it."""
    limits = manager.settings.limits
    body_limits = {
        "/servlets/record": None,
        "/servlets/submitlog": None,
        "/api/v1/hosts/import": None,
        "/api/v1/hosts/resolutions": None,
        "/api/v1/lists/import": None,
        "/api/v1/releases/bundles": None,
        "/api/v1/sync": limits.sync_bytes,
    }

    def limit_of(path: str) -> int | None:
        """Return the limit of a body in bytes by its path; None: none here."""
        if path.startswith(SMALL):
            return min(FEW_FIELDS_BYTES, limits.request_bytes)
        if path.startswith(UPLOADS):
            return None
        return body_limits.get(path, limits.request_bytes)

    server = manager.settings.server
    entrance = Entrance(
        local,
        server.behind_tls_proxy,
        networks(server.proxy_addresses),
        server.hsts_s,
        app.state.installation,
    )
    return Connection(
        manager.metrics.counted(agent_api.SyncLane(app, answer_to, Methods(app, app))),
        entrance,
        limit_of,
        limits.upload_idle_s,
        limits.min_upload_bytes_per_s,
    )
