"""No way leads an agent to an address that must not be crawled: every way in, every spelling.

One server listens on all of loopback and writes down which address was called. The agent may crawl
127.50.0.1 only. `prs run` gets forbidden hosts as units, as links, as redirects of pages and of
robots.txt, as sitemaps, and as names that lead inside.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from dnslib import AAAA, CNAME, QTYPE, RR, A, DNSRecord
from dnslib.server import BaseResolver, DNSHandler, DNSLogger, DNSServer

from shared.wire.orders import Order
from tests.agent.app.fake_manager import FakeManager
from tests.fixtures_dir import fixture_folder
from tools.demo.system import Agent

pytestmark = pytest.mark.e2e

GOOD = "127.50.0.1"
SETTINGS = """\
[robot]
contact = "test@example.org"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = 0.01
fast_host_interval_s = 0.01
delay_factor = 0.0

[limits]
connect_s = 1.0
first_byte_s = 1.0
total_s = 2.0
retry_delay_s = 0.2
public_suffix = false

[dns]
servers = ["{resolver}"]
allowed_networks = ["127.50.0.1/32"]

[disk]
reserve_bytes = 1000000

[pages]
workers = 0

[reports]
log_interval_s = 0.3
"""


class Zone(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    """Names below `good` may be crawled; the others lead inside, each in its own way."""

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        """Answer one question."""
        reply = request.reply()
        name, kind = str(request.q.qname), request.q.qtype
        inside = {"nip": ["127.0.0.1"], "both": [GOOD, "127.0.0.1"], "metadata": ["127.0.0.9"]}
        labels = name.rstrip(".").split(".")
        if labels[-2:] == ["good", "example"] and kind == QTYPE.A:
            reply.add_answer(RR(name, QTYPE.A, rdata=A(GOOD), ttl=300))
        elif labels[0] == "alias":
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME("db.corp.example"), ttl=30))
            if kind == QTYPE.A:
                reply.add_answer(RR("db.corp.example", QTYPE.A, rdata=A("127.0.0.1"), ttl=30))
        elif labels[0] == "six" and kind == QTYPE.AAAA:
            reply.add_answer(RR(name, QTYPE.AAAA, rdata=AAAA("::1"), ttl=30))
        elif kind == QTYPE.A:
            for address in inside.get(labels[0], ["127.0.0.1"]):
                reply.add_answer(RR(name, QTYPE.A, rdata=A(address), ttl=0))
        return reply


class Site(ThreadingHTTPServer):
    """Serves on every address of loopback, and remembers which one was called for what."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("0.0.0.0", 0), Page)
        self.calls: list[tuple[str, str, str]] = []  # (address, Host, path)
        self.targets: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Page(BaseHTTPRequestHandler):
    """Every page leads to all targets, in every way."""

    server: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer, and write down who was asked."""
        site = self.server
        address = str(self.connection.getsockname()[0])
        host = self.headers["Host"]
        site.calls.append((address, host, self.path))
        body, status, location = b"", 200, ""
        if self.path == "/robots.txt" and host.startswith("moved"):
            status, location = 302, f"http://127.0.0.1:{site.port}/robots.txt"
        elif self.path == "/robots.txt":
            maps = "".join(f"Sitemap: {target}sitemap.xml\n" for target in site.targets)
            body = f"User-agent: *\nDisallow:\n{maps}".encode()
        elif self.path.startswith("/go/"):
            status, location = 302, site.targets[int(self.path[4:])]
        elif self.path == "/":
            links = [*site.targets, *(f"/go/{number}" for number in range(len(site.targets)))]
            body = "".join(f'<a href="{link}">x</a>\n' for link in links).encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location.encode().decode("latin-1"))
        self.send_header("Content-Type", "text/plain" if "robots" in self.path else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@contextmanager
def running() -> Iterator[tuple[Site, str]]:
    """Run site and name server; give the site, and the name server's `address:port`."""
    site = Site()
    names = DNSServer(
        Zone(), address="127.0.0.1", port=0, logger=DNSLogger("-request,-reply,-truncated,-error")
    )
    thread = threading.Thread(target=site.serve_forever, args=(0.05,))
    thread.start()
    names.start_thread()
    host, port = names.server.server_address
    try:
        yield site, f"{host}:{port}"
    finally:
        site.shutdown()
        thread.join()
        site.server_close()
        names.server.shutdown()
        names.thread.join()
        names.server.server_close()


@pytest.mark.slow
def test_no_way_leads_inside(tmp_path: Path) -> None:
    """Every request goes to the one address that is allowed, and the good hosts are crawled."""
    fixture = json.loads((fixture_folder("ssrf-targets") / "targets.json").read_text())
    spellings = [form for forms in fixture["host_forms"].values() for form in forms]
    names = ["nip.example", "both.example", "alias.example", "six.example", "metadata.example"]
    with running() as (site, resolver), FakeManager() as manager:
        urls = [f"http://{host}:{site.port}/" for host in (*spellings, *names)]
        urls += [f"http://public@127.0.0.1:{site.port}/", f"http://[::1]:{site.port}/"]
        site.targets = [*urls, *fixture["schemes_to_refuse"]]
        good = [f"http://{name}.good.example:{site.port}/" for name in ("www", "moved")]
        agent = Agent(tmp_path / "prs", manager.name, SETTINGS.format(resolver=resolver))
        agent.enrol(manager.url, manager.token)
        # Of a probe: without rules that can be had it is over soon.
        manager.give(good[0], Order(good[1], max_transfer=5), *urls)
        try:
            agent.program.words = ["prs", "run", "--once", "--quiet"]
            agent.start()
            assert agent.program.process is not None
            assert agent.program.process.wait(120) == 0, agent.program.log.read_text()
        finally:
            agent.stop()
        assert {address for address, _, _ in site.calls} == {GOOD}
        called = {host.partition(":")[0] for _, host, _ in site.calls}
        assert called == {"www.good.example", "moved.good.example"}
        paths = [path for _, host, path in site.calls if host.startswith("www")]
        assert len([path for path in paths if path.startswith("/go/")]) == len(site.targets)
        lines = list(manager.log_lines())
        answered = {urlsplit(line.url).hostname for line in lines if line.response_bytes}
        assert answered == called
        # A unit that was refused has a line that says so, and of which nothing was sent.
        refused = [line for line in lines if urlsplit(line.url).hostname not in called]
        assert {line.request_bytes for line in refused} == {0}
        assert all(line.headers.startswith(b"X-Crawl-Outcome: ") for line in refused)
