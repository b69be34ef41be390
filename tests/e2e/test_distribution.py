"""Third parties with their own tools, against the shipped server, alone and behind nginx."""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from manager.clock import wall_clock_ms
from tests.e2e.manager_process import prsm, running_manager
from tests.e2e.nginx import nginx_in_front, reserved_port
from tests.manager.archived import arrived, hold, page, segment_bytes
from tests.manager.running import running

pytestmark = pytest.mark.e2e

HOST = "http://www.example.jp:80/"
SEGMENTS = 5


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with five segments of half a megabyte, the first of eight."""
    folder = tmp_path / "data"
    folder.mkdir()
    with running(folder) as opened:
        agent = opened.agent()
        hold(opened, agent, HOST)
        opened.clock.now_ms = wall_clock_ms()
        for number in range(SEGMENTS):
            pages = [
                page(f"http://www.example.jp/{number}/{at}", os.urandom(50_000), mime="image/png")
                for at in range(160 if number == 0 else 10)
            ]
            name = f"prsm-2026-{number}.warc.gz"
            opened.manager.segments.accept(
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
        env=environment, capture_output=True, text=True, timeout=120, check=False,
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


def test_behind_the_shipped_nginx(data: Path, tmp_path: Path) -> None:
    """nginx sends the files that the manager allows, with ranges, and no others."""
    with reserved_port() as port:
        settings = ("server.behind_tls_proxy=true", 'archive.front="/prsm-archive/"')
        with (
            running_manager(data, *settings) as manager,
            nginx_in_front(tmp_path / "nginx", manager.port, data / "archive", port) as front,
        ):
            _behind_nginx(data, front, tmp_path)


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


def test_a_slow_client_holds_up_nobody(data: Path) -> None:
    """One that reads a byte a second is given up; others are served in the meantime."""
    with running_manager(data, "archive.download_idle_s=1") as manager:
        token = new_token(data)
        fields = f"Host: x\r\nAuthorization: Bearer {token}\r\n"
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.connect(("127.0.0.1", manager.port))
        path = "/api/v1/segments/prsm-2026-0-a.example.warc.gz"
        slow.sendall(f"GET {path} HTTP/1.1\r\n{fields}\r\n".encode())
        with manager.client(headers={"Authorization": f"Bearer {token}"}) as client:
            assert client.get(path).status_code == 200
        slow.settimeout(60)
        give_up = time.monotonic() + 60
        while "took nothing for 1 s" not in manager.log:
            assert time.monotonic() < give_up, "the slow one was never given up"
            assert slow.recv(1)
            time.sleep(1)
        slow.close()
