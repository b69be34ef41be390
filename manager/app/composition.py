"""Put the manager together: settings, database, files, intake.

All objects that live as long as the process are made here once and passed to their users; there is
no other way to get them. The clock and the listeners belong to `manager.app.manager_run`, the web
to `manager.app.web.web`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Final

from manager.app.alerts.alert_delivery import ways
from manager.app.alerts.alerts import late_job_alerts
from manager.app.archive_keeper import Archive, Readers, open_archive, store_of
from manager.app.leadership import Identity, Leadership
from manager.app.locks import DatabaseLock
from manager.app.self_check import SelfCheck
from manager.app.web.certificate import Certificate, certificate_of
from manager.app.web.metrics import Metrics
from manager.clock import Clock
from manager.db import Database
from manager.db.connections import sqlite_file
from manager.db.migrate import check_unversioned, migrate, schema_version
from manager.distance.training_data import train
from manager.errors import BusyError
from manager.intake.logs.log_intake import LogIntake
from manager.intake.messages.discovery_intake import DiscoveredIntake
from manager.intake.uploads.file_acceptance import Acceptance
from manager.intake.uploads.pull import SegmentPull
from manager.intake.workers.body_job import Reader
from manager.naming import Names
from manager.operations.health.alert_views import AlertDesk
from manager.operations.health.system_figures import SystemFigures, system_figures_of
from manager.operations.hosts.host_countries import country_alerts
from manager.operations.identity.bucket_gate import BucketGate
from manager.operations.identity.file_lease import FileLease
from manager.operations.identity.file_marks import mark_files, refuse_new_database, take_id_again
from manager.operations.identity.installation import MarkedFiles
from manager.operations.measurement.distance_model import ModelTraining, Trainer
from manager.operations.planning.planners import Planner
from manager.operations.policy import Policy
from manager.operations.segments.file_problems import file_alerts
from manager.operations.segments.scrub import scrub_alerts
from manager.settings import Settings
from manager.signing.client import SigningClient
from manager.store import Bundles, Layout, ListFiles, Rejected, Spool, StoreError, UploadParts
from shared.frozen import frozen
from shared.naming import AddressRules
from shared.week_log import WeekLog

__all__ = ["Manager", "layout_of", "open_database", "open_manager", "url_of"]

FIRST_WITH_ID: Final = "0036"
"""The schema from which on a database has an installation id."""
EXAMINE_S: Final = 2.0
"""How long a start examines the database; the clock does the rest, and all of it once a day."""


@frozen
class Manager:
    """The parts of one manager.

    led: the database, for what only the leader does. resources: closes it and its lock. clocks:
    those that were started for it.
    """

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
    pulling: SegmentPull
    names: Names
    planner: Planner
    learning: ModelTraining
    bundles: Bundles
    signing: SigningClient
    alerts: AlertDesk
    certificate: Certificate | None
    self_check: SelfCheck
    now_ms: Callable[[], int]
    lease: FileLease
    gate: BucketGate
    resources: contextlib.ExitStack
    clocks: list[Clock] = field(default_factory=list)

    def close(self) -> None:
        """Release all open resources."""
        with contextlib.suppress(BusyError):  # a few seconds of counting, then
            self.archive.flush()
        self.leadership.stop()
        with contextlib.suppress(BusyError, OSError):  # else others watch it for a while
            self.lease.release()
        self.resources.close()


def open_manager(
    settings: Settings,
    read: Reader,
    planner: Planner,
    now_ms: Callable[[], int],
    readers: Readers | None = None,
    identity: Identity | None = None,
    trainer: Trainer = train,
    *,
    config: Path | None = None,
) -> Manager:
    """Open everything a manager needs, its tables brought up to date.

    read: who reads bodies, as `BodyWorkers(...).run`. planner: who makes plans. trainer: trains
    distances. readers: who reads segments; without, the thread that asks. identity: None: a new
    name. config: the file of the settings; None: the one in the data directory.
    Raises SettingError, StoreError, InstallationError (other files than the database's), BusyError.
    """
    layout = layout_of(settings)
    layout.create()
    self_check = SelfCheck(settings, layout, config=config)
    self_check.start()
    files = MarkedFiles(layout, store_of(settings.archive, layout))
    with contextlib.ExitStack() as stack:
        db = open_database(settings, files, stack)
        self_check.watch(db)
        version = schema_version(db)
        had_id = not version or version >= FIRST_WITH_ID
        migrate(db)
        if not had_id:
            take_id_again(db, files)
        gate = BucketGate(db, files, now_ms)
        gate.shut_if_unreachable()
        self_check.add(gate.conditions)
        mark_files(db, files, now_ms())
        certificate = certificate_of(settings.server)
        leadership = Leadership(db, settings.database.leader_timeout_s, now_ms, identity=identity)
        lease = FileLease(db, files, leadership.name, leadership.place, now_ms)
        gate.guard(lease)
        lease.claim()
        leadership.step()
        db.damage.refuse()
        led = db.fenced(leadership.fence)
        policy = Policy.of(settings)
        spool = Spool(layout.spool, reserve_bytes=settings.limits.reserve_bytes)
        rejected = Rejected(
            layout.rejected, settings.intake.rejected_retention_s, settings.intake.rejected_bytes
        )
        logs = LogIntake(
            db,
            layout,
            spool,
            rejected,
            read,
            policy,
            settings.limits,
            settings.intake,
            now_ms,
        )
        discovered = DiscoveredIntake(
            db, spool, read, policy, settings.limits, settings.intake, now_ms
        )
        readers = readers or Readers()
        archive = open_archive(
            settings.archive, db, layout, files.store, spool, readers, now_ms, lease.check
        )
        parts = UploadParts(
            layout.uploads, layout.incoming, reserve_bytes=settings.collection.reserve_bytes
        )

        def figures() -> SystemFigures:
            return system_figures_of(db, layout.kept, policy, now_ms())

        clocks: list[Clock] = []
        transfer_log = WeekLog(layout.transfer_logs, settings.collection.transfer_log_retention_s)
        at_once = settings.archive.workers
        acceptance = Acceptance(led, parts, archive.of(led).intake, transfer_log, now_ms, at_once)
        rules = AddressRules(settings.dns.allowed_networks)
        pulling = SegmentPull(led, parts, rules, now_ms, settings.limits.upload_idle_s)
        return Manager(
            settings,
            policy,
            layout,
            db,
            led,
            leadership,
            Metrics(figures, lambda: leadership.epoch, lambda: leadership.gone_s),
            spool,
            rejected,
            ListFiles(layout.lists),
            parts,
            read,
            logs,
            discovered,
            archive,
            acceptance,
            pulling,
            Names(settings.dns),
            planner,
            ModelTraining(trainer),
            Bundles(layout.releases),
            SigningClient(Path(settings.releases.signer)),
            AlertDesk(
                figures,
                lambda: [certificate.expiry()] if certificate else [],
                lambda: [
                    *self_check.alerts(),
                    *file_alerts(db),
                    *country_alerts(db),
                    *scrub_alerts(db, archive.pace),
                    *late_job_alerts(clocks),
                ],
                settings.alerts,
                ways(settings.alerts, settings.server.public_url, now_ms),
            ),
            certificate,
            self_check,
            now_ms,
            lease,
            gate,
            stack.pop_all(),
            clocks,
        )


def open_database(
    settings: Settings,
    files: MarkedFiles,
    resources: contextlib.ExitStack,
    *,
    may_be_new: bool = False,
) -> Database:
    """Open the database of a manager, and lock it where it is a file. resources: closes them.

    One that is missing or empty is made only where no files are, or where it may be new. Raises
    SettingError, StoreError, InstallationError, BusyError.
    """
    url = url_of(settings)
    path = sqlite_file(url)
    if path is not None:
        if not may_be_new:
            _refuse_new_file(path, files)
        resources.callback(DatabaseLock(path).close)
    db = Database(url)
    resources.callback(db.close)
    if path is not None:
        db.examine(EXAMINE_S)
    if not check_unversioned(db) and not may_be_new:
        server = db.engine.url.render_as_string(hide_password=True)
        refuse_new_database(files, server if path is None else str(path))
    return db


def _refuse_new_file(path: Path, files: MarkedFiles) -> None:
    """Refuse to make a database where files are, or where its journal has what it lost."""
    if path.exists() and path.stat().st_size:
        return
    refuse_new_database(files, str(path))
    journal = path.with_name(path.name + "-wal")
    if journal.exists() and journal.stat().st_size:
        raise StoreError("database.journal_without_file", path=str(path), journal=journal.name)


def url_of(settings: Settings) -> str:
    """Return the URL of the database."""
    return settings.database.url or f"sqlite:///{layout_of(settings).database}"


def layout_of(settings: Settings) -> Layout:
    """Return where things lie."""
    files = settings.database.files_folder
    return Layout(
        settings.data,
        Path(files).absolute() if files else None,
        fronted=bool(settings.archive.x_accel_redirect_path),
    )
