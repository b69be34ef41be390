"""A real manager, its signing process and a real launcher, with an attacker on the line between.

Releases are signed by a ceremony's keys and published by `prsm release publish`; what the launcher
asks goes through a `Courier`, whose way is the attack. Nothing else is in the attacker's hands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.faults.transit.courier import Answer, Courier, Deliver, Message, Way, courier
from tests.ceremony import Ceremony
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.e2e.system.test_release_update import PRS, PYTHON, Site, signing
from tests.launcher.site import archive_of

__all__ = ["UPDATE", "Attacked", "attacked", "instead"]

UPDATE: Final = "/api/v1/update/"


class Attacked:
    """Made by `attacked`: a site that runs 1.1, and has seen its signed files."""

    def __init__(
        self, folder: Path, keys: Ceremony, manager: ManagerProcess, line: Courier
    ) -> None:
        self.folder, self.keys, self.manager, self.line = folder, keys, manager, line
        self._number = 0
        self.site = Site(folder / "site", manager, keys.root.to_bytes())
        key = self.site.home / "data" / "key.json"
        key.write_text(json.dumps({**json.loads(key.read_text()), "manager": line.url}))

    def publish(self) -> str:
        """Sign the next release, publish and offer it; return its version."""
        self._number += 1
        version = f"1.{self._number}"
        body = archive_of(version, {"python": PYTHON, "prs": PRS})
        bundle = self.folder / f"prs-{version}.tar.gz"
        bundle.write_bytes(body)
        targets = self.folder / "targets.json"
        targets.write_bytes(self.keys.with_release(version, body, bundle.name))
        prsm(self.manager.data, "release", "publish", str(bundle), str(targets))
        prsm(self.manager.data, "release", "rollout", version, "--ring", "all")
        return version

    def update(self, environment: Mapping[str, str] | None = None) -> str:
        """Run the launcher as cron does; return the last line that it says."""
        done = subprocess.run(
            [sys.executable, "-m", "launcher", "--home", str(self.site.home)],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        lines = (done.stderr or done.stdout).splitlines()
        return lines[-1] if lines else ""

    @property
    def runs(self) -> str:
        """Return the version that the site runs."""
        return (self.site.home / "current").readlink().name

    def seen(self) -> dict[str, Answer]:
        """Return what the line carried of signed files, by path: the newest answer to each."""
        return {
            one.path: one.delivered[-1]
            for one in self.line.messages
            if one.path.startswith(UPDATE) and one.delivered and one.delivered[-1].status == 200
        }


@contextmanager
def attacked(folder: Path) -> Iterator[Attacked]:
    """Start it; the site updated to 1.1 over an honest line."""
    keys = Ceremony(folder / "keys", lambda: time.time_ns() // 1_000_000)
    root, targets = folder / "1.root.json", folder / "targets.json"
    root.write_bytes(keys.root.to_bytes())
    targets.write_bytes(keys.targets.to_bytes())
    with ExitStack() as stack:
        stack.enter_context(signing(folder))
        socket = f'releases.signer="{folder}/sign.sock"'
        manager = stack.enter_context(running_manager(folder / "data", socket))
        prsm(manager.data, "release", "init", str(root), str(targets))
        line = stack.enter_context(courier(manager.port))
        made = Attacked(folder, keys, manager, line)
        made.publish()
        made.update()
        yield made


def instead(answers: Mapping[str, Answer]) -> Way:
    """Return a way on which some paths are answered by the attacker."""

    def way(message: Message, deliver: Deliver) -> Answer | None:
        return answers.get(message.path) or deliver(message)

    return way
