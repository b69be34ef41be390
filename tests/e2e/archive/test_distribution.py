"""Third parties with their own tools, against the shipped server, alone and behind nginx."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import pytest

from manager.clock import wall_clock_ms
from tests.e2e.manager_process import prsm, running_manager
from tests.e2e.nginx import nginx_in_front
from tests.manager.archived import arrived, hold, page, segment_bytes
from tests.manager.running import running
from tools.held_port import HeldPort

pytestmark = pytest.mark.e2e

HOST = "http://www.example.jp:80/"
SEGMENTS = 5
PIECE = 8 * 2**20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with five segments of half a megabyte, the first of eight."""
    folder = tmp_path / "data"
    folder.mkdir()
    fill(folder)
    return folder


def fill(folder: Path, *overrides: str) -> None:
    with running(folder, *overrides) as opened:
        agent = opened.agent()
        hold(opened, agent, HOST)
        opened.clock.now_ms = wall_clock_ms()
        for number in range(SEGMENTS):
            pages = [
                page(f"http://www.example.jp/{number}/{at}", os.urandom(50_000), mime="image/png")
                for at in range(160 if number == 0 else 10)
            ]
            name = f"prsm-2026-{number}.warc.gz"
            opened.manager.archive.intake.accept(
                agent.identity, arrived(folder, segment_bytes(pages, name), name)
            )


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a data directory with one segment of 48 MB, six pieces of the web server's."""
    folder = tmp_path / "large"
    folder.mkdir()
    with running(folder) as opened:
        agent = opened.agent()
        hold(opened, agent, HOST)
        opened.clock.now_ms = wall_clock_ms()
        pages = [
            page(f"http://www.example.jp/{at}", os.urandom(4_000_000), mime="image/png")
            for at in range(12)
        ]
        name = "prsm-large.warc.gz"
        opened.manager.archive.intake.accept(
            agent.identity, arrived(folder, segment_bytes(pages, name), name)
        )
    return folder


def new_token(data: Path) -> str:
    prsm(data, "clients", "add", "library", "--contact", "a@library.example")
    return prsm(data, "clients", "token", "library").strip().splitlines()[-1]


def wasapi(url: str, token: str, folder: Path, certificate: Path | None = None) -> str:
    """Run the real client; return what it printed."""
    folder.mkdir(exist_ok=True)
    client = Path(sys.executable).with_name("wasapi-client")
    assert client.exists(), "py-wasapi-client is a dependency of the tests"
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "WASAPI_USER": "library",
        "WASAPI_PASS": token,
    }  # fmt: skip
    if certificate is not None:
        environment["REQUESTS_CA_BUNDLE"] = str(certificate)
    done = subprocess.run(
        [client, "-b", f"{url.rstrip('/')}/wasapi/v1/webdata?page_size=2", "-d", folder, "-p", "2",
         "-v", "-l", folder / "log"],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr + (folder / "log").read_text()


def check_files(data: Path, folder: Path) -> None:
    kept = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (data / "archive" / "segments").rglob("*.warc.gz")
    }
    got = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.warc.gz")}
    assert got == kept
    assert len(got) == SEGMENTS


def test_the_wasapi_client_takes_everything(data: Path, tmp_path: Path) -> None:
    """py-wasapi-client 1.1.0 lists, downloads and verifies all; again it downloads nothing."""
    with running_manager(data) as manager:
        token = new_token(data)
        said = wasapi(manager.url, token, tmp_path / "got")
        assert f"Successful downloads: {SEGMENTS}" in said
        assert said.count("Checksum success") == SEGMENTS
        check_files(data, tmp_path / "got")
        again = wasapi(manager.url, token, tmp_path / "got")
        assert again.count("exists with expected size/checksum") == SEGMENTS


