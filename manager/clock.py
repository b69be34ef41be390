"""The clock of the manager: a scheduler that calls registered jobs at fixed intervals.

APScheduler with its memory store; jobs are declared in code and lost with the process, because due
work lives in tables. Invariants: a job never runs twice at once; one call makes up for all missed
calls; a job that fails is reported and called again at its next time. The scheduler counts by the
time of day. If that is set back, all jobs are called at once and count from then, or nothing would
happen until the old time has come again; if it leaps ahead, the missed calls are skipped in one
step, or a job of each second would be counted through a month of them.
A job may still run at its next time; a job whose delay matters has a limit, and is late beyond it
(`late_jobs`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, cast

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from manager.errors import BusyError, DamagedDatabaseError
from shared.errors import SettingError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Clock", "Job", "LateJob", "Limit", "wall_clock_ms"]

log: Final = logging.getLogger(__name__)

Job = Callable[[], object]

LOOK_S: Final = 1.0
THREADS: Final = 12
"""Jobs at once. Some take minutes; the tick must find a thread whatever else runs."""
SET_BACK_S: Final = 1.0
"""A clock that is set back by less only puts a job off by as much."""


def wall_clock_ms() -> int:
    """Return the time as operations take it: milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


@frozen
class Limit:
    """The longest time that a job may run past its next call, and the effect of more."""

    after_s: float
    effect: Message


@frozen
class LateJob:
    """A job beyond its limit. late_s: since the time at which it was to be called again."""

    name: str
    late_s: float
    effect: Message


class Clock:
    """Calls jobs at their times, each in a separate thread, from `start` until `stop`."""

    def __init__(
        self,
        watched: Callable[[str, Job], Job] | None = None,
        time_s: Callable[[], float] = time.time,
        counting_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """watched: returns a job, by its name, that is called in place of it.

        time_s: the time of day. counting_s: a monotonic time, which no person can set.
        """
        self._watched = watched
        self._time_s = time_s
        self._stopped = threading.Event()
        self._follower = threading.Thread(target=self._follow, name="clock", daemon=True)
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
            executors={"default": ThreadPoolExecutor(THREADS)},
        )
        self._scheduler.add_listener(_report, EVENT_JOB_ERROR)
        self._scheduler.add_listener(self._passed, EVENT_JOB_MAX_INSTANCES)
        self._counting_s = counting_s
        self._limits: dict[str, Limit] = {}
        self._delays = threading.Lock()
        self._passed_s: dict[str, float] = {}  # job -> when it was to be called, and still ran
        self._ended_at: dict[str, datetime] = {}
        self._told: set[str] = set()

    def every(
        self,
        interval_s: float,
        name: str,
        job: Job,
        *,
        at_once: bool = True,
        limit: Limit | None = None,
    ) -> None:
        """Call a job every so many seconds; the first time when the clock starts, or later.

        limit: None: the duration of the job does not matter.
        """
        if interval_s <= 0:
            raise SettingError("settings_errors.interval", name=name, interval_s=interval_s)
        if self._watched is not None:
            job = self._watched(name, job)
        first = {"next_run_time": datetime.now(UTC)} if at_once else {}
        if limit is not None:
            self._limits[name] = limit
            job = self._timed(name, job)
        trigger = Every(seconds=interval_s, timezone=UTC)
        self._scheduler.add_job(job, trigger, id=name, name=name, **first)

    def soon(self, name: str) -> None:
        """Call a job that was given to `every` now, besides its times; for who just made work."""
        self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    def late_jobs(self) -> list[LateJob]:
        """Return the jobs that are beyond their limits now."""
        now_s = self._counting_s()
        with self._delays:
            delays = {name: now_s - since_s for name, since_s in self._passed_s.items()}
        return [
            LateJob(name, delays[name], limit.effect)
            for name, limit in self._limits.items()
            if delays.get(name, 0.0) > limit.after_s
        ]

    def start(self) -> None:
        """Begin to call."""
        self._scheduler.start()
        self._follower.start()

    def stop(self) -> None:
        """Call no more, and wait for the jobs that run."""
        self._stopped.set()
        if self._scheduler.running:
            self._follower.join()
            self._scheduler.shutdown(wait=True)

    def _passed(self, event: JobSubmissionEvent) -> None:
        """Note that a job still runs, or waits for a thread, at its next time."""
        name, due_at = event.job_id, event.scheduled_run_times[-1]
        with self._delays:
            ended_at = self._ended_at.get(name)
            if name not in self._limits or (ended_at is not None and ended_at >= due_at):
                return  # it has ended since
            self._passed_s.setdefault(name, self._counting_s())
        for late in self.late_jobs():
            if late.name not in self._told:
                self._told.add(late.name)
                log.warning("%s is %.0f s late: %s", late.name, late.late_s, late.effect)

    def _timed(self, name: str, job: Job) -> Job:
        """Return a job whose delay ends when it does."""

        def run() -> None:
            try:
                job()
            finally:
                with self._delays:
                    self._ended_at[name] = datetime.now(UTC)
                    since_s = self._passed_s.pop(name, None)
                if since_s is not None and name in self._told:
                    self._told.discard(name)
                    log.info("%s is done, %.0f s late", name, self._counting_s() - since_s)

        return run

    def _follow(self) -> None:
        """Notice when the time of day is set back."""
        ahead_s = self._time_s() - time.monotonic()
        while not self._stopped.wait(LOOK_S):
            before_s, ahead_s = ahead_s, self._time_s() - time.monotonic()
            if ahead_s < before_s - SET_BACK_S:
                log.warning("the clock was set back by %.0f s", before_s - ahead_s)
                for job in self._scheduler.get_jobs():
                    self.soon(job.id)


class Every(IntervalTrigger):  # type: ignore[misc] # the library has no types
    """Every so many seconds; after a time that was missed comes one that is still to come."""

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        """Return the next time after a previous one, as the scheduler asks for each in turn."""
        following = cast(datetime | None, super().get_next_fire_time(previous, now))
        if following is None or following > now:
            return following
        return cast(datetime, following + ((now - following) // self.interval + 1) * self.interval)


def _report(event: JobExecutionEvent) -> None:
    if isinstance(event.exception, DamagedDatabaseError):
        return  # the log has it, from when it was met; each job would say it each second
    if isinstance(event.exception, BusyError):
        log.warning("%s waits for its next time: %s", event.job_id, event.exception)
        return
    log.error("%s failed and is called again at its next time", event.job_id,
              exc_info=event.exception)  # fmt: skip
