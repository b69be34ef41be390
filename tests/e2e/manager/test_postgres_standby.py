"""A PostgreSQL that dies is replaced by its standby, which the manager finds by itself.

Promoting a standby is what Patroni, repmgr or an administrator does; here a test does it, with the
words of docs/operations.md, Several managers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import prsm, running_manager
from tests.postgres import (
    NOT_INSTALLED,
    PostgresServer,
    running_server,
    server_binaries,
    server_user,
)

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

PATIENCE_S = 120.0
# Each commit is on both before it is answered: what was acknowledged is there after the first died.
PAIRED = ("listen_addresses=", "shared_buffers=64MB", "wal_level=replica", "max_wal_senders=4",
          "synchronous_commit=on", "hot_standby=on")  # fmt: skip


@contextmanager
def standby_of(primary: PostgresServer) -> Iterator[PostgresServer]:
    """Start a second server that copies each commit of the first."""
    folder = Path(tempfile.mkdtemp(prefix="prsm-pg-"))
    owner, _ = server_user()
    if owner is not None:
        shutil.chown(folder, owner)
    try:
        command = [*primary.as_user, str(primary.binaries / "pg_basebackup"), "-R", "-X", "stream",
                   "-d", f"host={primary.folder} user={primary.user} application_name=second",
                   "-c", "fast", "-D", str(folder / "data")]  # fmt: skip
        subprocess.run(command, cwd="/", check=True, capture_output=True, timeout=120)
        server = PostgresServer(folder, primary.user, primary.binaries, primary.as_user, PAIRED)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
def test_a_standby_takes_over(tmp_path: Path) -> None:
    """Reports acknowledged before are there, agents are answered again, and all fits together."""
    if server_binaries() is None:
        pytest.skip(NOT_INSTALLED)
    body = b"a.example.202611211000\n" + b"".join(
        encode([LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")])
    )
    with running_server(PAIRED) as first, standby_of(first) as second:
        first.run_sql("CREATE DATABASE prsm")
        first.run_sql("ALTER SYSTEM SET synchronous_standby_names = 'second'")
        first.run_sql("SELECT pg_reload_conf()")
        url = (
            f"postgresql://{first.user}@/prsm?host={first.folder}&host={second.folder}"
            "&target_session_attrs=read-write"
        )
        settings = (f"database.url={url}", f"database.files_folder={tmp_path / 'files'}")
        with (
            running_manager(tmp_path / "one", *settings) as one,
            one.agent("a.example") as agent,
        ):
            assert "accepted, 1 line" in agent.post("servlets/submitlog", content=body).text
            first.stop()
            assert agent.get("servlets/list?host=a.example").status_code == 503
            second.run_sql("SELECT pg_promote()")
            give_up = time.monotonic() + PATIENCE_S
            while agent.get("servlets/list?host=a.example").status_code != 200:
                assert time.monotonic() < give_up, one.log
                time.sleep(0.1)
            assert "already accepted" in agent.post("servlets/submitlog", content=body).text
            assert len(json.loads(prsm(one.data, "reports", "--json"))) == 1
            assert prsm(one.data, "check") == "no problem found\n"
