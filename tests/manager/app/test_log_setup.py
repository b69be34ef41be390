"""The log of a manager: what libraries tell of its own events is left out."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from manager.clock import Clock, Limit
from shared.messages import Message
from tests.manager.running import running
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

LONG_S = 60
SLOW_JOB = """
import threading
from manager.app.log_setup import log_to_stderr
from manager.clock import Clock

log_to_stderr(as_json=False)
clock, passed, go_on = Clock(), threading.Event(), threading.Event()
clock._scheduler.add_listener(lambda _: passed.set(), 1 << 16)  # EVENT_JOB_MAX_INSTANCES
clock.every(0.01, "scrub", lambda: go_on.wait(60))
clock.start()
assert passed.wait(60)
go_on.set()
clock.stop()
"""
STOPPED = """
import logging
from manager.app.log_setup import log_to_stderr

log_to_stderr(as_json=False)
uvicorn = logging.getLogger("uvicorn.error")
uvicorn.info("Started server process [%d]", 1)
uvicorn.error("Cancel %s running task(s), timeout graceful shutdown exceeded", 1)
uvicorn.warning("Invalid HTTP request received.")
"""

REFUSED_ROWS = """
import sys
import sqlalchemy as sa
from manager.app.log_setup import log_to_stderr

log_to_stderr(as_json=False)
engine = sa.create_engine(sys.argv[1].replace("postgresql:", "postgresql+psycopg:"))
with engine.begin() as connection:
    connection.execute(sa.text("CREATE TABLE refused (n integer CHECK (n < 2))"))
try:
    with engine.begin() as connection:
        rows = [{"n": number} for number in range(50_000)]
        connection.execute(sa.text("INSERT INTO refused VALUES (:n)"), rows)
except sa.exc.IntegrityError:
    pass
else:
    sys.exit("PostgreSQL took what it must refuse")
"""


def log_of(program: str, *words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stderr.splitlines()


def test_a_job_that_still_runs_at_its_next_time_is_no_line() -> None:
    """A job that reads for hours is called each minute: that is as it should be."""
    assert log_of(SLOW_JOB) == []


def test_two_servers_in_one_process_do_not_tell_their_ends_twice() -> None:
    """What only they know is told, as a request that is none."""
    (line,) = log_of(STOPPED)
    assert line.endswith("WARNING uvicorn.error: Invalid HTTP request received.")


@pytest.mark.postgres
def test_a_change_that_postgresql_refuses_is_told_by_who_asked_it(
    postgres_server: PostgresServer,
) -> None:
    """A full disk, too, is one line, not the driver's and ours."""
    with postgres_server.new_database() as url:
        assert log_of(REFUSED_ROWS, url) == []


def test_an_alert_names_a_late_job_and_its_effect(tmp_path: Path) -> None:
    """It lasts as long as the job is late."""
    counted_s = 0.0
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        if go_on.is_set():
            done.set()
        begun.set()
        assert go_on.wait(LONG_S)

    clock = Clock(counting_s=lambda: counted_s)
    clock.every(0.01, "tick", job, limit=Limit(900, Message("alerts.job_tick")))
    with running(tmp_path) as prsm:
        prsm.manager.clocks.append(clock)

        def alerts() -> list[str]:
            told = prsm.local.get("/api/v1/alerts").json()["troubles"]
            return [one["text"] for one in told if one["key"] == "job:tick"]

        clock.start()
        try:
            assert begun.wait(LONG_S)
            while not clock._passed_s:
                go_on.wait(0.01)
            assert alerts() == []
            counted_s = 3600.0
            (text,) = alerts()
            go_on.set()
            assert done.wait(LONG_S)
            assert alerts() == []
        finally:
            go_on.set()
            clock.stop()
    assert text.startswith("job tick of the manager is late by 1 h; agents get new work late, ")
