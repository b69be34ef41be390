"""The console of the shipped manager, by a browser without scripts, over loopback."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from shared.wire.names import hash_of_key, new_key
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.manager.console.markup import Markup, read

pytestmark = pytest.mark.e2e

PASSWORD = "correct horse battery"
FROM_HERE = {"Sec-Fetch-Site": "same-origin"}


@contextmanager
def _served(data: Path) -> Iterator[ManagerProcess]:
    with running_manager(data) as running:
        users = ("users", "add", "hana", "--role", "admin", "--password-stdin")
        prsm(data, *users, stdin=f"{PASSWORD}\n")
        yield running


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ManagerProcess]:
    """Serve an empty manager with an administrator."""
    with _served(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def shared_manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve one manager with an administrator for tests that count nothing in it."""
    with _served(tmp_path_factory.mktemp("shared")) as running:
        yield running


def _page(client: httpx.Client, path: str) -> Markup:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text[-500:]
    assert "unsafe" not in answer.headers["content-security-policy"]
    return read(answer.text)


def _submit(client: httpx.Client, page: Markup, action: str, **changes: str) -> httpx.Response:
    fields = page.form(action).fields | changes
    return client.post(action, data=fields, headers=FROM_HERE)


def test_a_morning_at_the_console(manager: ManagerProcess) -> None:
    """Log in, let an agent join, add a host, exclude it, export, log out; all of it audited."""
    with manager.client(follow_redirects=True) as client:
        assert str(client.get("/").url).endswith("/console/login?next=%2Fconsole%2F")
        login = _page(client, "/console/")
        overview = _submit(client, login, "/console/login", name="hana", password=PASSWORD)
        assert overview.url.path == "/console/"
        assert "First steps" in read(overview.text).text

        form = _page(client, "/console/new-agent")
        shown = _submit(client, form, "/console/new-agent", name="robot.example.jp")
        text = read(shown.text).text
        found = re.search(r"prs enrol (\S+)\s+--name\s+robot.example.jp", text)
        assert found
        assert found[1].rstrip("/") == manager.url.rstrip("/")
        (token,) = (each for each in text.split() if len(each) == 43)
        body = {"agent": "robot.example.jp", "token": token, "kind": "plain"}
        joined = httpx.post(
            f"{manager.url}api/v1/enrol", json={**body, "key_hash": hash_of_key(new_key())}
        )
        assert joined.status_code == 200
        assert "it has never called" in _page(client, "/servlets/listrobot").text

        form = _page(client, "/console/add-hosts")
        added = _submit(client, form, "/console/add-hosts", lines="www.example.jp")
        assert "1 host is new" in read(added.text).text
        form = _page(client, "/console/host?host=www.example.jp")
        asked = _submit(client, form, "/console/host/exclude", reason="=its owner asked")
        done = _submit(client, read(asked.text), "/console/host/exclude")
        assert "is excluded" in read(done.text).text
        rows = csv.DictReader(io.StringIO(client.get("/console/hosts.csv").text, newline=""))
        assert [(row["state"], row["excluded because"]) for row in rows] == [
            ("excluded", "'=its owner asked")
        ]

        audited = _page(client, "/console/audit").text
        for action in (
            "user.login",
            "agent.create-token",
            "agent.enrol",
            "host.import",
            "host.exclude",
        ):
            assert action in audited
        session = dict(client.cookies)
        _submit(client, _page(client, "/console/"), "/console/logout")
    with manager.client(cookies=session) as stranger:
        assert stranger.get("/console/audit").status_code == 303


def test_one_login_serves_pages_and_api(shared_manager: ManagerProcess) -> None:
    """The session of the console opens /api/v1 as well, with the same token against forgery."""
    with shared_manager.client(follow_redirects=True) as client:
        page = _page(client, "/console/login")
        _submit(client, page, "/console/login", name="hana", password=PASSWORD)
        assert client.get("/api/v1/session").json() == {"kind": "user", "name": "hana"}
        token = _page(client, "/console/").form("/console/logout").fields["csrf"]
        made = client.post("/api/v1/agents/a.example/token", headers={"X-CSRF-Token": token})
        assert made.status_code == 201
        assert client.post("/api/v1/agents/a.example/token").status_code == 403


def test_files_are_sent_small_and_kept(shared_manager: ManagerProcess) -> None:
    """Style and script come compressed, with their digest in the address, and are kept."""
    with shared_manager.client() as client:
        page = _page(client, "/console/login")
        for sheet in page.all("link"):
            answer = client.get(sheet.attributes["href"])
            assert answer.status_code == 200
            assert answer.headers["content-encoding"] == "gzip"
            assert "immutable" in answer.headers["cache-control"]


def test_the_manager_logs_no_secret(shared_manager: ManagerProcess) -> None:
    """Neither passwords nor session tokens reach the manager's log."""
    with shared_manager.client(follow_redirects=True) as client:
        page = _page(client, "/console/login")
        _submit(client, page, "/console/login", name="hana", password="a wrong password")
        _submit(client, page, "/console/login", name="hana", password=PASSWORD)
        client.get("/console/nothing")
        session = client.cookies["prsm"]
    log = shared_manager.log
    assert session not in log
    assert PASSWORD not in log
    assert "a wrong password" not in log
