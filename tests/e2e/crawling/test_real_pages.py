"""About 4,600 real pages, crawled by three agents and by wget: the same set, and valid archives.

Each documentation package is a host of the simulated web. All that wget asks for is asked for, what
style sheets name too; what more there is are files that scripts name, which wget does not read.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from shared.archive.reader import iter_captures
from simweb.launcher import SimulatedWeb
from tests.e2e.fleet import running_fleet
from tests.programs import NOT_INSTALLED, program
from tools.demo.system import BIN

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

FOLDERS = {
    "python": "/usr/share/doc/python3-doc/html",
    "postgresql": "/usr/share/doc/postgresql-doc-15/html",
    "git": "/usr/share/doc/git/html",
    "apache": "/usr/share/doc/apache2-doc/manual",
}
OPTIONS: dict[str, Any] = {
    "hosts": 0,
    "seeds": 0,
    "regions": 1,
    "delay_ms": 0.0,
    "bandwidth_kb_s": 0.0,
    "folder": [f"{name}={folder}" for name, folder in FOLDERS.items()],
}


@pytest.fixture(scope="module")
def found_by_wget(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The paths of each host that answered wget with 200."""
    for folder in FOLDERS.values():
        if not Path(folder).is_dir():
            pytest.skip(f"{NOT_INSTALLED}{folder}; to run this test: make test-packages ARGS=all")
    scratch = tmp_path_factory.mktemp("wget")
    with SimulatedWeb(scratch / "web", **OPTIONS) as web:
        for host in web.hosts:
            subprocess.run(
                [
                    program("wget"),
                    "--quiet",
                    "--recursive",
                    "--level=inf",
                    f"--header=Host: {host.name}",
                    f"--directory-prefix={scratch / host.name}",
                    f"http://{host.address}:{web.port}/",
                ],
                check=False,  # 8: some link was a 404, as on any real site
            )
        return answered(web)


def answered(web: SimulatedWeb) -> dict[str, set[str]]:
    """Return the paths of each host that were answered with 200, by the server's own log."""
    paths: dict[str, set[str]] = {}
    for request in web.requests():
        if request["status"] == 200:
            paths.setdefault(request["host"], set()).add(request["path"])
    return paths


def captured(segments: list[Path]) -> dict[str, set[str]]:
    """Return the paths of each host that lie in segments with a whole answer of 200."""
    paths: dict[str, set[str]] = {}
    for segment in segments:
        with segment.open("rb") as file:
            for stored in iter_captures(file):
                if stored.capture.status == 200:
                    url = urlsplit(stored.capture.url)
                    path = url.path + (f"?{url.query}" if url.query else "")
                    paths.setdefault(str(url.hostname), set()).add(path)
    return paths


def test_three_agents_find_what_wget_finds(
    found_by_wget: dict[str, set[str]], tmp_path: Path
) -> None:
    """The captured set holds wget's; every segment is valid."""
    with running_fleet(tmp_path, agents=3, interval_s=0.0, **OPTIONS) as fleet:
        fleet.manager.prsm("rounds", "start", "--method", "random", "--no-probe")
        fleet.wait_round("finished", 600)
        fleet.check()
        ours = answered(fleet.web)
        for agent in fleet.agents:
            agent.stop()
        assert set(ours) == set(found_by_wget)
        for host, paths in ours.items():
            more = paths - found_by_wget[host]
            assert found_by_wget[host] <= paths, host
            assert len(more) < len(paths) / 100, more
            print(f"{host}: wget {len(found_by_wget[host])}, PRSM {len(paths)}; more: {more}")
        assert sum(map(len, ours.values())) > 4_000
        requests = [(one["host"], one["path"]) for one in fleet.web.requests()]
        assert len(requests) == len(set(requests)), "asked for twice"
        segments = [
            path
            for path in tmp_path.rglob("*.warc.gz*")
            if path.name.endswith((".warc.gz", ".warc.gz.open"))
        ]
        assert len(segments) >= 2
        assert captured(segments) == ours
        for segment in segments:
            copy = tmp_path / "checked.warc.gz"
            shutil.copy(segment, copy)
            for tool in ("warcio", "fastwarc"):
                outcome = subprocess.run(
                    [str(BIN / tool), "check", str(copy)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert outcome.returncode == 0, f"{tool}: {outcome.stdout}{outcome.stderr}"
