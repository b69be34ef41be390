"""The shipped command over real sockets on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from shared.errors import PrsmError
from simweb.launcher import SimulatedWeb, StartError
from simweb.sites.pages import page_html
from simweb.sites.plan import HostPlan
from simweb.sites.trouble import Outcome
from tests.simweb.honest_crawl import USER_AGENT, HonestCrawl, ask_dns

pytestmark = pytest.mark.e2e

QUICK: dict[str, Any] = {"delay_ms": 0, "bandwidth_kb_s": 0}
CALM: dict[str, Any] = {**QUICK, "hosts": 6, "seed": 3, "pages_mean": 20, "trouble_scale": 0}
CLIENT = "127.10.2.1"
WAIT_S = 10.0


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedWeb]:
    """Return a running web of six hosts without trouble, for tests that only read."""
    folder = tmp_path_factory.mktemp("calm")
    options = {**CALM, "robots": ["disallow=100"], "compress_share": 0, "keep_alive_share": 1}
    with SimulatedWeb(folder, **options) as web:
        yield web


@dataclass
class Client:
    """A raw connection to a host, with what is left unread."""

    sock: socket.socket
    left: bytes = b""

    def send(self, host: HostPlan, target: str = "/", method: str = "GET", *more: str) -> None:
        """Send a request."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host.name}", "User-Agent: raw", *more]
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())

    def head(self) -> tuple[int, dict[str, str]]:
        """Read a head; return status and headers."""
        while b"\r\n\r\n" not in self.left:
            data = self.sock.recv(65_536)
            assert data, self.left
            self.left += data
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines)

    def body(self, size: int) -> bytes:
        """Read so many bytes."""
        while len(self.left) < size:
            data = self.sock.recv(65_536)
            assert data, self.left
            self.left += data
        body, self.left = self.left[:size], self.left[size:]
        return body

    def rest(self) -> bytes:
        """Read until the server closes."""
        while data := self.sock.recv(65_536):
            self.left += data
        return self.left


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Return a function that connects to a host; everything is closed in the end."""
    sockets: list[socket.socket] = []

    def open_one(web: SimulatedWeb, host: HostPlan, client: str = CLIENT) -> Client:
        sockets.append(socket.create_connection((host.address, web.port), WAIT_S, (client, 0)))
        return Client(sockets[-1])

    yield open_one
    for sock in sockets:
        sock.close()


def logged(web: SimulatedWeb, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Wait until the log has an event of a kind; return all of that kind."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        lines = web.log_path.read_text().splitlines()
        found = [event for event in map(json.loads, lines) if wanted(event)]
        if found:
            return found
    raise AssertionError("no such event in the log")


def test_an_honest_crawl_gets_what_is_expected(tmp_path: Path) -> None:
    """Over a web with every kind of trouble, from two seeds: exactly the expected captures."""
    trouble = ["all=2", "large=0", "bomb=0", "endless=0", "trap=0", "trap-path=0", "trap-session=0"]
    options = {
        **QUICK,
        "hosts": 25,
        "seed": 5,
        "seeds": 2,
        "pages_mean": 20,
        "islands": 0.3,
        "trouble": [*trouble, "hang=1"],
        "host_trouble": ["all=1", "dns-hang=0", "hang=0", "slow=0"],
        "slow_s": 0.2,
        "retry_after_s": 0,
        "rate_limit_ms": 0,
        "crawl_delay_s": 0,
    }
    with SimulatedWeb(tmp_path, **options) as web:
        crawl = HonestCrawl(web.dns_port, timeout_s=3.0)
        crawl.run(web.seeds)
        expected, verdict, stats = web.expected(), web.judge(0), web.stats()
        healthy = web.expected(host for host in web.hosts if host.healthy)
        island = next(host for host in web.hosts if host.island_pages and host.healthy)
        site = web.world.site(island)
        assert site.island is not None
        assert web.url(island, site.path_of(site.island)) in crawl.captures
        for host in web.hosts[:3]:
            body = page_html(web.world, host, 0, 0, web.port)
            assert crawl.captures[web.url(host)] == body
    assert web.complaints == ""
    stored = set(crawl.captures)
    assert expected.captures <= stored
    assert stored <= expected.captures | expected.tolerated
    assert crawl.denied <= expected.urls[Outcome.DENIED]
    assert crawl.denied
    assert crawl.noindex == expected.urls[Outcome.NOINDEX]
    assert healthy.urls[Outcome.REDIRECT] <= crawl.redirects
    assert verdict.ok, list(verdict.lines())
    assert verdict.user_agents == [USER_AGENT]
    assert verdict.requests == stats["requests"]
    assert stats["most_connections_to_one_address"] == 1


def test_a_connection_serves_many_requests(
    calm: SimulatedWeb, connect: Callable[..., Client]
) -> None:
    """One after the other, pages and 404, and the log says which were reused."""
    host = calm.hosts[0]
    client = connect(calm, host)
    site = calm.world.site(host)
    for page in range(3):
        client.send(host, site.path_of(page), "GET", "Connection: keep-alive")
        status, headers = client.head()
        assert (status, headers["connection"]) == (200, "keep-alive")
        body = page_html(calm.world, host, page, 0, calm.port)
        if "content-length" in headers:
            assert client.body(int(headers["content-length"])) == body
        else:
            chunks = b""
            while size := int(client.body(client.left.index(b"\r\n") + 2), 16):
                chunks += client.body(size)
                assert client.body(2) == b"\r\n"
            client.body(2)
            assert chunks == body
    client.send(host, "/nothing", "GET", "Connection: close")
    assert client.head()[0] == 404
    port = client.sock.getsockname()[1]
    assert b"404" in client.rest()
    events = logged(calm, lambda e: e.get("client_port") == port and e["event"] == "request")
    assert [event["reused"] for event in events] == [False, True, True, True]
    assert [event["status"] for event in events] == [200, 200, 200, 404]
    assert {event["client"] for event in events} == {CLIENT}


def test_pipelined_requests_are_answered_in_order(
    calm: SimulatedWeb, connect: Callable[..., Client]
) -> None:
    """And judged as what they are: requests without a gap."""
    host = calm.hosts[1]
    client = connect(calm, host, "127.10.3.1")
    requests = [f"GET /nothing-{n} HTTP/1.1\r\nHost: {host.name}\r\n\r\n" for n in range(3)]
    client.sock.sendall("".join(requests).encode())
    for _ in range(3):
        status, headers = client.head()
        assert status == 404
        client.body(int(headers["content-length"]))
    client.sock.close()
    logged(calm, lambda event: event.get("path") == "/nothing-2")
    verdict = calm.judge(1, tolerance_ms=0, per_client=True, burst=0)
    assert verdict.violations["too_close"] >= 1


def test_head_and_post(calm: SimulatedWeb, connect: Callable[..., Client]) -> None:
    """HEAD tells the size and sends nothing; a form's body is read and refused."""
    host = calm.hosts[2]
    client = connect(calm, host)
    client.send(host, "/robots.txt", "HEAD")
    assert int(client.head()[1]["content-length"]) > 0
    client.send(host, "/", "POST", "Content-Length: 5")
    client.sock.sendall(b"a")
    client.sock.sendall(b"=b&c")
    status, headers = client.head()
    assert (status, headers["allow"]) == (405, "get, head")
    client.body(int(headers["content-length"]))
    client.send(host, "/robots.txt")
    assert client.head()[0] == 200


