"""Run a manager: lock its directory, open it, start the clock, serve, and stop in good order.

Invariant: after a kill the next start needs no help. The lock is free because its holder is gone;
the socket is replaced; the spool is emptied, because senders keep all unacknowledged data; lists
are made again; children of the old process have ended with it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import logging
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from manager.app.alerts.alerts import Alerts
from manager.app.alerts.database_outage import Outages, Signs
from manager.app.archive_keeper import Readers
from manager.app.child_processes import ChildPlanner, ChildTrainer
from manager.app.composition import Manager, layout_of, open_manager
from manager.app.leadership import Identity
from manager.app.locks import is_locked_by_us
from manager.app.log_setup import log_to_stderr
from manager.app.self_check import check_folders
from manager.app.web.servers import Listeners, open_listeners, run_servers
from manager.app.web.shutdown import Shutdown
from manager.app.web.web import build_app, wrapped
from manager.clock import Clock, Job, Limit, wall_clock_ms
from manager.intake.workers.body_workers import BodyWorkers, Pool
from manager.intake.workers.workers import Workers
from manager.naming import resolve_due
from manager.operations.actor import CLOCK
from manager.operations.archive.daily_files import keep_daily_files
from manager.operations.identity.file_lease import BEAT_S
from manager.operations.logs.log_retention import forget_logs
from manager.operations.people.login_throttle import purge_failures
from manager.operations.releases.releases import prune_bundles, renew_timestamp
from manager.operations.rounds.round_forecast import estimate_rounds
from manager.operations.rounds.round_progress import begin_crawl
from manager.operations.rounds.tick import tick
from manager.operations.segments.scrub import Scrubber
from manager.operations.segments.upload_completion import expire_uploads
from manager.settings import Settings
from shared.messages import Message
from shared.native import absence_reason

__all__ = ["serve"]

HOUR_S: Final = 3600.0
DAY_S: Final = 86_400.0
ACCEPT_S: Final = 1.0
CHECKPOINT_S: Final = 1.0
DAILY_S: Final = 600.0
READY_S: Final = 10.0
CERTIFICATE_S: Final = 10.0
SELF_CHECK_S: Final = 10.0
LATE_S: Final = 900.0
"""How late a job may be that others wait for; a tick of a million hosts takes a minute or two."""
READING: Final = ("manager.intake.logs.log_parser", "manager.intake.messages.discovery_reader")
"""What a process that reads bodies imports before the first one comes."""

_log: Final = logging.getLogger(__name__)


def serve(settings: Settings, *, config: Path | None = None, as_json: bool = False) -> None:
    """Serve a data directory until SIGTERM or SIGINT.

    config: the file of the settings; None: the one in the data directory.
    One line on standard output says when it is ready and where. Raises SettingError, StoreError,
    BusyError.
    """
    log_to_stderr(as_json=settings.server.log_format == "json")
    layout = layout_of(settings)
    check_folders(layout)
    layout.create()
    identity = Identity()
    if why := absence_reason():
        _log.warning("crawl logs are read line by line, at some ten times the price: %s", why)
    with is_locked_by_us(layout.lock, identity.name) as dead:
        workers = BodyWorkers(
            Pool(
                settings.intake.workers,
                settings.intake.long_task_workers,
                settings.intake.time_slice_s,
                settings.intake.worker_memory_bytes,
                READING,
            )
        )
        readers = Workers(settings.archive.workers)
        planner, trainer = ChildPlanner(), ChildTrainer()
        manager = open_manager(
            settings,
            workers.run,
            planner,
            wall_clock_ms,
            Readers.of(readers),
            dataclasses.replace(identity, dead=dead),
            trainer,
            config=config,
        )
        ends = (workers.end, readers.end, planner.end, trainer.end)
        shutdown = Shutdown(settings.server.stop_s, ends)
        try:
            workers.begin()  # it starts beside us
            manager.spool.clean()
            manager.lists.clear()
            manager.leadership.start()
            _serve(manager, workers, [planner, trainer], shutdown, as_json=as_json)
        finally:
            workers.close()
            readers.close()
            planner.close()
            trainer.close()
            manager.close()


def _serve(
    manager: Manager,
    workers: BodyWorkers,
    thinking: Sequence[ChildPlanner | ChildTrainer],
    shutdown: Shutdown,
    *,
    as_json: bool,
) -> None:
    """Serve until a signal. thinking: what the clock's jobs may wait minutes for."""
    listeners = open_listeners(manager.settings.server, _socket_path(manager))
    reading: list[Scrubber] = []
    clocks = _clocks(manager, workers, reading)
    manager.clocks.extend(clocks)
    stop_metrics = manager.metrics.serve(manager.settings.server)
    try:
        app = build_app(manager)

        def ready() -> None:
            """Freeze long-lived objects, start the clocks, and report readiness."""
            # What lives as long as the process: to look through it stops everybody for 0.1 s.
            gc.collect()
            gc.freeze()
            for clock in clocks:
                clock.start()
            _say_ready(manager, listeners, as_json=as_json)

        asyncio.run(
            run_servers(
                manager.settings,
                manager.certificate,
                listeners,
                wrapped(app, manager, local=False),
                wrapped(app, manager, local=True),
                ready,
                app.state.console_services.streams.close,
                shutdown,
            )
        )
        _log.info("stopping: no connection is left")
    finally:
        # The interpreter leaves frozen objects alone when it ends: libraries in C++ would find
        # theirs alive, and report each as leaked on standard error (nanobind, for DuckDB).
        gc.unfreeze()
        for one in thinking:
            one.end()
        manager.db.end_examining()
        for scrubber in reading:
            scrubber.end()
        for clock in clocks:
            clock.stop()
        stop_metrics()
        listeners.close()


