"""A run of faults goes on, leaves nothing behind, and says what it found, whatever happens."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.faults.system.remains import mounts_below
from benchmarks.faults.system.small_disk import small_disk

pytestmark = pytest.mark.timeout(120)

WORKER = """
import os, subprocess, sys, time
from pathlib import Path
folder, names = Path(sys.argv[1]), sys.argv[4:]
for name in names:
    print("MAKING", name, flush=True)
    if name == "ends":
        os._exit(3)
    print("BEGIN", name, flush=True)
    if name == "hangs":
        quiet = {"start_new_session": True, "stdout": subprocess.DEVNULL}
        child = subprocess.Popen(["sleep", "1000"], **quiet)
        Path(folder.parent / "child").write_text(str(child.pid))
        time.sleep(1000)
    print("    it says something", flush=True)
    print('OUTCOME {"name": "%s", "causes": 2, "lost": 1}' % name, flush=True)
    if name == "leaves":
        os._exit(3)
"""

MAIN = """
import sys, tempfile
from pathlib import Path
from benchmarks.faults.fault import Fault
from benchmarks.faults.report import result_of
from benchmarks.faults.run import Run, interruptible
tempfile.tempdir = sys.argv[1]
limit_s = float(sys.argv[3])
faults = [Fault(name, "it holds", lambda _: None, limit_s=limit_s) for name in sys.argv[4:]]
run = Run(faults, lambda one: print("DONE", one.name, one.held, *one.problems(), flush=True),
          print, command=(sys.executable, sys.argv[2]))
interruptible()
try:
    run.make_all()
except KeyboardInterrupt:
    print("interrupted")
print(result_of(run.outcomes, len(faults)))
"""


def begin(folder: Path, limit_s: float, *names: str) -> subprocess.Popen[str]:
    """Begin a run of faults by name, made by a worker that hangs, ends, or does what it should."""
    worker = folder / "worker.py"
    worker.write_text(WORKER)
    words = [sys.executable, "-c", MAIN, str(folder), str(worker), str(limit_s), *names]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def is_running(pid: int) -> bool:
    """Return whether a process lives; one that is dead and not taken leave of does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_a_fault_that_hangs_or_ends_its_process_does_not_end_the_run(tmp_path: Path) -> None:
    """It is not held, what it started is ended, and those after it are made."""
    said, _ = begin(tmp_path, 2.0, "well", "hangs", "ends", "leaves", "last").communicate()
    done = [line.split(" ", 3) for line in said.splitlines() if line.startswith("DONE ")]
    assert [(name, held) for _, name, held, *_ in done] == [
        ("well", "True"),
        ("hangs", "False"),
        ("ends", "False"),
        ("leaves", "True"),
        ("last", "True"),
    ]
    assert "not done after" in said
    assert "before it began: the process that made it ended" in said
    assert "'faults': 4, 'held': 3, 'lost_acknowledged': 3" in said
    assert "'not_made': 1, 'not_reached': 0" in said
    assert not is_running(int((tmp_path / "child").read_text()))
    assert not list(tmp_path.glob("prsm-faults-*"))


def test_an_interrupted_run_says_what_it_found(tmp_path: Path) -> None:
    """What runs is ended at once; the rest was not reached."""
    with begin(tmp_path, 100.0, "well", "hangs", "last") as run:
        end = time.monotonic() + 60
        while not (tmp_path / "child").exists() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        said = run.communicate()[0]
    assert "interrupted" in said
    assert "'faults': 1, 'held': 1" in said
    assert "'not_reached': 2" in said
    assert not is_running(int((tmp_path / "child").read_text()))


def test_a_fault_ends_within_its_time_and_the_result_is_said(tmp_path: Path) -> None:
    """The command itself: a fault that cannot be made is no promise kept."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", "--only", "update-endless", "--patience",
         "0.001"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    result = json.loads(done.stdout.splitlines()[-1].removeprefix("RESULT "))
    assert (result["held"], result["not_reached"]) == (0, 0), done.stdout
    assert done.returncode in (1, 2)


def test_mounts_are_found_however_they_are_named(tmp_path: Path) -> None:
    """Innermost first, and nothing that is mounted elsewhere."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    with small_disk(folder / "outer", 1), small_disk(folder / "outer" / "inner", 1):
        if not (folder / "outer").is_mount():
            pytest.skip("only root may mount")
        assert mounts_below(folder) == [folder / "outer" / "inner", folder / "outer"]
    assert not mounts_below(folder)
