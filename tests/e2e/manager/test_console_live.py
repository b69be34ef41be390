"""The console's event stream as it is shipped: two managers, behind nginx, and stopped beneath."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.manager.test_manager_leader import managers
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.e2e.nginx import nginx_in_front
from tests.manager.console.markup import read
from tests.postgres import PostgresServer, postgres_server
from tools.held_port import HeldPort

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PASSWORD = "correct horse battery"
AGENT = "a.example"


def _log_in(client: httpx.Client) -> None:
    form = read(client.get("/console/login").text).form("/console/login")
    fields = form.fields | {"name": "hana", "password": PASSWORD}
    answer = client.post(form.action, data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 303, answer.text[-300:]


def _add_user(manager: ManagerProcess) -> None:
    users = ("users", "add", "hana", "--role", "admin", "--password-stdin")
    prsm(manager.data, *users, stdin=f"{PASSWORD}\n")


@contextmanager
def _stream(client: httpx.Client) -> Iterator[Iterator[str]]:
    """Open the stream; gives its lines, as they come, after its first word."""
    with client.stream("GET", "/console/events") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        for line in lines:
            if line == "event: hello":
                break
        yield lines


def _topics(lines: Iterator[str]) -> set[str]:
    """Wait for the next change, and return what changed."""
    for line in lines:
        if line.startswith("data: "):
            return set(line.removeprefix("data: ").split())
    pytest.fail("the stream ended")


@pytest.mark.postgres
def test_what_one_manager_does_reaches_the_pages_of_another(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    """A page that manager two holds hears of what manager one did, and shows it; so it does when
    manager one is killed, and when two itself was started again."""
    with managers(tmp_path, postgres_server, "one", "two") as running:
        one, two = running["one"], running["two"]
        _add_user(one)
        with one.agent(AGENT) as agent, two.client() as page:
            agent.get(f"servlets/list?host={AGENT}")
            _log_in(page)
            with _stream(page) as lines:
                prsm(one.data, "agents", "restart", AGENT)
                assert "agents" in _topics(lines)
            shown = page.get(f"/console/agent?name={AGENT}", headers={"Prsm-Live": "1"})
            assert "agent.command" in shown.text
            one.kill()
            with _stream(page) as lines:
                prsm(two.data, "hosts", "import", "-", stdin="www.example.jp\n")
                assert "hosts" in _topics(lines)
                assert two.stop() == 0
                for _ in lines:
                    pass  # it ends with its manager
            two.start_again()
            with _stream(page) as lines:
                prsm(two.data, "hosts", "exclude", "www.example.jp", "--reason", "asked")
                assert "hosts" in _topics(lines)


def test_the_stream_passes_the_shipped_nginx(tmp_path: Path) -> None:
    """Behind nginx as it is configured each word comes as it is said, not when a buffer is full."""
    with (
        HeldPort() as port,
        running_manager(tmp_path / "data", "server.behind_tls_proxy=true") as manager,
        nginx_in_front(tmp_path / "nginx", manager.port, manager.data / "archive", port) as front,
        httpx.Client(base_url=front, verify=False, timeout=600) as page,
    ):
        _add_user(manager)
        _log_in(page)
        with _stream(page) as lines:
            for name in ("www.first.jp", "www.second.jp"):
                prsm(manager.data, "hosts", "import", "-", stdin=f"{name}\n")
                assert "hosts" in _topics(lines)
