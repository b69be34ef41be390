"""`prs-get` takes whole segments from the shipped manager, over good lines and bad ones."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.clock import wall_clock_ms
from tests.e2e.bad_line import bad_line
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.e2e.nginx import nginx_in_front
from tests.e2e.third_party import ThirdParty, new_token
from tests.manager.archived import arrived, hold, page, segment_bytes
from tests.manager.running import running
from tools.held_port import HeldPort

pytestmark = pytest.mark.e2e

HOST = "http://www.example.jp:80/"
PAGES = (100, 10, 10, 10, 10)  # of 50,000 bytes that no packer makes smaller, in each segment
WAIT_S = 120.0
DAY_S = 86_400
PATIENT_S = 3_600 + 300  # what the client waits for at most, and what a slow test may lose before


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with segments."""
    return filled(tmp_path_factory.mktemp("centre") / "data")


def filled(folder: Path) -> Path:
    """Fill a data directory with five segments, the first of five megabytes; return it."""
    folder.mkdir()
    with running(folder) as opened:
        agent = opened.agent()
        hold(opened, agent, HOST)
        opened.clock.now_ms = wall_clock_ms()
        for number, count in enumerate(PAGES):
            pages = [
                page(f"http://www.example.jp/{number}/{at}", os.urandom(50_000), mime="image/png")
                for at in range(count)
            ]
            name = f"prsm-2026-{number}.warc.gz"
            opened.manager.archive.intake.accept(
                agent.identity, arrived(folder, segment_bytes(pages, name), name)
            )
    return folder


@pytest.fixture(scope="module")
def manager(data: Path) -> Iterator[ManagerProcess]:
    """Serve it."""
    with running_manager(data) as running_one:
        yield running_one


@pytest.fixture
def party(manager: ManagerProcess, tmp_path: Path) -> ThirdParty:
    """Return a third party that is logged in."""
    made = ThirdParty(tmp_path)
    made.login(manager.url, new_token(manager.data, tmp_path.name.replace("_", "-")))
    return made


def kept(data: Path) -> set[str]:
    return {sum_of(path.read_bytes()) for path in (data / "archive/segments").rglob("*.warc.gz")}


def sum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def complete(party: ThirdParty, data: Path) -> bool:
    found = party.files()
    assert all(name.startswith("warc/") for name in found)
    return len(found) == len(PAGES) and {sum_of(each) for each in found.values()} == kept(data)


def to_bad_line(party: ThirdParty, url: str) -> None:
    """Let the login point at a bad line; the token stays."""
    path = party.folder / "login" / "login.json"
    text = path.read_text()
    begin = text.index("http://")
    path.write_text(text[:begin] + url + text[text.index('"', begin) :])


def test_everything_is_taken_once(party: ThirdParty, data: Path) -> None:
    """All segments, verified; again nothing; --json says what became of each."""
    planned = party.get("--format", "warc", "--dry-run", "--json").json
    assert (len(planned["files"]), planned["had"]) == (len(PAGES), 0)
    assert party.files() == {}
    first = party.get("--format", "warc", "-j", "3", "--json").json
    assert [each["state"] for each in first["files"]] == ["taken"] * len(PAGES)
    assert complete(party, data)
    again = party.get("--format", "warc")
    assert f"{len(PAGES)} were here" in again.err
    assert party.get("--format", "warc", "--quiet").err == ""
    assert list((party.taken / ".prs-get/parts").iterdir()) == []


@pytest.mark.slow
def test_over_a_line_that_cuts(party: ThirdParty, manager: ManagerProcess, data: Path) -> None:
    """A line that cuts each connection after 100 to 600 kB costs no byte twice but its headers."""
    with bad_line(manager.port, cut_bytes=(100_000, 600_000)) as line:
        to_bad_line(party, line.url)
        party.get("--format", "warc", "-j", "2")
        assert complete(party, data)
        size = sum(len(each) for each in party.files().values())
        assert line.connections > size / 600_000
        assert line.sent_bytes < size + 20_000 + 140_000 * line.connections


def test_over_a_line_that_changes_bytes(
    party: ThirdParty, manager: ManagerProcess, data: Path
) -> None:
    """A changed byte is found by the digest, and the file taken again."""
    with bad_line(manager.port, flip_at=2_000_000) as line:
        to_bad_line(party, line.url)
        done = party.get("--format", "warc", "-j", "1")
        assert line.flipped == 1
        assert "from the beginning again" in done.err
        assert complete(party, data)


