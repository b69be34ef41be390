"""Put the manager together: settings, database, files, intake.

Everything that lives as long as the process is made here once and handed to who needs it; nobody
asks for it by another way. The clock and the listeners are `manager.app.running`'s, the web is
`manager.app.web`'s.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Final

from manager.app.alert_sending import ways
from manager.app.alerts import alert_desk
from manager.app.certificate import Certificate, certificate_of
from manager.app.keeping import Archive, Readers, open_archive
from manager.app.leadership import Identity, Leadership
from manager.app.metrics import Metrics
from manager.app.self_check import SelfCheck
from manager.db import Database
from manager.db.migrate import migrate
from manager.distance import learn
from manager.errors import BusyError
from manager.intake.accepting import Acceptance
from manager.intake.discovered import DiscoveredIntake
from manager.intake.logs import LogIntake
from manager.intake.pulling import Pulling
from manager.intake.readers import Reader
from manager.intake.segments import SegmentIntake
from manager.naming import Names
from manager.operations.alert_views import AlertDesk
from manager.operations.learning import Learner, Learning
from manager.operations.planners import Planner
from manager.operations.policy import Policy
from manager.operations.standing import Standing, how_it_stands
from manager.settings import Settings
from manager.signing import SigningClient
from manager.store import Bundles, Layout, ListFiles, Rejected, Spool, UploadParts
from manager.store.segment_store import SegmentStore
from shared.frozen import frozen
from shared.naming import AddressRules
from shared.week_log import WeekLog

__all__ = ["Manager", "layout_of", "open_manager", "policy_of"]

EXAMINE_S: Final = 2.0
"""How long a start examines the database; the clock does the rest, and all of it once a day."""


@frozen
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
    read: Reader
    logs: LogIntake
    discovered: DiscoveredIntake
    archive: Archive
    acceptance: Acceptance
    pulling: Pulling
    names: Names
    planner: Planner
    learning: Learning
    bundles: Bundles
    signing: SigningClient
    alerts: AlertDesk
    certificate: Certificate | None
    self_check: SelfCheck
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
    learner: Learner = learn,
    *,
    config: Path | None = None,
) -> Manager:
    """Open everything a manager needs, its tables brought up to date.

    read: who reads bodies, as `BodyWorkers(...).run`. planner: who makes plans. learner: who learns
    distances. readers: who reads segments; without, the thread that asks. identity: None: a new
    name. config: the file of the settings; None: the one in the data directory.
    Raises SettingError, StoreError, BusyError.
    """
    layout = layout_of(settings)
    layout.create()
    self_check = SelfCheck(settings, layout, config=config)
    self_check.start()
    db = Database(settings.database.url or f"sqlite:///{layout.database}")
    try:
        db.examine(EXAMINE_S)
        self_check.watch(db)
        migrate(db)
        return _put_together(
            settings, layout, db, read, planner, now_ms, readers or Readers(),
            identity or Identity(), learner, self_check,
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
    learner: Learner,
    self_check: SelfCheck,
) -> Manager:
    certificate = certificate_of(settings.server)
    leadership = Leadership(db, settings.database.leader_s, now_ms, identity=identity)
    leadership.step()
    db.damage.refuse()
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
    discovered = DiscoveredIntake(
        db,
        spool,
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
        read,
        logs,
        discovered,
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
        Learning(learner),
        Bundles(layout.releases),
        SigningClient(Path(settings.releases.signer)),
        alert_desk(
            settings,
            standing,
            lambda: [certificate.expiry()] if certificate else [],
            self_check.troubles,
            ways(settings.alerts, settings.server.public_url, now_ms),
        ),
        certificate,
        self_check,
        now_ms,
    )


def layout_of(settings: Settings) -> Layout:
    """Return where things lie."""
    files = settings.database.files
    return Layout(
        settings.data,
        Path(files).absolute() if files else None,
        fronted=bool(settings.archive.front),
    )


def policy_of(settings: Settings) -> Policy:
    """Return what the operations go by."""
    asked = dataclasses.asdict(settings.policy)
    known = {field.name for field in dataclasses.fields(Policy)}
    return Policy(
        **{name: value for name, value in asked.items() if name in known},
        discoveries_per_day=settings.limits.discoveries_per_day,
    )