def test_behind_the_shipped_nginx() -> None:
    """nginx sends the files that the manager allows, with ranges, and no others.

    Where root runs this its workers are www-data, who may read only what the shipped file says.
    """
    # Nobody else gets through the folders of tmp_path.
    with HeldPort() as port, tempfile.TemporaryDirectory(prefix="prsm-nginx-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        data = folder / "data"
        archive = data / "archive"
        archive.mkdir(mode=0o700, parents=True)
        data.chmod(0o710)
        if os.geteuid() == 0:
            for each in (data, archive):
                shutil.chown(each, group="www-data")
        settings = (
            "server.behind_tls_proxy=true",
            'archive.x_accel_redirect_path="/prsm-archive/"',
        )
        fill(data, settings[1])
        with (
            running_manager(data, *settings, before="umask 077") as manager,
            nginx_in_front(folder / "nginx", manager.port, archive, port, user="www-data") as front,
        ):
            _behind_nginx(data, front, folder)


def _behind_nginx(data: Path, front: str, tmp_path: Path) -> None:
    token = new_token(data)
    certificate = tmp_path / "nginx" / "cert.pem"
    assert f"Successful downloads: {SEGMENTS}" in wasapi(
        front, token, tmp_path / "got", certificate
    )
    check_files(data, tmp_path / "got")
    path = "/api/v1/segments/prsm-2026-0-a.example.warc.gz"
    with httpx.Client(
        base_url=front,
        verify=ssl.create_default_context(cafile=certificate),
        headers={"Authorization": f"Bearer {token}"},
    ) as client:
        whole = client.get(path)
        etag = whole.headers["etag"]
        some = client.get(path, headers={"Range": "bytes=100-199", "If-Range": etag})
        assert (some.status_code, some.content) == (206, whole.content[100:200])
        assert "x-accel-redirect" not in whole.headers
        assert client.get(path, headers={"Authorization": "Bearer x"}).status_code == 401
        key = next((data / "archive" / "segments").rglob("*.warc.gz"))
        asked = client.get(f"/prsm-archive/segments/1/{key.name}")
        assert asked.status_code == 404


@pytest.mark.parametrize("what", ["revoked", pytest.param("withdrawn", marks=pytest.mark.slow)])
def test_a_download_behind_nginx_ends_within_a_piece(
    large: Path, tmp_path: Path, what: str
) -> None:
    """After the token is revoked or a host withdrawn, nginx sends at most the piece it is at."""
    with HeldPort() as port:
        settings = (
            "server.behind_tls_proxy=true",
            'archive.x_accel_redirect_path="/prsm-archive/"',
        )
        with (
            running_manager(large, *settings) as manager,
            nginx_in_front(tmp_path / "nginx", manager.port, large / "archive", port) as front,
        ):
            token = new_token(large)
            context = ssl.create_default_context(cafile=tmp_path / "nginx" / "cert.pem")
            fields = {"Authorization": f"Bearer {token}"}
            path = "/api/v1/segments/prsm-large-a.example.warc.gz"
            with httpx.Client(base_url=front, verify=context, headers=fields) as client:
                size = int(client.head(path).headers["content-length"])
                assert size > 5 * PIECE
                got = 0
                with (
                    pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|peer closed"),
                    client.stream("GET", path) as answer,
                ):
                    assert (answer.status_code, answer.headers["content-length"]) == (
                        200, str(size),
                    )  # fmt: skip
                    for part in answer.iter_raw(64 * 1024):
                        if got == 0:
                            if what == "revoked":
                                prsm(large, "clients", "revoke", "library", "1")
                            else:
                                prsm(large, "withdraw", "www.example.jp", "--reason", "x", "--yes")
                        got += len(part)
                # The piece that was allowed, one more that was asked for before, and buffers.
                assert 0 < got <= 2 * PIECE + 2**20
                assert client.get(path).status_code == (403 if what == "revoked" else 410)


@pytest.mark.slow
def test_ranges_behind_nginx_across_pieces(large: Path, tmp_path: Path) -> None:
    """Bytes of several pieces, to the end, from the end; a range outside is refused."""
    with HeldPort() as port:
        settings = (
            "server.behind_tls_proxy=true",
            'archive.x_accel_redirect_path="/prsm-archive/"',
        )
        with (
            running_manager(large, *settings) as manager,
            nginx_in_front(tmp_path / "nginx", manager.port, large / "archive", port) as front,
        ):
            token = new_token(large)
            context = ssl.create_default_context(cafile=tmp_path / "nginx" / "cert.pem")
            fields = {"Authorization": f"Bearer {token}"}
            path = "/api/v1/segments/prsm-large-a.example.warc.gz"
            (kept,) = (large / "archive" / "segments").rglob("*.warc.gz")
            data = kept.read_bytes()
            with httpx.Client(base_url=front, verify=context, headers=fields) as client:
                whole = client.get(path)
                assert whole.content == data
                for asked, wanted in (
                    (f"{PIECE - 5}-{2 * PIECE + 5}", data[PIECE - 5 : 2 * PIECE + 6]),
                    (f"{3 * PIECE}-", data[3 * PIECE :]),
                    ("-10", data[-10:]),
                    ("0-0", data[:1]),
                ):
                    fields = {"Range": f"bytes={asked}", "If-Range": whole.headers["etag"]}
                    some = client.get(path, headers=fields)
                    assert (some.status_code, some.content) == (206, wanted), asked
                other = {"Range": "bytes=5-9", "If-Range": '"another"'}
                assert client.get(path, headers=other).content == data
                beyond = client.get(path, headers={"Range": f"bytes={len(data)}-"})
                assert beyond.status_code == 416
                none = client.get("/api/v1/pieces", headers={"X-Piece-Path": "/../etc/passwd"})
                assert none.status_code == 403
            give_up = time.monotonic() + 600
            while _sent(large) < len(data):
                assert time.monotonic() < give_up, prsm(large, "archive", "downloads", "--json")
                time.sleep(1)


def _sent(folder: Path) -> int:
    """Return how much the manager knows to be sent of the only file."""
    rows = json.loads(prsm(folder, "archive", "downloads", "--json"))
    assert all(row["name"] == "prsm-large-a.example.warc.gz" for row in rows)
    return sum(row["sent_bytes"] for row in rows)


def test_a_slow_client_holds_up_nobody(data: Path) -> None:
    """One that reads a byte a second is given up; others are served in the meantime."""
    with running_manager(data, "archive.download_idle_s=1") as manager:
        token = new_token(data)
        fields = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.connect(("127.0.0.1", manager.port))
        path = "/api/v1/segments/prsm-2026-0-a.example.warc.gz"
        slow.sendall(f"GET {path} HTTP/1.1\r\n{fields}\r\n".encode())
        with manager.client(headers={"Authorization": f"Bearer {token}"}) as client:
            assert client.get(path).status_code == 200
        slow.settimeout(60)
        give_up = time.monotonic() + 600
        while "took nothing for 1 s" not in manager.log:
            assert time.monotonic() < give_up, "the slow one was never given up"
            assert slow.recv(1)
            time.sleep(1)
        slow.close()
