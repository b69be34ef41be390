"""Put the manager together: settings, database, files, intake, web.

Everything that lives as long as the process is made here once and handed to who needs it; nobody
asks for it by another way. The clock and the listeners are `manager.app.running`'s.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.types import ASGIApp

from manager import agent_api, api, distribution
from manager.agent_api import AgentDoor, Keys, Syncs, Uploads
from manager.api import AdminDoor
from manager.app.alert_sending import ways
from manager.app.alerts import alert_desk
from manager.app.connection import Connection, Entrance
from manager.app.health import health_router
from manager.app.keeping import Archive, Readers, open_archive
from manager.app.leadership import Identity, Leadership
from manager.app.metrics import Metrics
from manager.app.statuses import speak_errors, status_of
from manager.console import ConsoleDoor, console
from manager.db import Database
from manager.db.migrate import migrate
from manager.distribution import DistributionDoor, Selections
from manager.errors import BusyError
from manager.intake import LogIntake, Receiving, SegmentIntake, UploadDesk
from manager.intake.accepting import Acceptance
from manager.intake.logs import Reader
from manager.intake.pulling import Pulling
from manager.naming import Names
from manager.operations.alert_views import AlertDesk
from manager.operations.log_lines import LogLines
from manager.operations.planners import Planner
from manager.operations.policy import Policy
from manager.operations.scratch import Scratch
from manager.operations.standing import Standing, how_it_stands
from manager.settings import Settings
from manager.signing import SigningClient
from manager.store import Bundles, Layout, ListFiles, Rejected, Spool, UploadParts
from manager.store.segment_store import SegmentStore
from shared.naming import AddressRules
from shared.week_log import WeekLog
from shared.wire import PROTOCOL

__all__ = ["Manager", "build_app", "layout_of", "open_manager", "policy_of", "wrapped"]

UPLOADS: Final = "/api/v1/uploads"


@dataclass(frozen=True, slots=True)
class Manager:
    """The parts of one manager. led: the database, for what only the leader does."""

    settings: Settings
    policy: Policy
    layout: Layout
    db: Database
    led: Database
    leadership: Leadership
    metrics: Metrics
    spool: Spool
    rejected: Rejected
    lists: ListFiles
    parts: UploadParts
    logs: LogIntake
    archive: Archive
    acceptance: Acceptance
    pulling: Pulling
    names: Names
    planner: Planner
    bundles: Bundles
    signing: SigningClient
    alerts: AlertDesk
    now_ms: Callable[[], int]

    @property
    def segments(self) -> SegmentIntake:
        """Return who takes segments that came whole."""
        return self.archive.intake

    @property
    def store(self) -> SegmentStore:
        """Return where segments lie."""
        return self.archive.store

    def close(self) -> None:
        """Give back what is open."""
        with contextlib.suppress(BusyError):  # a few seconds of counting, then
            self.archive.write_down()
        self.leadership.stop()
        self.db.close()


def open_manager(
    settings: Settings,
    read: Reader,
    planner: Planner,
    now_ms: Callable[[], int],
    readers: Readers | None = None,
    identity: Identity | None = None,
) -> Manager:
    """Open everything a manager needs, its tables brought up to date.

    read: who reads logs, as `Workers(...).run`. planner: who makes plans.
    readers: who reads segments; without, the thread that asks. identity: None: a new name.
    Raises SettingError, StoreError.
    """
    layout = layout_of(settings)
    layout.create()
    db = Database(settings.database.url or f"sqlite:///{layout.database}")
    try:
        migrate(db)
        return _put_together(
            settings, layout, db, read, planner, now_ms, readers or Readers(),
            identity or Identity(),
        )  # fmt: skip
    except BaseException:
        db.close()
        raise


def _put_together(
    settings: Settings,
    layout: Layout,
    db: Database,
    read: Reader,
    planner: Planner,
    now_ms: Callable[[], int],
    readers: Readers,
    identity: Identity,
) -> Manager:
    leadership = Leadership(db, settings.database.leader_s, now_ms, identity=identity)
    leadership.step()
    led = db.fenced(leadership.fence)
    policy = policy_of(settings)
    spool = Spool(layout.spool, reserve_bytes=settings.limits.reserve_bytes)
    rejected = Rejected(
        layout.rejected, settings.intake.keep_rejected_s, settings.intake.keep_rejected_bytes
    )
    logs = LogIntake(
        db,
        layout,
        spool,
        rejected,
        read,
        policy=policy,
        limits=settings.limits,
        settings=settings.intake,
        now_ms=now_ms,
    )
    archive = open_archive(settings.archive, db, layout, spool, readers, now_ms)
    parts = UploadParts(
        layout.uploads, layout.incoming, reserve_bytes=settings.collection.reserve_bytes
    )

    def standing() -> Standing:
        return how_it_stands(db, layout.kept, policy, now_ms())

    transfer_log = WeekLog(layout.transfer_logs, settings.collection.keep_logs_s)
    return Manager(
        settings,
        policy,
        layout,
        db,
        led,
        leadership,
        Metrics(
            standing,
            lambda: leadership.epoch,
            lambda: leadership.gone_s,
        ),
        spool,
        rejected,
        ListFiles(layout.lists),
        parts,
        logs,
        archive,
        Acceptance(
            led,
            parts,
            archive.of(led).intake,
            transfer_log,
            now_ms,
            settings.archive.workers,
        ),
        Pulling(
            led,
            parts,
            AddressRules(settings.naming.allowed_networks),
            now_ms,
            settings.limits.upload_idle_s,
        ),
        Names(settings.naming),
        planner,
        Bundles(layout.releases),
        SigningClient(Path(settings.releases.signer)),
        alert_desk(
            settings,
            standing,
            ways(settings.alerts, settings.server.public_url, now_ms),
        ),
        now_ms,
    )


def layout_of(settings: Settings) -> Layout:
    """Return where things lie."""
    files = settings.database.files
    return Layout(settings.data, Path(files).absolute() if files else None)


def policy_of(settings: Settings) -> Policy:
    """Return what the operations go by."""
    asked = dataclasses.asdict(settings.policy)
    known = {field.name for field in dataclasses.fields(Policy)}
    return Policy(
        **{name: value for name, value in asked.items() if name in known},
        discoveries_per_day=settings.limits.discoveries_per_day,
    )


def build_app(manager: Manager) -> FastAPI:
    """Return the web application: what agents say, `/api/v1`, and the pages for people."""
    app = FastAPI(
        title="PRSM",
        version=str(PROTOCOL),
        summary="The manager of a cooperative web crawler",
        description="docs/protocol.md explains what agents say; the rest is for administrators.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # that page loads its scripts from elsewhere
        redoc_url=None,
        # Metrics and logs are our own; looking each time for another's costs a tenth of a sync.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    speak_errors(app)
    limits = manager.settings.limits
    app.state.agent_door = AgentDoor(
        manager.db,
        manager.policy,
        limits,
        manager.spool,
        manager.rejected,
        manager.lists,
        manager.logs,
        Uploads(limits.uploads_at_once, limits.uploads_per_minute, manager.now_ms),
        Keys(manager.db),
        Syncs(manager.db, manager.policy, manager.now_ms),
        UploadDesk(
            manager.db,
            manager.parts,
            manager.settings.collection,
            Receiving(limits.upload_idle_s, limits.upload_least_bytes_per_s),
            manager.now_ms,
        ),
        manager.now_ms,
        manager.bundles,
    )
    scratch = Scratch(manager.layout, manager.spool, manager.settings.intake.memory_bytes)
    log_lines = LogLines(manager.layout)
    app.state.admin_door = AdminDoor(
        manager.db,
        manager.policy,
        manager.settings,
        manager.layout,
        manager.spool,
        manager.parts,
        manager.planner,
        manager.now_ms,
        manager.archive.compact,
        manager.archive.mirrors,
        scratch,
        log_lines,
        manager.bundles,
        manager.signing,
        manager.alerts,
    )
    app.state.distribution_door = DistributionDoor(
        manager.db,
        manager.layout,
        manager.archive.store,
        manager.settings,
        manager.archive.usage,
        manager.archive.downloads,
        Selections(manager.settings.archive.selections_at_once),
        manager.now_ms,
    )
    agent_api.add_sync(app)
    # Made once for the process, as they are: `include_router` would make each anew at the first
    # request of each application.
    app.router.routes += [*agent_api.ROUTES, *distribution.ROUTES, *api.ROUTES]
    app.router.routes += health_router(lambda: manager.leadership.gone_s).routes
    pages = ConsoleDoor(
        manager.db,
        manager.policy,
        manager.settings,
        manager.parts,
        manager.planner,
        manager.now_ms,
        status_of,
        scratch,
        log_lines,
        manager.alerts,
    )
    app.state.console_door = pages
    app.mount("/console", console(pages))
    app.add_api_route(
        "/",
        lambda: "/console/",
        response_class=RedirectResponse,
        status_code=303,
        include_in_schema=False,
    )
    return app


def wrapped(app: ASGIApp, manager: Manager, *, local: bool) -> ASGIApp:
    """Return the application as one listener serves it."""
    limits = manager.settings.limits
    body_limits = {
        "/servlets/record": None,
        "/servlets/submitlog": None,
        "/api/v1/hosts/import": None,
        "/api/v1/lists/import": None,
        "/api/v1/releases/bundles": None,
        "/api/v1/sync": limits.sync_bytes,
    }

    def limit_of(path: str) -> int | None:
        if path.startswith(UPLOADS):
            return None
        return body_limits.get(path, limits.request_bytes)

    entrance = Entrance(local, manager.settings.server.behind_tls_proxy)
    return Connection(
        manager.metrics.counted(app),
        entrance,
        limit_of,
        limits.upload_idle_s,
    )
