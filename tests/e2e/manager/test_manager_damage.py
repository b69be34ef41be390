"""A damaged database, a disk without inodes or turned read-only, under the shipped `prsm serve`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from manager.cli import main
from tests.e2e.manager_process import CODE, ManagerProcess, prsm, running_manager
from tests.e2e.mounts import in_own_namespace, read_only_for, remount, small_file_system
from tests.manager.db.damaged_files import DAMAGES, fold_journal
from tools.demo.system import wait_for

pytestmark = pytest.mark.e2e

WAIT_S = 60.0
MORE = [one for one in DAMAGES if one != "one page zeroed"]


def until(happens: Callable[[], bool]) -> None:
    wait_for("what the test waits for", happens, seconds=WAIT_S)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with tables of some pages, and a backup beside it; no manager serves it."""
    data = tmp_path_factory.mktemp("filled") / "data"
    with running_manager(data) as manager:
        lines = "".join(f"http://h{number}.example/\n" for number in range(2000))
        prsm(data, "hosts", "import", "-", "--no-wait", stdin=lines)
        prsm(data, "backup", str(data.with_name("good.tar")))
        assert manager.stop() == 0
    fold_journal(data / "prsm.sqlite")
    return data


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    copy = tmp_path / "data"
    shutil.copytree(filled, copy)
    return copy


def contents(data: Path) -> dict[str, int]:
    return {
        str(path.relative_to(data)): path.stat().st_size
        for path in sorted(data.rglob("*"))
        if path.is_file() and path.name != "prsm.lock"
    }


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, "--data", str(data), *arguments],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    ["one page zeroed", *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)],
)
def test_each_command_names_the_file_the_finding_and_the_remedy(
    data: Path, filled: Path, tmp_path: Path, damage: str
) -> None:
    """None ends in a traceback, none deletes anything, and the remedy works as it is written."""
    database = data / "prsm.sqlite"
    DAMAGES[damage](database)
    before = contents(data)
    served = run(data, "serve", "--listen", "127.0.0.1:0")
    assert served.returncode == 1
    assert "Traceback" not in served.stderr
    told = {
        "serve": served.stderr,
        "status": prsm(data, "status", code=3),
        "check": prsm(data, "check", code=3),
        "backup": prsm(data, "backup", str(tmp_path / "bad.tar"), code=1),
        "migrate status": prsm(data, "migrate", "status", code=1),
        "migrate up": prsm(data, "migrate", "up", code=1),
    }
    for command, said in told.items():
        assert f"database {database} is damaged: PRAGMA quick_check says: " in said, command
        assert "prsm --data NEW restore BACKUP" in said, command
    assert contents(data) == before
    assert not (tmp_path / "bad.tar").exists()
    new = tmp_path / "new"
    prsm(new, "restore", str(filled.with_name("good.tar")))
    with running_manager(new):
        assert json.loads(prsm(new, "check", "--json"))["findings"] == []


def test_damage_while_a_manager_runs_is_told_and_ends_all_writing(data: Path) -> None:
    """By /readyz and its log, without a traceback; it ends in good order."""
    with running_manager(data) as manager:
        DAMAGES["noise"](data / "prsm.sqlite")

        def is_named() -> bool:
            CliRunner().invoke(main, ["--data", str(data), "hosts", "list", "--limit", "1000"])
            return "is damaged" in httpx.get(f"{manager.url}readyz").text

        until(is_named)
        answer = httpx.get(f"{manager.url}readyz")
        assert answer.status_code == 503
        assert {one["code"] for one in answer.json()["problems"]} == {"database_damaged"}
        refused = prsm(data, "hosts", "exclude", "h1.example", "--reason", "asked for", code=1)
        assert "PRAGMA quick_check says: " in refused
        assert manager.stop() == 0
        assert "Traceback" not in manager.log
        assert manager.log.count("ERROR manager.db.damage") <= 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of few inodes."""
    with small_file_system(tmp_path / "disk", "size=64m,nr_inodes=200") as folder:
        yield folder


def use_up_inodes(folder: Path) -> None:
    number = 0
    try:
        while True:
            (folder / f"filler-{number}").touch()
            number += 1
    except OSError:
        return


def readiness(manager: ManagerProcess) -> httpx.Response:
    return httpx.get(f"{manager.url}readyz")


@pytest.mark.slow
def test_no_free_inodes_are_named_while_it_runs_and_at_the_next_start(small_disk: Path) -> None:
    """Bytes are left. With inodes again it is ready by itself."""
    data = small_disk / "data"
    with running_manager(data) as manager:
        assert readiness(manager).json()["ready"] is True
        assert readiness(manager).json()["problems"][0]["code"] == "few_inodes"
        use_up_inodes(small_disk)
        until(lambda: readiness(manager).status_code == 503)
        answer = readiness(manager).json()
        assert "no free inodes" in answer["reason"]
        assert str(data) in answer["reason"]
        assert "no free inodes" in prsm(data, "alerts")
        for path in small_disk.glob("filler-*"):
            path.unlink()
        until(lambda: readiness(manager).status_code == 200)
        use_up_inodes(small_disk)
        manager.kill()
    done = run(data, "serve", "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert "no free inodes" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_file_system_that_turned_read_only_is_named(small_disk: Path) -> None:
    """While the manager runs, and at its start."""
    data = small_disk / "data"
    with running_manager(data) as manager:
        manager.stop()
    remount(small_disk, "ro")
    done = run(data, "serve", "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert "is read-only" in done.stderr
    assert "Traceback" not in done.stderr
    remount(small_disk, "rw")


@pytest.mark.slow
def test_a_read_only_file_system_under_a_manager_is_named(small_disk: Path) -> None:
    """As the kernel leaves one with errors: also for files that are open."""
    data = small_disk / "data"
    with running_manager(data, before=in_own_namespace()) as manager:
        # A remount is refused while files are open for writing; a read-only bind mount in the
        # manager's own name space is not.
        with read_only_for(manager.process.pid, small_disk):
            until(lambda: readiness(manager).status_code == 503)
            assert "is read-only" in readiness(manager).json()["reason"]
            assert "is read-only" in prsm(data, "alerts")
        until(lambda: readiness(manager).status_code == 200)
