"""The clock: when things happen, never what. It calls what it is given, every so many seconds.

APScheduler with its memory store; jobs are declared in code and lost with the process, because
what is due lives in tables. Invariants: a job never runs twice at once; calls that were missed are
made up for by one; a job that fails is reported and called again at its next time. The scheduler
counts by the time of day. Where that is set back, all jobs are called at once and count anew, or
nothing would happen until the old time has come again; where it leaps ahead, what was missed is
passed over in one step, or a job of each second would be counted through a month of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, cast

from apscheduler.events import EVENT_JOB_ERROR, JobExecutionEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from manager.errors import BusyError, DamagedDatabaseError
from shared.errors import SettingError

__all__ = ["Clock", "Job", "wall_clock_ms"]

log: Final = logging.getLogger(__name__)

Job = Callable[[], object]

LOOK_S: Final = 1.0
THREADS: Final = 12
"""Jobs at once. Some take minutes; the tick is to find a thread whatever else goes on."""
SET_BACK_S: Final = 1.0
"""A clock that is set back by less only puts a job off by as much."""


def wall_clock_ms() -> int:
    """Return the time as operations take it: milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


class Clock:
    """Calls jobs at their times, each in a thread of its own, from `start` until `stop`."""

    def __init__(
        self,
        watched: Callable[[str, Job], Job] | None = None,
        time_s: Callable[[], float] = time.time,
    ) -> None:
        """watched: returns a job, by its name, that is called in place of it. time_s: of day."""
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

    def every(self, interval_s: float, name: str, job: Job, *, at_once: bool = True) -> None:
        """Call a job every so many seconds; the first time when the clock starts, or later."""
        if interval_s <= 0:
            raise SettingError(f"interval of {name} = {interval_s} s: must be > 0")
        if self._watched is not None:
            job = self._watched(name, job)
        first = {"next_run_time": datetime.now(UTC)} if at_once else {}
        trigger = Every(seconds=interval_s, timezone=UTC)
        self._scheduler.add_job(job, trigger, id=name, name=name, **first)

    def soon(self, name: str) -> None:
        """Call a job that was given to `every` now, besides its times; for who just made work."""
        self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

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