def test_killed_in_the_middle(party: ThirdParty, manager: ManagerProcess, data: Path) -> None:
    """After kill -9 the next run goes on at the byte: it asks for what is missing only."""
    with bad_line(manager.port, slow_s=0.02) as line:
        to_bad_line(party, line.url)
        killed = party.start("get", "--format", "warc", "-j", "2", "-o", str(party.taken))
        parts = party.taken / ".prs-get/parts"
        wait_until_came(killed, parts, 1_000_000)
        killed.kill()
        killed.communicate()
        had = sizes(parts)
        assert not complete(party, data)
        assert all(sum_of(each) in kept(data) for each in party.files().values())
        before = line.sent_bytes
        line.slow_s = 0
        party.get("--format", "warc")
        assert complete(party, data)
        size = sum(len(each) for each in party.files().values())
        # What was under way in sockets when it was killed comes again.
        assert line.sent_bytes - before < size - had + 200_000


def test_one_run_at_a_time(party: ThirdParty, manager: ManagerProcess, data: Path) -> None:
    """A second run on the same folder ends at once with its own code; SIGTERM ends the first."""
    with bad_line(manager.port, slow_s=0.05) as line:
        to_bad_line(party, line.url)
        first = party.start("get", "--format", "warc", "-o", str(party.taken))
        parts = party.taken / ".prs-get/parts"
        wait_until_came(first, parts, 100_000)
        second = party.get("--format", "warc", "--json", code=6)
        assert second.json["exit"] == 6
        assert f"process {first.pid}" in second.json["error"]
        first.send_signal(signal.SIGTERM)
        _, told = first.communicate(timeout=WAIT_S)
        assert first.returncode == 128 + signal.SIGTERM, told
        line.slow_s = 0
        party.get("--format", "warc")
        assert complete(party, data)


@pytest.mark.slow
def test_a_token_that_is_revoked_in_the_middle(
    party: ThirdParty, manager: ManagerProcess, data: Path, tmp_path: Path
) -> None:
    """The run ends with its own code and the server's sentence; another token goes on."""
    name = "revoked"
    with bad_line(manager.port, slow_s=0.05) as line:
        party.login(line.url, new_token(data, name))
        run = party.start("get", "--format", "warc", "-j", "1", "-o", str(party.taken))
        parts = party.taken / ".prs-get/parts"
        wait_until_came(run, parts, 100_000)
        number = token_number(data, name)
        prsm(data, "clients", "revoke", name, str(number))
        _, told = run.communicate(timeout=WAIT_S)
        assert run.returncode == 4, told
        assert "this token was revoked" in told
        assert sizes(parts) > 0
        token = prsm(data, "clients", "token", name).strip().splitlines()[-1]
        line.slow_s = 0
        party.login(line.url, token)
        party.get("--format", "warc")
        assert complete(party, data)


def test_a_full_disk(party: ThirdParty, data: Path) -> None:
    """A disk that takes no more is said with its own code; with room the next run goes on."""
    run = party.start(
        "get", "--format", "warc", "-j", "1", "-o", str(party.taken), before="ulimit -f 2000"
    )
    _, told = run.communicate(timeout=WAIT_S)
    assert run.returncode == 5, told
    assert "disk is full" in told
    had = sizes(party.taken / ".prs-get/parts")
    assert had > 500_000
    party.get("--format", "warc")
    assert complete(party, data)


def test_a_quota(party: ThirdParty, manager: ManagerProcess, data: Path) -> None:
    """A day that is used up ends the run with its own code: the server says come back tomorrow.

    In the last hour of a day (UTC) the client waits for the next one, as it is told to.
    """
    token = new_token(data, "small", "--daily-bytes", "1000000")
    party.login(manager.url, token)
    words = ("--format", "warc", "-j", "1", "--json")
    if wall_clock_ms() // 1000 % DAY_S < DAY_S - PATIENT_S:
        done = party.get(*words, code=7)
        assert "allows 1000000 bytes a day" in done.json["error"]
    else:
        with party.start("get", "-o", str(party.taken), *words) as run:
            assert run.stderr is not None
            assert (
                any("allows 1000000 bytes a day" in line for line in run.stderr) or run.wait() == 7
            )
            run.kill()
    party.login(manager.url, new_token(data, "large"))
    party.get("--format", "warc")
    assert complete(party, data)


