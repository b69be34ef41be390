"""What `deploy/` ships, started: two managers behind nginx and Caddy; systemd's units."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from manager.cli import main
from tests.e2e.manager_process import running_manager
from tests.e2e.nginx import make_certificate, nginx_in_front, wait_for_front
from tests.postgres import PostgresServer, postgres_server
from tests.programs import program
from tools.held_port import HeldPort

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e]

DEPLOY = Path(__file__).parents[3] / "deploy"
Front = Callable[[Path, list[int], int], AbstractContextManager[str]]


def nginx(folder: Path, managers: list[int], port: int) -> AbstractContextManager[str]:
    return nginx_in_front(folder, managers[0], folder, port, others=managers[1:])


@contextmanager
def caddy(folder: Path, managers: list[int], port: int) -> Iterator[str]:
    """Start Caddy with the shipped file: another address, another certificate, our managers."""
    binary = program("caddy")
    folder.mkdir()
    key, certificate = make_certificate(folder)
    shipped = (DEPLOY / "Caddyfile").read_text()
    behind = " ".join(f"127.0.0.1:{each}" for each in managers)
    for what, chosen in (
        (r"prsm\.example\.org \{ .*", f"https://127.0.0.1:{port} {{\n\ttls {certificate} {key}"),
        (r"127\.0\.0\.1:8000 127\.0\.0\.1:8001", behind),
    ):
        shipped, changed = re.subn(what, chosen, shipped)
        assert changed == 1, what
    config = folder / "Caddyfile"
    config.write_text("{\n\tadmin off\n\tauto_https off\n}\n" + shipped)
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            [binary, "run", "--config", config, "--adapter", "caddyfile"],
            stdout=out, stderr=out, env=environment,
        )  # fmt: skip
    try:
        wait_for_front(port, process, folder)
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize(
    "front", [nginx, pytest.param(caddy, marks=pytest.mark.slow)], ids=["nginx", "caddy"]
)
def test_the_death_of_one_manager_goes_unnoticed(
    tmp_path: Path, postgres_server: PostgresServer, front: Front
) -> None:
    """Two behind the front; the leader is killed, requests go on; it comes back, the other dies."""
    with postgres_server.new_database() as url, HeldPort() as port:
        shared = (f"database.url={url}", f"database.files_folder={tmp_path}",
                  "database.leader_timeout_s=2", "server.behind_tls_proxy=true")  # fmt: skip
        with (
            running_manager(tmp_path / "one", *shared) as one,
            running_manager(tmp_path / "two", *shared) as two,
            one.agent("a.example") as agent,
            front(tmp_path / "front", [one.port, two.port], port) as address,
            httpx.Client(base_url=address, verify=False, headers=agent.headers) as called,
        ):
            ask(called, 10)
            one.kill()
            ask(called, 30)
            one.start_again()
            settle(called)
            two.kill()
            ask(called, 30)


def test_both_fronts_leave_a_manager_out_for_as_long() -> None:
    """A second: whoever failed a moment ago may be back."""
    nginx_says = re.search(r"fail_timeout=(\w+);", (DEPLOY / "nginx.conf").read_text())
    caddy_says = re.search(r"fail_duration (\w+)$", (DEPLOY / "Caddyfile").read_text(), re.M)
    assert nginx_says is not None
    assert caddy_says is not None
    assert nginx_says[1] == caddy_says[1] == "1s"


def ask(client: httpx.Client, times: int) -> None:
    """Ask for the list, as agents do, and be answered each time."""
    client.timeout = httpx.Timeout(60)
    for _ in range(times):
        answer = client.get("/servlets/list", params={"host": "a.example"})
        assert answer.status_code == 200, answer.text


def settle(client: httpx.Client) -> None:
    """Let the front notice that a manager is back: it looks again after some seconds."""
    give_up = time.monotonic() + 12
    while time.monotonic() < give_up:
        ask(client, 1)
        time.sleep(0.2)


@pytest.mark.parametrize("name", sorted(path.name for path in DEPLOY.glob("prsm*.service")))
def test_a_unit_says_what_can_be_run(name: str) -> None:
    """Sections and commands are there; with systemd at hand it says what it thinks of it."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd knows capitals
    unit.read(DEPLOY / name)
    assert unit["Service"]["NoNewPrivileges"] == "yes"
    words = shlex.split(unit["Service"]["ExecStart"])
    if words[0] == "/bin/sh":
        words = shlex.split(words[2].replace("%%", "%"))[1:]
    if Path(words[0]).name == "prsm":
        command = next(word for word in words[1:] if not word.startswith("-"))
        assert command in main.commands
    if name == "prsm-signer.service":
        _keeps_its_keys(unit, words)
    if analyse := shutil.which("systemd-analyze"):
        said = systemd_says(analyse, DEPLOY / name)
        ours = [line for line in said.splitlines() if name in line and "not executable" not in line]
        assert ours == []


def systemd_says(analyse: str, unit: Path) -> str:
    """Return what systemd finds in a unit; asked by root, it would write into /run."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where anybody may read
        Path(folder).chmod(0o755)
        copy = shutil.copy(unit, folder)
        return subprocess.run(
            [analyse, "verify", copy], capture_output=True, text=True, check=False, cwd="/",
            user="nobody" if os.geteuid() == 0 else None,
        ).stderr  # fmt: skip


def _keeps_its_keys(unit: configparser.ConfigParser, words: list[str]) -> None:
    """The signing process is a user of its own, and its keys lie where only that one looks."""
    manager = configparser.ConfigParser(strict=False, interpolation=None)
    manager.read(DEPLOY / "prsm.service")
    assert unit["Service"]["User"] != manager["Service"]["User"]
    assert unit["Service"]["StateDirectoryMode"] == "0700"
    assert words[words.index("--keys") + 1] == f"/var/lib/{unit['Service']['StateDirectory']}"
    assert unit["Service"]["PrivateNetwork"] == "yes"