def _clocks(
    manager: Manager, workers: BodyWorkers, ending: list[Scrubber] | None = None
) -> list[Clock]:
    """Return the clock, and one beside it for what happens while the database hangs.

    All threads of the first may wait for it then. ending: see `_clock`.
    """
    leadership, settings = manager.leadership, manager.settings.alerts
    alerts = Alerts(manager.led, manager.alerts, manager.now_ms)
    signs = Signs(
        leadership.host,
        leadership.place,
        lambda: leadership.gone_s,
        lambda: bool(leadership.epoch),
        lambda: manager.self_check.blocker,
    )
    outages = Outages(
        manager.db,
        alerts,
        signs,
        settings.database_outage_s,
        settings.repeat_interval_s,
        manager.now_ms,
    )
    clock = _clock(manager, workers, [] if ending is None else ending)
    beside = Clock(manager.metrics.timed)
    look = leadership.only(alerts.look)
    clock.every(settings.check_interval_s, "alerts", look, limit=_limit("alerts"))
    clock.every(settings.check_interval_s, "silences", outages.remember)
    beside.every(settings.check_interval_s, "outages", outages.look)
    beside.every(SELF_CHECK_S, "self-check", manager.self_check.look, at_once=False)
    return [clock, beside]


def _clock(manager: Manager, workers: BodyWorkers, ending: list[Scrubber]) -> Clock:
    """Declare what happens when. What is done once for a database, only the leader does.

    ending: gets what reads for hours, and is to be ended before the clock.
    """
    db, policy, names, now_ms = manager.led, manager.policy, manager.names, manager.now_ms
    batch = manager.settings.dns.hosts_per_tick
    clock = Clock(manager.metrics.timed)

    def once(interval_s: float, name: str, job: Job, limit: Limit | None = None) -> None:
        clock.every(interval_s, name, manager.leadership.only(job), limit=limit)

    def do_tick() -> None:
        tick(db, now_ms(), policy, planner=None, epoch=manager.leadership.epoch)

    def resolve() -> None:
        resolve_due(db, names, now_ms, policy, batch)

    once(policy.tick_s, "names", resolve, _limit("names"))
    once(policy.tick_s, "tick", do_tick, _limit("tick"))
    # Beside the tick: with a million hosts they take minutes, and no work may wait for them.
    once(
        policy.tick_s,
        "plan",
        lambda: begin_crawl(db, now_ms, policy, manager.planner, manager.learning.is_trained),
    )
    once(policy.tick_s, "forecast", lambda: estimate_rounds(db, now_ms(), policy))
    once(policy.tick_s, "model", lambda: manager.learning.refresh(db, now_ms()))
    clock.every(READY_S, "intake child", workers.begin, at_once=False)
    clock.every(CHECKPOINT_S, "checkpoint", manager.db.checkpoint, limit=_limit("checkpoint"))
    clock.every(DAY_S, "database check", partial(manager.db.examine, 0))
    if manager.certificate is not None:
        clock.every(CERTIFICATE_S, "certificate", manager.certificate.refresh, at_once=False)
    ending.append(manager.archive.begin(clock, manager.leadership, db))
    clock.every(BEAT_S, "bucket", manager.gate.look, at_once=False)
    once(BEAT_S, "file lease", manager.lease.renew, _limit("file_lease"))
    once(ACCEPT_S, "accept", manager.acceptance.accept_waiting)
    once(ACCEPT_S, "fetch", manager.pulling.fetch_due)
    collection = manager.settings.collection
    once(HOUR_S, "uploads", lambda: expire_uploads(db, manager.parts, collection, now_ms()))
    once(DAILY_S, "daily", lambda: keep_daily_files(db, manager.layout.daily, now_ms()))
    # Whoever leads: the signer is a process of one machine, and that machine's manager asks it.
    clock.every(HOUR_S, "timestamp", lambda: renew_timestamp(manager.db, manager.signing, now_ms()))
    once(HOUR_S, "bundles", lambda: prune_bundles(db, manager.bundles))
    keep_s = manager.settings.intake.log_retention_s
    once(HOUR_S, "failed logins", lambda: purge_failures(db, now_ms()))
    once(HOUR_S, "old logs", lambda: forget_logs(db, manager.layout, keep_s, CLOCK, now_ms()))
    once(HOUR_S, "rejected", lambda: manager.rejected.prune(now_ms()))
    return clock


def _limit(job: str) -> Limit:
    """Return how late a job may be, with the effect of more."""
    return Limit(LATE_S, Message(f"alerts.job_{job}"))


def _say_ready(manager: Manager, listeners: Listeners, *, as_json: bool) -> None:
    url = public_url(manager.settings, listeners.port)
    if as_json:
        socket, data = str(_socket_path(manager)), str(manager.layout.data)
        line = json.dumps({"url": url, "socket": socket, "data": data, "pid": os.getpid()})
    else:
        line = f"serving {url} from {manager.layout.data} (process {os.getpid()})"
    print(line, flush=True)


def _socket_path(manager: Manager) -> Path:
    chosen = manager.settings.server.socket
    return Path(chosen) if chosen else manager.layout.socket


def public_url(settings: Settings, port: int) -> str:
    """Return where agents and people reach the manager."""
    server = settings.server
    if server.public_url:
        return server.public_url
    scheme = "https" if server.tls_certificate else "http"
    host = f"[{server.listen_host}]" if ":" in server.listen_host else server.listen_host
    return f"{scheme}://{host}:{port}/"
