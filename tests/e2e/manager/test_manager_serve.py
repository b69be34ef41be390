"""The manager as a process: it starts, stops, is killed, and starts again by itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import ManagerProcess, prsm, prsm_program, running_manager
from tests.manager.certificates import write_certificate, write_key

pytestmark = pytest.mark.e2e

LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")


def log_body(agent: str, minute: str, lines: int = 3) -> bytes:
    return f"{agent}.{minute}\n".encode() + b"".join(encode([LINE] * lines))


def test_it_serves_two_listeners_and_stops(tmp_path: Path) -> None:
    """TCP for agents, a socket for this user only; SIGTERM ends it with exit code 0."""
    data = tmp_path / "data"
    with running_manager(data, first=True) as manager:
        assert (data / "prsm.sock").stat().st_mode & 0o777 == 0o600
        assert data.stat().st_mode & 0o077 == 0
        with manager.client() as client:
            assert client.get("api/v1/agents").status_code == 401
        assert prsm_program(data, "check") == "no problem found\n"
        assert manager.stop() == 0
        assert not (data / "prsm.sock").exists()
        assert "no manager serves" in prsm_program(data, "check", code=3)


def test_a_second_one_hears_who_is_first(tmp_path: Path) -> None:
    """One process serves a directory; another is refused with the first one's number."""
    data = tmp_path / "data"
    with running_manager(data) as manager:
        said = prsm_program(data, "serve", "--listen", "127.0.0.1:0", code=1)
        assert f"process {manager.process.pid}" in said
        assert prsm(data, "check")


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    """A port of somebody else is a refusal in words, and leaves no socket behind."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = prsm_program(tmp_path, "serve", "--listen", f"127.0.0.1:{port}", code=1)
    assert f"server.listen_port = {port}" in said
    assert "any free port" in said
    assert not (tmp_path / "prsm.sock").exists()


@pytest.mark.slow
def test_it_stops_when_requests_have_ended(tmp_path: Path) -> None:
    """SIGTERM in the middle of an upload lets it end; what was answered is kept."""
    data = tmp_path / "data"
    body = log_body("a.example", "202611211000")
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield body[:20]
        begun.set()
        assert go_on.wait(30)
        yield body[20:]

    with running_manager(data) as manager:
        with manager.agent("a.example") as agent:
            answers: list[httpx.Response] = []
            sending = threading.Thread(
                target=lambda: answers.append(agent.post("servlets/submitlog", content=slowly()))
            )
            sending.start()
            assert begun.wait(30)
            manager.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                manager.process.wait(1)
            go_on.set()
            sending.join(30)
        assert [answer.status_code for answer in answers] == [200]
        assert manager.ended() == 0
        manager.start()
        assert "a.example.202611211000" in prsm(data, "reports")


def test_it_comes_up_again_after_a_kill(tmp_path: Path) -> None:
    """After kill -9 nothing acknowledged is lost, nothing half done stays, no child survives."""
    data = tmp_path / "data"
    manager = ManagerProcess(data)
    try:
        manager.start()
        with manager.agent("a.example") as agent:
            taken = log_body("a.example", "202611211000")
            assert agent.post("servlets/submitlog", content=taken).status_code == 200
            agent.get("servlets/list?host=a.example").raise_for_status()
            assert children_of(manager.process.pid)
            group = manager.process.pid
            with socket.create_connection(("127.0.0.1", manager.port)) as line:
                half_an_upload(manager, agent, line)
                manager.kill()
            assert list((data / "spool").iterdir())
            assert (data / "prsm.sock").exists()
            assert "no manager listens" in prsm_program(data, "check", code=3)
            wait_until(lambda: is_gone(group))
            manager.start()
            assert list((data / "spool").iterdir()) == []
            assert list((data / "lists").iterdir()) == []
            assert prsm(data, "check") == "no problem found\n"
        with manager.client(headers=agent.headers) as again:
            repeat = again.post("servlets/submitlog", content=taken)
            assert "already accepted" in repeat.text
            new = log_body("a.example", "202611211001")
            assert "accepted, 3 lines" in again.post("servlets/submitlog", content=new).text
            assert again.get("servlets/list?host=a.example").status_code == 200
        reports = json.loads(prsm(data, "reports", "--json"))
        assert [report["lines"] for report in reports] == [3, 3]
    finally:
        manager.close()


def half_an_upload(manager: ManagerProcess, agent: httpx.Client, line: socket.socket) -> None:
    """Send half of an upload of four megabytes, and wait until some of it is on the disk."""
    key = agent.headers["authorization"]
    head = f"POST /servlets/submitlog HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}\r\n"
    line.sendall(head.encode() + b"Content-Length: 4000000\r\n\r\n" + bytes(2_000_000))
    wait_until(lambda: any(path.stat().st_size for path in (manager.data / "spool").iterdir()))


def wait_until(happened: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for something that another process does by itself."""
    pause = threading.Event()
    for _ in range(round(seconds * 20)):
        if happened():
            return
        pause.wait(0.05)
    raise AssertionError(f"it did not happen within {seconds} s")


def children_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(status[1]) == pid:
                found.append(int(folder.name))
    return found


def is_gone(group: int) -> bool:
    """Return whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def is_trusted(url: str, certificate: Path) -> bool:
    """Return whether who trusts only this certificate is answered."""
    context = ssl.create_default_context(cafile=str(certificate))
    try:
        httpx.get(f"{url}api/v1/agents", verify=context)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.slow
def test_keys_travel_over_tls(tmp_path: Path) -> None:
    """With a certificate the manager speaks TLS, and the commands still have their socket.

    One that is renewed is served without a restart.
    """
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    write_key(key, write_certificate(certificate, "first"))
    settings = (f"server.tls_certificate={certificate}", f"server.tls_key={key}")
    with running_manager(tmp_path / "data", *settings) as manager:
        assert manager.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(certificate))
        with httpx.Client(base_url=manager.url, verify=context) as client:
            assert client.get("api/v1/agents").status_code == 401
        with pytest.raises(httpx.TransportError), manager.client() as stranger:
            stranger.get("api/v1/agents")
        write_key(key, write_certificate(certificate, "renewed"))
        wait_until(lambda: is_trusted(manager.url, certificate), seconds=60)
        assert prsm(manager.data, "check")


@pytest.mark.parametrize("wanted", ["", "PRSM_NATIVE=no"])
def test_logs_that_will_cost_more_are_said(tmp_path: Path, wanted: str) -> None:
    """A manager without code for its machine says so once, and why; else nothing."""
    manager = ManagerProcess(tmp_path / "data", before=f"export {wanted}" if wanted else "")
    manager.start().stop()
    said = [line for line in manager.log.splitlines() if "are read line by line" in line]
    assert len(said) == bool(wanted)
    assert all(wanted in line for line in said)
