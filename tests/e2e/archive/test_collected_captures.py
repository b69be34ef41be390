"""What the centre has after a second crawl, and after a host was withdrawn: real programs."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import httpx
import pytest

from shared.archive.reader import iter_captures
from tests.e2e.archive.test_collection import collected
from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import command, wait_for

pytestmark = pytest.mark.e2e

PAGES = ("", "same.html", "other.html", "deep.html", "gone.html")


def site(folder: Path) -> Path:
    """Write a site whose top page leads to all others."""
    folder.mkdir()
    links = "".join(f'<a href="{name}">x</a>' for name in PAGES[1:])
    (folder / "index.html").write_text(links)
    for name in PAGES[1:]:
        (folder / name).write_text(f"<html><body>{name}</body></html>")
    return folder


def whole(fleet: Fleet) -> dict[str, list[str]]:
    """Return for each segment that the centre keeps the paths of its whole captures."""
    found = {}
    for path in (fleet.manager.data / "archive" / "segments").rglob("*.warc.gz"):
        with path.open("rb") as file:
            found[path.name] = sorted(
                stored.capture.url.rpartition("/")[2]
                for stored in iter_captures(file)
                if stored.capture.revisit is None and stored.capture.status == 200
                and "robots.txt" not in stored.capture.url
            )  # fmt: skip
    return found


def taken(fleet: Fleet, token: str, **asked: str) -> list[str]:
    """Return the paths that a third party gets in a zip."""
    answer = httpx.get(
        f"{fleet.manager.url}/api/v1/pages.zip",
        params={"host": ".*", **asked},
        headers={"Authorization": f"Bearer {token}"},
        timeout=600,
    )
    assert answer.status_code == 200, answer.text
    found = []
    with zipfile.ZipFile(io.BytesIO(answer.content)) as outer:
        for name in outer.namelist():
            with zipfile.ZipFile(io.BytesIO(outer.read(name))) as inner:
                found += inner.read("transferredurl.list").decode().splitlines()
    return sorted(path for path in found if path != "/robots.txt")


@pytest.mark.slow
def test_a_difference_holds_exactly_what_changed(tmp_path: Path) -> None:
    """A second crawl, collected: the new segments have bodies of the changed pages only, and who
    asks for what was updated since gets these and no others."""
    folder = site(tmp_path / "site")
    with running_fleet(
        tmp_path, agents=1, hosts=0, regions=1, folder=[f"docs={folder}"],
    ) as fleet:  # fmt: skip
        (agent,), data = fleet.agents, str(fleet.manager.data)
        seeds = tmp_path / "seeds"
        seeds.write_text("".join(f"{fleet.web.url(host)}\n" for host in fleet.web.hosts))
        fleet.manager.prsm("hosts", "import", "--wait", str(seeds))
        fleet.run_round("random", 300)
        assert collected(fleet, agent.name)["state"] == "done"
        before = whole(fleet)
        # What was just probed may be whole twice: the memory of captures is a minute behind.
        assert set(chain(*before.values())) == set(PAGES)

        changed_at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
        wait_for("the next second", lambda: datetime.now(UTC) > changed_at, seconds=10)
        (folder / "other.html").write_text("<html><body>after</body></html>")
        (folder / "gone.html").write_text("<html><body>after, too</body></html>")
        fleet.run_round("keep", 300)
        assert collected(fleet, agent.name)["state"] == "done"
        new = {name: paths for name, paths in whole(fleet).items() if name not in before}
        assert new
        assert sorted(chain(*new.values())) == ["gone.html", "other.html"]

        command("prsm", "clients", "add", "library", "--contact", "a@library.example",
                PRSM_DATA=data)  # fmt: skip
        token = command("prsm", "clients", "token", "library", PRSM_DATA=data).split()[-1]
        since = changed_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert taken(fleet, token, updated_since=since) == ["/gone.html", "/other.html"]
        assert taken(fleet, token) == sorted(f"/{name}" for name in PAGES)


@pytest.mark.slow
def test_an_agent_drops_a_withdrawn_host(tmp_path: Path) -> None:
    """Its captures leave the agent's segments before they are sent; all others are sent."""
    with running_fleet(
        tmp_path, agents=1, hosts=3, regions=1, seeds=3, seed=4, pages_mean=8, pages_sigma=0.4,
        trouble_scale=0,
    ) as fleet:  # fmt: skip
        (agent,), data = fleet.agents, str(fleet.manager.data)
        fleet.run_round("random", 300)
        segments = agent.home / "crawl" / "segments"

        def hosts() -> set[str]:
            found = set()
            for path in segments.glob("*.warc.gz*"):
                if path.name.endswith((".warc.gz", ".warc.gz.open")):
                    with suppress(OSError):  # it is sealed, or goes, at this moment
                        found |= held(path)
            return found

        before = hosts()
        gone = min(before)
        command("prsm", "withdraw", f"http://{gone}/", "--reason", "asked to", "--yes",
                PRSM_DATA=data)  # fmt: skip
        wait_for("the agent to drop it", lambda: hosts() == before - {gone}, seconds=120)
        assert collected(fleet, agent.name)["state"] == "done"
        kept = (fleet.manager.data / "archive" / "segments").rglob("*.warc.gz")
        assert set().union(*map(held, kept)) == before - {gone}


def held(segment: Path) -> set[str]:
    """Return the hosts of a segment's captures."""
    with segment.open("rb") as file:
        return {stored.capture.url.split("/")[2] for stored in iter_captures(file)}
