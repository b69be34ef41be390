"""A site and a manager as they ship: one release is installed, the next goes back, both are told.

The manager, its signing process, the launcher and the agent's sync are real processes; the releases
are archives of a few lines whose `prs` is the agent of this tree, or one that is broken.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ceremony import Ceremony
from tests.e2e.manager_process import CODE, ManagerProcess, prsm, running_manager
from tests.launcher.site import archive_of

pytestmark = pytest.mark.e2e

PYTHON = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
AGENT = "import sys; sys.argv[0] = 'prs'; from agent.cli import main; main()"
PRS = f'#!/bin/sh\nexec {sys.executable} -c "{AGENT}" "$@"\n'
BROKEN = "#!/bin/sh\necho 'ImportError: no module of this name' >&2\nexit 1\n"


@contextmanager
def signing(folder: Path) -> Iterator[None]:
    """Run the signing process over the keys of a ceremony."""
    command = [sys.executable, "-c", CODE, "release", "signer", "--keys", "keys/signer"]
    command += ["--socket", "sign.sock", "--root", "1.root.json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith("signing at")
            yield
        finally:
            process.terminate()  # a failed test waits for no process that runs for ever


class Site:
    """An installation of release 1.0 whose agent has joined."""

    def __init__(self, home: Path, manager: ManagerProcess, root: bytes) -> None:
        self.home = home
        (home / "data").mkdir(parents=True)
        (home / "launcher").mkdir()
        (home / "launcher" / "root.json").write_bytes(root)
        with manager.agent("a.example", "sync") as client:
            key = client.headers["Authorization"].removeprefix("Bearer ")
        said = {"manager": manager.url, "name": "a.example", "key": key, "token_hash": ""}
        (home / "data" / "key.json").write_text(json.dumps(said))
        (home / "data" / "key.json").chmod(0o600)
        (home / "data" / "prs.toml").write_text('[robot]\ncontact = "tests@example.org"\n')
        bin_folder = home / "versions" / "1.0" / "venv" / "bin"
        bin_folder.mkdir(parents=True)
        for name, text in (("python", PYTHON), ("prs", PRS)):
            (bin_folder / name).write_text(text)
            (bin_folder / name).chmod(0o755)
        (home / "versions" / "1.0" / "complete").write_text("1.0\n")
        (home / "current").symlink_to("versions/1.0")

    def update(self) -> subprocess.CompletedProcess[str]:
        """Run the launcher as cron does."""
        command = [sys.executable, "-m", "launcher", "--home", str(self.home)]
        return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


def test_a_site_updates_and_goes_back(tmp_path: Path) -> None:
    """1.1 is installed and good; 1.2 is broken and gone again by itself; people see both."""
    keys = Ceremony(tmp_path / "keys", lambda: time.time_ns() // 1_000_000)
    root = tmp_path / "1.root.json"
    root.write_bytes(keys.root.to_bytes())
    targets = tmp_path / "targets.json"
    targets.write_bytes(keys.targets.to_bytes())
    socket = f'releases.signer="{tmp_path}/sign.sock"'
    with signing(tmp_path), running_manager(tmp_path / "data", socket) as manager:
        data = manager.data
        prsm(data, "release", "init", str(root), str(targets))
        site = Site(tmp_path / "site", manager, keys.root.to_bytes())
        for version, prs in (("1.1", PRS), ("1.2", BROKEN)):
            body = archive_of(version, {"python": PYTHON, "prs": prs})
            bundle = tmp_path / f"prs-{version}.tar.gz"
            bundle.write_bytes(body)
            targets.write_bytes(keys.with_release(version, body, bundle.name))
            prsm(data, "release", "publish", str(bundle), str(targets))
            prsm(data, "release", "rollout", version, "--ring", "all")
            done = site.update()
            assert (site.home / "current").readlink() == Path("versions/1.1"), done.stderr
            assert done.returncode == (0 if version == "1.1" else 1), done.stderr
        shown = prsm(data, "release")
        assert "a.example: runs" in shown
        assert "1.2 went-back sync" in shown
        assert "no module of this name" in shown
        agent = json.loads(prsm(data, "agents", "show", "a.example", "--json"))
        result = agent["agent"]["update_result_message"]
        assert result["code"] == "releases.not_updated_because"
        params = result["params"]
        assert [params[one] for one in ("version", "outcome", "step")] == [
            "1.2",
            "went-back",
            "sync",
        ]
        assert agent["agent"]["update_result"].startswith("1.2: rolled back at sync. ")
        audit = json.loads(prsm(data, "audit", "--json"))
        assert {"agent.update-updated", "agent.update-went-back"} <= {
            row["action"] for row in audit
        }