@pytest.mark.parametrize(
    "data", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nX" * 10_000, b"\x16\x03\x01\r\n\r\n"]
)
def test_malformed_requests_are_refused(
    calm: SimulatedWeb, connect: Callable[..., Client], data: bytes
) -> None:
    """With a status, a closed connection, and a line in the log."""
    client = connect(calm, calm.hosts[0])
    client.sock.sendall(data)
    assert client.head()[0] in (400, 431)
    client.rest()
    port = client.sock.getsockname()[1]
    assert logged(calm, lambda e: e["event"] == "malformed" and e["client_port"] == port)


def test_disobedience_is_logged(calm: SimulatedWeb, connect: Callable[..., Client]) -> None:
    """A request to a private page is marked, and the judge counts it."""
    host = calm.hosts[3]
    client = connect(calm, host)
    client.send(host, "/private/0.html", "GET", "Connection: close")
    assert client.head()[0] == 200
    client.rest()
    events = logged(calm, lambda event: event.get("path") == "/private/0.html")
    assert events[-1]["disallowed"]
    assert calm.judge(0).violations["disallowed"] >= 1
    assert calm.judge(0).violations["before_robots"] >= 1


def test_names_are_resolved_by_udp_and_tcp(calm: SimulatedWeb) -> None:
    """To the planned address; others do not exist."""
    host = calm.hosts[0]
    for tcp in (False, True):
        assert str(ask_dns(host.name, calm.dns_port, tcp).rr[0].rdata) == host.address
    assert ask_dns("nobody.test", calm.dns_port).header.rcode == 3


