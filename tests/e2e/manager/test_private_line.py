"""Proxies in front of a manager: which of them make a line private, with real ones."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.e2e.nginx import nginx_in_front, wait_for_front
from tests.programs import program
from tools.held_port import HeldPort

pytestmark = [pytest.mark.e2e]

PASSWORD = "correct horse battery"
LOGIN = {"name": "admin", "password": PASSWORD}
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"
Front = Callable[[Path, int, int], AbstractContextManager[str]]


@contextmanager
def started(command: list[str | Path], folder: Path, port: int) -> Iterator[str]:
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    try:
        wait_for_front(port, process, folder)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def nginx(folder: Path, manager: int, port: int, more: str = "") -> AbstractContextManager[str]:
    """Start nginx with nothing but `proxy_pass`, and what more is said."""
    binary = program("nginx")
    folder.mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    config = folder / "nginx.conf"
    config.write_text(
        f"user root;\ndaemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{paths}server {{ listen 127.0.0.1:{port};\n"
        f"location / {{ proxy_pass http://127.0.0.1:{manager}; {more} }} }} }}\n"
    )
    return started([binary, "-p", folder, "-c", config], folder, port)


def nginx_http_1_1(folder: Path, manager: int, port: int) -> AbstractContextManager[str]:
    return nginx(folder, manager, port, 'proxy_http_version 1.1; proxy_set_header Connection "";')


def nginx_with_host(folder: Path, manager: int, port: int) -> AbstractContextManager[str]:
    more = 'proxy_http_version 1.1; proxy_set_header Host "prsm.example.org";'
    return nginx(folder, manager, port, more)


def caddy(folder: Path, manager: int, port: int) -> AbstractContextManager[str]:
    """Start Caddy on plain HTTP, as `caddy reverse-proxy` does."""
    binary = program("caddy")
    folder.mkdir()
    config = folder / "Caddyfile"
    config.write_text(
        f"{{\n\tadmin off\n\tauto_https off\n}}\nhttp://127.0.0.1:{port} {{\n"
        f"\treverse_proxy 127.0.0.1:{manager}\n}}\n"
    )
    command: list[str | Path] = [binary, "run", "--config", config, "--adapter", "caddyfile"]
    return started(command, folder, port)


@contextmanager
def served(data: Path, *settings: str) -> Iterator[ManagerProcess]:
    with running_manager(data, *settings) as manager:
        words = ("users", "add", "admin", "--role", "admin")
        prsm(manager.data, *words, stdin=f"{PASSWORD}\n{PASSWORD}\n")
        yield manager


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve a manager that knows of no proxy, and has an administrator."""
    with served(tmp_path_factory.mktemp("plain") / "data") as manager:
        yield manager


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve a manager behind a proxy that ends TLS, with an administrator."""
    data = tmp_path_factory.mktemp("proxied") / "data"
    with served(data, "server.behind_tls_proxy=true") as manager:
        yield manager


@pytest.mark.parametrize(
    "front",
    [
        nginx,
        pytest.param(nginx_http_1_1, marks=pytest.mark.slow),
        pytest.param(nginx_with_host, marks=pytest.mark.slow),
        caddy,
    ],
)
@pytest.mark.parametrize("configured", ["plain", "proxied"], ids=["unknown", "configured"])
def test_a_proxy_that_ends_no_tls_makes_nothing_private(
    tmp_path: Path, front: Front, configured: str, request: pytest.FixtureRequest
) -> None:
    """Neither passwords nor cookies pass plain HTTP because it comes from loopback in the end."""
    manager: ManagerProcess = request.getfixturevalue(configured)
    with (
        HeldPort() as port,
        front(tmp_path / "front", manager.port, port) as address,
        httpx.Client(base_url=address, headers={"User-Agent": CHROME}) as browser,
    ):
        # As a browser does that knows this machine by a name of its own.
        browser.headers["Origin"] = "http://prsm.example.org"
        login = browser.post("/api/v1/login", json=LOGIN)
        assert login.status_code == 403, login.text
        assert "TLS" in login.json()["detail"]
        page = browser.get("/console/login")
        assert page.status_code == 403
        assert "password" not in page.text.lower().replace("passwords", "")
        assert "set-cookie" not in page.headers
        assert "strict-transport-security" not in page.headers


@pytest.mark.parametrize("front", [nginx, nginx_http_1_1])
def test_a_browser_s_first_visit_through_a_bare_proxy_gets_no_login(
    tmp_path: Path, front: Front, plain: ManagerProcess
) -> None:
    """Else the password would pass the network once, before it is refused."""
    visit = {"User-Agent": CHROME, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    with (
        HeldPort() as port,
        front(tmp_path / "front", plain.port, port) as address,
    ):
        page = httpx.get(f"{address}/console/login", headers=visit)
        assert page.status_code == 403
        assert "server.behind_tls_proxy" in page.text
        assert 'type="password"' not in page.text
        assert "set-cookie" not in page.headers
        near = httpx.get(f"{plain.url}console/login", headers={**visit, "Sec-Fetch-Site": "none"})
        assert near.status_code == 200
        assert 'type="password"' in near.text


@pytest.mark.parametrize(
    "path",
    [
        "/servlets/list?host=a.example",
        pytest.param("/api/v1/changes", marks=pytest.mark.slow),
    ],
)
def test_keys_do_not_pass_a_bare_proxy(tmp_path: Path, path: str, plain: ManagerProcess) -> None:
    """Nor do those of agents and third parties."""
    name = "a.example" if path.startswith("/servlets") else "b.example"
    with (
        HeldPort() as port,
        plain.agent(name) as agent,
        nginx(tmp_path / "front", plain.port, port) as address,
    ):
        assert agent.get("/servlets/list", params={"host": name}).status_code == 200
        answer = httpx.get(f"{address}{path}", headers=agent.headers)
        assert answer.status_code == 403, answer.text
        assert "HTTP/1.0" in answer.text
        assert "server.behind_tls_proxy" in answer.text


def test_the_shipped_nginx_makes_it_private(tmp_path: Path, proxied: ManagerProcess) -> None:
    """Cookies are Secure, browsers are told to stay, and the manager's own port takes nothing."""
    with (
        HeldPort() as port,
        nginx_in_front(tmp_path / "nginx", proxied.port, proxied.data / "archive", port) as front,
        httpx.Client(base_url=front, verify=False) as browser,
    ):
        forged = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "http"}
        answer = browser.post("/api/v1/login", json=LOGIN, headers=forged)
        assert answer.status_code == 200, answer.text
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        assert "__Host-prsm=" in answer.headers["set-cookie"]
        direct = httpx.post(f"{proxied.url}api/v1/login", json=LOGIN)
        assert direct.status_code == 403
        assert "X-Forwarded-Proto" in direct.json()["detail"]
