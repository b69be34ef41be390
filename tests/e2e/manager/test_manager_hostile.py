"""The manager on the open network: whatever comes, it answers 4xx or closes, and goes on."""

from __future__ import annotations

import base64
import json
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.fixtures_dir import fixture_folder
from tests.programs import program

pytestmark = pytest.mark.e2e

TEN_GB = 10 * 1000**3


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Return a manager that takes logs of a megabyte and waits a second for a request's head."""
    data = tmp_path_factory.mktemp("hostile") / "data"
    with running_manager(data, "limits.log_bytes=1000000", "limits.request_head_s=1.0") as running:
        yield running


@pytest.fixture(scope="module")
def agent(manager: ManagerProcess) -> Iterator[httpx.Client]:
    """Return an agent that has joined."""
    with manager.agent("a.example", "sync") as client:
        yield client


def exchange(port: int, sent: bytes, *, shut: bool = True) -> bytes:
    """Send bytes and return all that comes back until the manager closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        received = b""
        try:
            line.sendall(sent)
            if shut:
                line.shutdown(socket.SHUT_WR)
            while chunk := line.recv(65536):
                received += chunk
        except ConnectionError:
            return received
        return received


def llhttp_requests() -> list[dict[str, Any]]:
    path = fixture_folder("http1-llhttp") / "cases.json"
    return [case for case in json.loads(path.read_text()) if case["kind"] == "request"]


def test_no_request_is_a_500(manager: ManagerProcess) -> None:
    """166 good and malformed requests: an answer below 500 or a closed line, then life goes on."""
    cases = llhttp_requests()
    assert len(cases) > 150
    answered = 0
    for case in cases:
        received = exchange(manager.port, base64.b64decode(case["input_b64"]))
        for line in received.split(b"\r\n"):
            if line.startswith(b"HTTP/1.1 "):
                answered += 1
                assert line.split()[1] < b"500", (case["name"], received)
    assert answered > 60  # the others are cut off in the middle
    assert prsm(manager.data, "check") == "no problem found\n"
    assert "Traceback" not in manager.log


@pytest.mark.parametrize("expect", [False, True])
def test_ten_declared_gigabytes_are_refused_at_once(
    manager: ManagerProcess, agent: httpx.Client, expect: bool
) -> None:
    """A declared length over the limit is 413 in words before a byte is read, also with Expect."""
    head = (
        "POST /servlets/submitlog HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: {agent.headers['authorization']}\r\nContent-Length: {TEN_GB}\r\n"
        + ("Expect: 100-continue\r\n" if expect else "")
        + "\r\n"
    )
    received = exchange(manager.port, head.encode(), shut=False)
    assert received.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in received.lower()
    assert b"crawl log of 10000000000 bytes: the limit is 1000000 bytes" in received


def test_ten_streamed_gigabytes_stop_at_the_limit(
    manager: ManagerProcess, agent: httpx.Client
) -> None:
    """A body without a declared length is cut off near the limit, and the sender hears why."""
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < TEN_GB:
            sent += 65536
            yield bytes(65536)

    answer = agent.post("servlets/submitlog", content=endless())
    assert answer.status_code == 413
    assert "more than 1000000 bytes" in answer.text
    assert sent < 300_000_000
    assert list((manager.data / "spool").iterdir()) == []


def test_curl_hears_why(manager: ManagerProcess, agent: httpx.Client, tmp_path: Path) -> None:
    """A plain client that sends too much prints the sentence, however it sends."""
    body = tmp_path / "body"
    with body.open("wb") as file:
        file.truncate(50_000_000)
    curl, key = program("curl"), f"Authorization: {agent.headers['authorization']}"
    for option in ("Expect:", "Transfer-Encoding: chunked"):
        done = subprocess.run(
            [curl, "-sS", "-H", key, "-H", option,
             "--data-binary", f"@{body}", f"{manager.url}servlets/submitlog"],
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert re.search("limit is 1000000 bytes|1000000 bytes, which is the limit", done.stdout)


def test_who_never_finishes_a_head_is_cut_off(manager: ManagerProcess) -> None:
    """A connection that says nothing, or goes on and on in its head, is closed."""
    for begun in (b"", b"GET / HTTP/1.1\r\nHost:"):
        assert exchange(manager.port, begun, shut=False) == b""


def test_a_connection_that_is_kept_can_be_used_again(manager: ManagerProcess) -> None:
    """Patience is for the head only: an ordinary client keeps its connection."""
    with manager.client() as client:
        for _ in range(3):
            assert client.get("servlets/isrestart?host=x").status_code == 401


def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    """Files that cannot grow are a full disk: 503 and when to come again; small ones go on."""
    line = LogLine("http://www.example.jp/", 300, 5000, 20, bytes(range(256)) * 30)
    data = tmp_path / "data"
    # 2,000 blocks of 512 bytes: the tables fit, a large log does not.
    with (
        running_manager(data, before="ulimit -f 4000") as manager,
        manager.agent("a.example") as agent,
    ):
        name = b"a.example.202611211000\n"
        large = name + bytes(8_000_000)
        answer = agent.post("servlets/submitlog", content=large)
        assert answer.status_code == 503, answer.text
        assert "is full" in answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert list((data / "spool").iterdir()) == []
        small = name + b"".join(encode([line]))
        assert agent.post("servlets/submitlog", content=small).status_code == 200
        assert prsm(data, "check") == "no problem found\n"


GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [GET, GET + b"X: ", b"GET /", CHUNKED + b"1;", CHUNKED + b"0\r\n", CHUNKED + b"0\r\nX: "],
    ids=["head", "field", "address", "chunk", "fields-behind", "field-behind"],
)
def test_what_no_application_sees_is_bounded(manager: ManagerProcess, begun: bytes) -> None:
    """Heads and what stands between the parts of a body end at 64 KiB, however they are sent."""
    with socket.create_connection(("127.0.0.1", manager.port), timeout=30) as line:
        line.sendall(begun)
        sent, piece = 0, b"x: y\r\n" * 1000 if begun.endswith(b"\r\n") else b"x" * 8192
        received = b""
        line.setblocking(False)
        while not received and sent < 2**26:
            try:
                sent += line.send(piece)
            except BlockingIOError:
                pass
            except ConnectionError:
                break
            try:
                received = line.recv(65536)
            except BlockingIOError:
                continue
            except ConnectionError:
                break
        assert sent < 2**24
    # A reset may overtake the sentence where more was on its way.
    assert not received or received.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 401 ")), received


def test_a_large_head_is_told_its_limit(manager: ManagerProcess) -> None:
    """The answer says what is too large, and the limit."""
    received = exchange(manager.port, GET + b"X: " + b"y" * 70_000, shut=False)
    assert received.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b"65536 bytes" in received


@pytest.mark.parametrize("fields", [b"", b"Host: x\r\nHost: y\r\n"])
def test_a_request_has_one_host(manager: ManagerProcess, fields: bytes) -> None:
    """None and two are 400, as RFC 9112 has it."""
    received = exchange(manager.port, b"GET /healthz HTTP/1.1\r\n" + fields + b"\r\n", shut=False)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"one field Host" in received


def test_fields_behind_a_body_are_nobodys_key(manager: ManagerProcess, agent: httpx.Client) -> None:
    """A trailer is not a field of the head: what it shows opens nothing."""
    key = f"Authorization: {agent.headers['authorization']}\r\n".encode()
    sent = CHUNKED + b"2\r\n{}\r\n0\r\n" + key + b"Connection: close\r\n\r\n"
    received = exchange(manager.port, sent + GET + b"Connection: close\r\n\r\n", shut=False)
    assert received.startswith(b"HTTP/1.1 401 ")


def test_another_protocol_is_declined(manager: ManagerProcess) -> None:
    """Who asks for HTTP/2 or a WebSocket is answered in HTTP/1.1, and the line ends behind it."""
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n"
    received = exchange(manager.port, GET + upgrade, shut=False)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in received.lower()


def test_a_sync_is_a_line_of_the_log_where_it_was_refused(
    manager: ManagerProcess, agent: httpx.Client
) -> None:
    """Good ones come each minute of each agent; a refused one is named with its request and why."""
    good = {"agent": "a.example", "boot_id": "b", "sequence": 1, "version": "1", "clock_ms": 5,
            "state": "starting"}  # fmt: skip
    taken = agent.post("api/v1/sync", json=good)
    assert taken.status_code == 200, taken.text
    refused = agent.post("api/v1/sync", json={**good, "agent": "b\nexample"})
    assert refused.status_code == 400
    assert agent.get("api/v1/sync").status_code == 405  # answered, and written down, behind them
    lines = manager.log.splitlines()
    assert not [line for line in lines if taken.headers["x-request-id"] in line]
    (line,) = [line for line in lines if refused.headers["x-request-id"] in line]
    assert "sync from 127.0.0.1: 400" in line
    assert "agent" in line