def test_an_open_connection_lets_the_server_stop(tmp_path: Path) -> None:
    """SIGTERM ends with 0 while a request hangs; the log tells that it was left."""
    with SimulatedWeb(tmp_path, **CALM) as web:
        host = web.hosts[0]
        web.fault(host, "hang")
        with socket.create_connection((host.address, web.port), WAIT_S) as sock:
            Client(sock).send(host)
            logged(web, lambda event: event["event"] == "open")
            process = web.process
            web.stop()
            assert process.returncode == 0
    events = [json.loads(line) for line in web.log_path.read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "start"
    assert kinds[-3:] == ["request", "close", "stop"]
    assert (events[-3]["status"], events[-3]["aborted"]) == (0, True)


def test_a_killed_server_leaves_its_log(tmp_path: Path) -> None:
    """Every request that was answered is in it."""
    with SimulatedWeb(tmp_path, **CALM) as web:
        crawl = HonestCrawl(web.dns_port)
        crawl.run(web.seeds)
        web.kill()
    verdict = web.judge(0)
    assert verdict.requests >= len(crawl.captures) > 50
    assert verdict.ok


def test_faults_come_and_go(tmp_path: Path) -> None:
    """Refused, healed, unknown to DNS, moved, in error: as the control port was told."""
    with SimulatedWeb(tmp_path, **CALM, names_per_address=1) as web:
        host = web.hosts[1]
        page = web.url(host)
        crawl = HonestCrawl(web.dns_port)
        assert crawl.fetch(page).status == 200
        web.fault(host, "refused")
        with pytest.raises(Exception, match="ConnectionRefused"):
            crawl.fetch(page)
        web.fault(host)
        assert crawl.fetch(page).status == 200
        web.fault(host, "error")
        assert crawl.fetch(page).status == 503
        web.fault(host, "nxdomain")
        assert ask_dns(host.name, web.dns_port).header.rcode == 3
        web.fault(host)
        address = web.move(host)
        assert address != host.address
        assert str(ask_dns(host.name, web.dns_port).rr[0].rdata) == address
        assert crawl.fetch(page).status == 421
        assert HonestCrawl(web.dns_port).fetch(page).status == 200
        with pytest.raises(PrsmError, match="unknown; kinds"):
            web.fault(host, "tired")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/stats", b"", 200),
        ("GET", "/nothing", b"", 404),
        ("GET", "/hosts/nobody", b"", 404),
        ("POST", "/change", b"{", 400),
        ("POST", "/change", b"[]", 400),
        ("POST", "/change", b'{"share": 2}', 400),
        ("POST", "/change", b'{"share": "all"}', 400),
        ("POST", "/change", b'{"host": "nobody"}', 400),
        ("PUT", "/hosts/HOST", b"", 405),
        ("GET", "/hosts/HOST", b"", 200),
        ("BREW", "/stats", b"", 400),
    ],
)
def test_the_control_port_says_what_it_knows(
    calm: SimulatedWeb, method: str, path: str, body: bytes, status: int
) -> None:
    """A wrong command is answered with a reason, in JSON."""
    connection = HTTPConnection("127.0.0.1", calm.control_port, timeout=WAIT_S)
    try:
        connection.request(method, path.replace("HOST", calm.hosts[0].name), body)
        answer = connection.getresponse()
        values = json.loads(answer.read())
    finally:
        connection.close()
    assert answer.status == status
    assert ("error" in values) is (status >= 400)


def test_an_idle_connection_is_closed(tmp_path: Path, connect: Callable[..., Client]) -> None:
    """After --idle-s without a request, also between two."""
    with SimulatedWeb(tmp_path, **CALM, idle_s=0.1, keep_alive_share=1) as web:
        host = web.hosts[0]
        silent, asked = connect(web, host), connect(web, host, "127.10.4.1")
        asked.send(host, "/nothing")
        assert asked.head()[0] == 404
        assert silent.rest() == b""
        assert b"404" in asked.rest()