@pytest.mark.slow
def test_too_many_requests(party: ThirdParty, manager: ManagerProcess, data: Path) -> None:
    """429 with Retry-After is waited for."""
    party.login(manager.url, new_token(data, "often", "--requests-per-minute", "30"))
    path = "wasapi/v1/webdata"
    token = (party.folder / "login/login.json").read_text().split('"token": "')[1].split('"')[0]
    with manager.client(headers={"Authorization": f"Bearer {token}"}) as client:
        while client.get(path).status_code == 200:
            pass
    done = party.get("--format", "warc")
    assert "more than 30 requests a minute" in done.err
    assert complete(party, data)


@pytest.mark.slow
def test_by_the_shipped_nginx_through_a_proxy(tmp_path: Path) -> None:
    """TLS of our own authority through a proxy that cuts: nginx names files in its own way, and
    each goes on at its byte all the same."""
    party, folder = ThirdParty(tmp_path), filled(tmp_path / "data")
    settings = ("server.behind_tls_proxy=true", 'archive.x_accel_redirect_path="/prsm-archive/"')
    with (
        HeldPort() as port,
        running_manager(folder, *settings) as manager,
        nginx_in_front(tmp_path / "nginx", manager.port, folder / "archive", port) as front,
        bad_line(port, cut_bytes=(100_000, 600_000), tunnels=True) as proxy,
        bad_line(port, refuse=b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n") as closed,
    ):
        token = new_token(folder)
        untrusted = party.run("login", front, stdin=token)
        assert (untrusted.code, "--ca FILE" in untrusted.err) == (9, True), untrusted.err
        ca = ("--ca", str(tmp_path / "nginx/cert.pem"))
        refused = party.run("login", front, *ca, "--proxy", closed.url, stdin=token)
        assert (refused.code, "HTTPS_PROXY=" in refused.err) == (9, True), refused.err
        done = party.run("login", front, *ca, "--proxy", proxy.url, stdin=token)
        assert done.code == 0, done.err
        party.get("--format", "warc", "-j", "2")
        assert complete(party, folder)
        size = sum(len(each) for each in party.files().values())
        assert proxy.connections > size / 600_000
        assert proxy.sent_bytes < size + 20_000 + 140_000 * proxy.connections
        party.get("--host", ".*")
        assert any(name.startswith("html/") for name in party.files())


def test_who_may_not(manager: ManagerProcess, tmp_path: Path) -> None:
    """No login, a wrong token, no server: a sentence and a code each; nothing is kept of them."""
    party = ThirdParty(tmp_path)
    assert "prs-get login URL" in party.get("--format", "warc", code=4).err
    wrong = party.run("login", manager.url, stdin="x" * 43)
    assert wrong.code == 4
    assert "x" * 43 not in wrong.out + wrong.err
    assert party.run("login", "http://prsm.example.jp/", stdin="x" * 43).code == 1
    assert party.run("login", "http://127.0.0.1:9/", stdin="x" * 43).code == 9
    assert not (tmp_path / "login").exists()


def test_the_token_is_kept_to_ourselves(party: ThirdParty, manager: ManagerProcess) -> None:
    """Its file is 0600, others' eyes on it are noticed, and no command prints it."""
    path = party.folder / "login" / "login.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o644)
    assert "others may read the token" in party.get("--format", "warc", code=4).err


def wait_until_came(run: subprocess.Popen[str], parts: Path, size_bytes: int) -> None:
    """Wait until a run has taken so much of what it is at."""
    give_up = time.monotonic() + WAIT_S
    while not parts.exists() or sizes(parts) < size_bytes:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < give_up, "it does not happen"
        time.sleep(0.02)


def sizes(parts: Path) -> int:
    found = 0
    for path in parts.iterdir():
        if path.suffix != ".etag":
            try:
                found += path.stat().st_size
            except FileNotFoundError:
                continue
    return found


def token_number(data: Path, name: str) -> int:
    shown = json.loads(prsm(data, "clients", "--json"))
    return int(next(each for each in shown if each["client"]["name"] == name)["tokens"][0]["id"])
