"""`prs-get` gets what is there, goes on where it stopped, and believes nothing unseen."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from client import fetching
from client.cli import Way, main
from client.errors import DamagedError, UnreachableError
from client.unpacking import unpack
from manager.operations.hosts import exclude_host
from shared.archive.classic import read_paths
from shared.archive.verify import verify_segment
from tests.client.conftest import Centre
from tests.manager.archived import collected, page
from tests.manager.running import LOCAL


def fill(centre: Centre, pages: int = 3, size: int = 100) -> None:
    collected(
        centre.prsm,
        centre.agent,
        [
            page(f"http://www.example.jp/{number}", os.urandom(size), mime="image/png")
            for number in range(pages)
        ]
        + [page("http://other.example/")],
    )


def test_hosts_are_listed(centre: Centre) -> None:
    """Name, captures and bytes; an expression selects."""
    fill(centre)
    lines = centre.get("hosts").output.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [
        ["www.example.jp:80", "3"], ["other.example:80", "1"],
    ]  # fmt: skip
    (one,) = centre.get("hosts", "--host", "other.*", "--json").output.splitlines()
    assert json.loads(one)["host"] == "other.example:80"


def test_the_source_s_layout(centre: Centre, tmp_path: Path) -> None:
    """Each host is a zip in its folder; nothing else stays but the place for the next time."""
    fill(centre)
    done = json.loads(centre.get("get", "--host", "www.*", "-o", str(tmp_path), "--json").output)
    (name,) = done["files"]
    assert name.endswith("/www.example.jp:80.zip")
    with zipfile.ZipFile(tmp_path / name) as read:
        assert len(list(read_paths(io.BytesIO(read.read("transferredurl.list"))))) == 3
    assert list((tmp_path / ".prs-get").iterdir()) == []


def test_warc(centre: Centre, tmp_path: Path) -> None:
    """One file, which every tool reads."""
    fill(centre)
    centre.get("get", "--host", ".*", "--format", "warc", "-o", str(tmp_path))
    (path,) = tmp_path.glob("*.warc.gz")
    assert verify_segment(path).captures == 4


def test_dry_run_makes_nothing(centre: Centre, tmp_path: Path) -> None:
    """How much it is at most, and no file."""
    fill(centre)
    said = centre.get("get", "--host", ".*", "-o", str(tmp_path / "x"), "--dry-run").output
    assert said == "2 hosts, 4 captures at most\n"
    assert not (tmp_path / "x").exists()


def test_a_line_that_breaks(
    centre: Centre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each break costs nothing that came before it: every byte is sent once."""
    monkeypatch.setattr(fetching, "PART_BYTES", 10_000)
    fill(centre, pages=4, size=10_000)
    centre.line.breaks = 3_000
    done = json.loads(
        centre.get("get", "--host", "www.*", "-o", str(tmp_path), "-j", "3", "--json").output
    )
    assert done["bytes"] > 40_000
    assert centre.line.sent_bytes == done["fetched_bytes"] == done["bytes"]


def test_it_goes_on_another_day(centre: Centre, tmp_path: Path) -> None:
    """When the centre is gone the exit code is 3; the same command then takes only the rest."""
    fill(centre, pages=4, size=10_000)
    asked = ("get", "--host", "www.*", "-o", str(tmp_path), "--json")
    centre.line.breaks = 15_000
    gone: list[str] = []

    def give_up(_: object, __: int, why: str, ___: float | None = None) -> None:
        gone.append(why)
        raise UnreachableError(why)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("client.server.Server.wait", give_up)
        original = centre.line.handle_request

        def once(request: object) -> object:
            if centre.line.sent_bytes >= 15_000:
                centre.line.down = 1
            return original(request)  # type: ignore[arg-type]  # as httpx calls it

        patched.setattr(centre.line, "handle_request", once)
        centre.get(*asked, code=3)
    assert gone
    before = centre.line.sent_bytes
    centre.line.breaks = None
    done = json.loads(centre.get(*asked).output)
    assert done["fetched_bytes"] == done["bytes"] - before
    assert centre.line.sent_bytes == done["bytes"]


def test_damage_is_seen(centre: Centre, tmp_path: Path) -> None:
    """A flipped bit ends with 4, and nothing of it stays."""
    fill(centre)
    centre.line.flip = True
    centre.get("get", "--host", "www.*", "-o", str(tmp_path), code=4)
    assert not (tmp_path / "html").exists()
    centre.line.flip = False
    centre.get("get", "--host", "www.*", "-o", str(tmp_path))


def test_refusals(centre: Centre, tmp_path: Path) -> None:
    """What the centre refuses is its sentence and 1."""
    said = centre.get("get", "--host", "(", "-o", str(tmp_path), code=1).output
    assert "missing )" in said
    assert "at least one" in centre.get("get", "-o", str(tmp_path), code=1).output


@pytest.mark.parametrize(
    "name", ["../x.zip", "/etc/x.zip", "html/a/b/www.example.jp:80.zip", "html/6700/9e/..:80.zip"]
)
def test_hostile_names_in_a_zip(tmp_path: Path, name: str) -> None:
    """A name that is not that of its host is refused; nothing lands outside."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(name, b"x")
    with pytest.raises(DamagedError):
        unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_changes_keep_a_folder(centre: Centre, tmp_path: Path) -> None:
    """Everything the first time, then what is new; what was withdrawn is deleted here too."""
    folder = tmp_path / "mirror"
    collected(centre.prsm, centre.agent, [page()], "s1.warc.gz")
    collected(centre.prsm, centre.agent, [page("http://other.example/")], "s2.warc.gz")
    asked = ("changes", "-o", str(folder), "--json")
    first = json.loads(centre.get(*asked).output)
    assert sorted(first["fetched"]) == ["s1-a.example.warc.gz", "s2-a.example.warc.gz"]
    assert json.loads(centre.get(*asked).output)["fetched"] == []
    collected(centre.prsm, centre.agent, [page("http://www.example.jp/3")], "s3.warc.gz")
    exclude_host(centre.prsm.manager.db, "other.example", "asked to", LOCAL, centre.prsm.clock())
    listed = centre.get("changes", "-o", str(folder), "--dry-run").output
    assert [line.split("\t")[1] for line in listed.splitlines()[:2]] == ["created", "deleted"]
    second = json.loads(centre.get(*asked).output)
    assert (second["fetched"], second["deleted"]) == (
        ["s3-a.example.warc.gz"], ["s2-a.example.warc.gz"],
    )  # fmt: skip
    assert {path.name for path in folder.glob("*.warc.gz")} == {
        "s1-a.example.warc.gz", "s3-a.example.warc.gz",
    }  # fmt: skip


def test_login(centre: Centre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is tried, then kept for this user only; a wrong one is kept nowhere."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    arguments = ["login", "http://manager.example", "--token-stdin"]
    wrong = CliRunner().invoke(main, arguments, input="x\n", obj=Way(centre.line))
    assert wrong.exit_code == 1
    kept = tmp_path / "prs-get" / "account.json"
    assert not kept.exists()
    token = centre.account.token
    right = CliRunner().invoke(main, arguments, input=f"{token}\n", obj=Way(centre.line))
    assert right.exit_code == 0, right.output
    assert kept.stat().st_mode & 0o777 == 0o600
    listed = CliRunner().invoke(main, ["hosts"], obj=Way(centre.line))
    assert listed.exit_code == 0
    assert token not in listed.output