def test_pages_change_on_command(tmp_path: Path) -> None:
    """The body is the next version's."""
    with SimulatedWeb(tmp_path, **CALM, compress_share=0) as web:
        host = web.hosts[0]
        crawl = HonestCrawl(web.dns_port)
        bodies = [page_html(web.world, host, 0, version, web.port) for version in (0, 1)]
        assert crawl.fetch(web.url(host)).body == bodies[0]
        web.change()
        assert crawl.fetch(web.url(host)).body == bodies[1]


def test_dead_hosts_are_dead(tmp_path: Path) -> None:
    """Refused, hanging and resetting hosts give a crawler what their names say."""
    kinds = ["refused=1", "hang=1", "reset=1", "dns-tcp=1"]
    with SimulatedWeb(tmp_path, **CALM, host_trouble=kinds) as web:
        crawl = HonestCrawl(web.dns_port, timeout_s=3.0)
        said = {"refused": "ConnectionRefused", "hang": "imeout", "reset": "Reset"}
        for host in web.hosts:
            if host.trouble in said:
                with pytest.raises(Exception, match=said[host.trouble]):
                    crawl.fetch(web.url(host))
            else:
                assert crawl.fetch(web.url(host)).status == 200


def test_folders_are_served(tmp_path: Path) -> None:
    """A crawl of a folder host gets the files that links lead to, as they are on disk."""
    docs = tmp_path / "docs"
    (docs / "a").mkdir(parents=True)
    (docs / "index.html").write_text("<a href='a/'>a</a>")
    (docs / "a" / "page.html").write_text("<a href='/'>top</a>")
    options = {**QUICK, "hosts": 0, "folder": [f"docs={docs}"]}
    with SimulatedWeb(tmp_path / "web", **options) as web:
        crawl = HonestCrawl(web.dns_port)
        crawl.run(web.seeds)
        assert set(crawl.captures) == web.expected().captures
        top = web.url(web.hosts[0])
        assert crawl.captures[f"{top}a/page.html"] == (docs / "a" / "page.html").read_bytes()


def test_a_taken_port_is_an_error_with_a_reason(tmp_path: Path, calm: SimulatedWeb) -> None:
    """Also for wrong options; the message is the command's."""
    with pytest.raises(StartError, match="--port = "):
        SimulatedWeb(tmp_path, hosts=6, seed=3, port=calm.port).start()
    with pytest.raises(StartError, match="did you mean redirect"):
        SimulatedWeb(tmp_path, trouble=["redirct=1"]).start()


def test_a_log_that_cannot_be_written_ends_the_server(tmp_path: Path) -> None:
    """Before READY, with the reason: a silent log would pass for a polite crawl."""
    command = [sys.executable, "-m", "simweb", "--hosts", "2", "--log", "/dev/full"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_server_ends_with_its_parent(tmp_path: Path) -> None:
    """When standard input closes, as it does when whoever started it dies."""
    command = [sys.executable, "-m", "simweb", "--until-eof", "--hosts", "2"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"READY ")
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
    process.stdout.close()


def test_nothing_listens_outside_loopback(calm: SimulatedWeb) -> None:
    """Every listening socket of the process is in 127.0.0.0/8."""
    inodes = {link.readlink().name for link in Path(f"/proc/{calm.process.pid}/fd").iterdir()}
    listening = []
    for table in ("tcp", "udp", "tcp6", "udp6"):
        for line in Path(f"/proc/{calm.process.pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in inodes and fields[3] in ("0A", "07"):
                listening.append(fields[1])
    assert len(listening) >= 7
    assert all(local.endswith(f"7F:{local[-4:]}") for local in listening)


def test_an_address_answers_later_the_more_is_asked_and_then_refuses(
    tmp_path: Path, connect: Callable[..., Client]
) -> None:
    """Whichever of its hosts is asked; what it refuses says when to come again."""
    options = {**CALM, "addresses": 1, "address_per_s": 1, "address_wait_s": 2.5}
    with SimulatedWeb(tmp_path, **options, retry_after_s=7, robots=["disallow=1"]) as web:
        clients = [connect(web, host) for host in web.hosts[:5]]
        begun = time.monotonic()
        for client, host in zip(clients, web.hosts, strict=False):
            client.send(host, "/robots.txt")
        answers = [client.head() for client in reversed(clients)]
        took_s = time.monotonic() - begun
    assert [status for status, _ in answers] == [429, 429, 429, 200, 200]
    assert answers[0][1]["retry-after"] == "7"
    assert took_s >= 1.9
