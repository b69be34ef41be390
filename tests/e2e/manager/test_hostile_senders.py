"""One agent's bodies hold up neither the others nor the end of a manager."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks.senders.bodies import (
    bomb_of_comments,
    bomb_of_log,
    false_sync,
    found_hosts,
    large_log,
    small_log,
)
from benchmarks.senders.hostile import WAYS, Hostile
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MB = 1000**2
SLOW_LINES = 600_000  # some seconds of a processor


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ManagerProcess]:
    """Return a manager that may stop within a second."""
    with running_manager(
        tmp_path / "data",
        "server.stop_s=1",
        "limits.uploads_per_minute=1000",
        "intake.answer_timeout_s=600",
    ) as running:
        yield running


@contextmanager
def sending(client: httpx.Client, path: str, bodies: list[bytes]) -> Iterator[list[httpx.Response]]:
    """Send bodies at once, again and again, while the block runs; give the answers."""
    over, answers = threading.Event(), list[httpx.Response]()

    def send(body: bytes) -> None:
        while not over.is_set():
            try:
                answers.append(client.post(path, content=body))
            except httpx.HTTPError:
                return  # the manager has ended
            over.wait(0.05)

    threads = [threading.Thread(target=send, args=(body,), daemon=True) for body in bodies]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        over.set()


def until(is_so: object) -> None:
    """Wait for a condition."""
    end = time.monotonic() + 600
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("servlets/record", bomb_of_comments(240 * MB), "too_many_lines"),
        ("servlets/submitlog", bomb_of_log("bad.example", 1, 2000 * MB), "decoded_ratio"),
        ("api/v1/sync", false_sync("bad.example"), "invalid_value"),
    ],
    ids=["comments", "log", "sync"],
)
def test_others_are_served_beside_a_hostile_agent(
    manager: ManagerProcess, path: str, body: bytes, code: str
) -> None:
    """Sixteen bodies of one agent are refused with a code; another's log and list are taken."""
    with manager.agent("bad.example", "sync") as bad, manager.agent("good.example") as good:
        with sending(bad, path, [body] * 16) as answers:
            until(lambda: [one for one in answers if one.status_code != 429])
            for number in range(3):
                for place, sent in (
                    ("servlets/submitlog", small_log("good.example", number)),
                    ("servlets/record", found_hosts(number)),
                ):
                    answer = good.post(place, content=sent)
                    assert answer.status_code == 200, answer.text
        codes = {answer.headers.get("x-error-code") for answer in answers}
        assert code in codes
        assert codes <= {code, "sender_uploads", "sender_messages"}


def test_a_log_that_takes_long_lets_others_go_first(manager: ManagerProcess) -> None:
    """The other's log is taken before that of who has much, and both are taken."""
    with manager.agent("large.example") as large, manager.agent("small.example") as small:
        taken: list[httpx.Response] = []
        body = large_log("large.example", 1, SLOW_LINES)
        thread = threading.Thread(
            target=lambda: taken.append(large.post("servlets/submitlog", content=body))
        )
        thread.start()
        until(lambda: list((manager.data / "spool").glob("*.body")))
        answer = small.post("servlets/submitlog", content=small_log("small.example", 1))
        assert answer.status_code == 200
        assert not taken
        thread.join()
        assert taken[0].status_code == 200
        assert f"accepted, {SLOW_LINES} lines" in taken[0].text


def test_nothing_runs_for_who_has_gone(manager: ManagerProcess) -> None:
    """A client that leaves behind its body takes its work back, from the queue too."""
    with manager.agent("bad.example") as bad:
        key = bad.headers["authorization"]
        body = large_log("bad.example", 1, SLOW_LINES)
        lines = []
        for _ in range(3):
            line = socket.create_connection(("127.0.0.1", manager.port))
            line.sendall(
                f"POST /servlets/submitlog HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {key}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            lines.append(line)
            body = large_log("bad.example", 2 + len(lines), SLOW_LINES)
        spool = manager.data / "spool"
        until(lambda: len(list(spool.glob("*.body"))) == 3)
        for line in lines:
            line.close()
        until(lambda: not list(spool.glob("*.body")))
        answer = bad.post("servlets/submitlog", content=small_log("bad.example", 1))
        assert answer.status_code == 200, answer.text  # of the same name: nothing was entered


@contextmanager
def attacking(manager: ManagerProcess, attack: str, threads: int) -> Iterator[Hostile]:
    """Let an address do what the benchmark of hostile senders does, while the block runs."""
    hostile = Hostile(manager.port, "bad.example", "0" * 40)
    hostile.start(WAYS[attack][1] or (lambda _hostile, _number: None), threads)
    try:
        yield hostile
    finally:
        hostile.stop()


@pytest.mark.parametrize(
    ("attack", "threads", "status"),
    [
        ("messages", 16, "401"),
        ("cookies", 4, "401"),
        ("joins", 64, "401"),
        ("keys", 64, "401"),
        ("logins", 30, "401"),
    ],
)
def test_others_are_served_beside_a_hostile_stranger(
    manager: ManagerProcess, attack: str, threads: int, status: str
) -> None:
    """Who shows no key, or a false one, is answered; logs, lists and people's logins are, too."""
    password = "correct horse battery"
    prsm(manager.data, "users", "add", "anna", "--role", "admin", stdin=f"{password}\n{password}\n")
    with (
        manager.agent("good.example") as good,
        attacking(manager, attack, threads) as hostile,
        manager.client() as person,
    ):
        until(lambda: hostile.answers.get(status, 0) >= 3)
        for number in range(3):
            log, found = small_log("good.example", number), found_hosts(number)
            assert good.post("servlets/submitlog", content=log).status_code == 200
            assert good.post("servlets/record", content=found).status_code == 200
        login = person.post("api/v1/login", json={"name": "anna", "password": password})
        assert login.status_code == 200, login.text
        assert person.get("console/").status_code == 200
        assert set(hostile.answers) <= {status, "429", "503"}


def test_who_reads_no_answer_keeps_nobody_out(tmp_path: Path) -> None:
    """Connections whose answers are not taken are given up for others."""
    settings = ("limits.connections=100", "limits.upload_idle_s=2")
    with (
        running_manager(tmp_path / "data", *settings) as manager,
        manager.agent("good.example") as good,
        attacking(manager, "unread", 16) as hostile,
    ):
        until(lambda: len(hostile.lines) > 300)
        for number in range(3):
            log = small_log("good.example", number)
            until(lambda log=log: _status(good, "servlets/submitlog", log) == 200)


def _status(client: httpx.Client, path: str, body: bytes) -> int:
    """Return the status of an answer; 0: there was none."""
    try:
        return client.post(path, content=body).status_code
    except httpx.HTTPError:
        return 0


@pytest.mark.parametrize("leaves", [True, False])
def test_a_manager_ends_in_the_middle_of_such_work(manager: ManagerProcess, leaves: bool) -> None:
    """Its exit code is that of an orderly end; the next start takes what was not acknowledged."""
    bodies = [large_log("bad.example", number, SLOW_LINES) for number in range(4)]
    with manager.agent("bad.example") as bad, sending(bad, "servlets/submitlog", bodies):
        until(lambda: list((manager.data / "spool").glob("*.body")))
        if leaves:
            bad.close()
        assert manager.stop() == 0
    manager.start_again()
    with manager.agent("good.example") as good:
        answer = good.post("servlets/submitlog", content=small_log("good.example", 1))
        assert answer.status_code == 200
