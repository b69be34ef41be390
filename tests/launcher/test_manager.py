"""The way to the manager, and what a manager in wrong hands may say."""

from __future__ import annotations

import base64
import math
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from launcher.errors import LauncherError, OfflineError
from launcher.installation import LOG_BYTES
from launcher.manager import Manager
from launcher.manager import Site as Way
from tests.launcher.site import Centre, Site


@contextmanager
def proxy() -> Iterator[tuple[int, list[bytes]]]:
    """Give the port of a proxy that refuses everybody, and the heads of requests to it."""
    heads: list[bytes] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            heads.append(b"".join(iter(self.rfile.readline, b"\r\n")))
            self.wfile.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1], heads
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("by_setting", [True, False])
def test_a_proxy_gets_its_password(monkeypatch: pytest.MonkeyPatch, by_setting: bool) -> None:
    """As the agent sends it; in the head for the proxy, not in what it is asked for."""
    with proxy() as (port, heads):
        url = f"http://s%65to:p%40ss@127.0.0.1:{port}"
        for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        if not by_setting:
            monkeypatch.setenv("HTTPS_PROXY", url)
        way = Way("https://prsm.example.jp", "key", proxy=url if by_setting else "")
        with pytest.raises(OfflineError, match="407"):
            Manager(way).offer("1.0")
    (head,) = heads
    assert head.startswith(b"CONNECT prsm.example.jp:443 HTTP/1.")
    told = base64.b64encode(b"seto:p@ss")
    assert b"\r\nproxy-authorization: Basic " + told + b"\r\n" in head.replace(
        b"Proxy-Authorization", b"proxy-authorization"
    )
    assert b"key" not in head


def test_a_proxy_that_is_none_is_said_without_its_password() -> None:
    """It stands in prs.toml, and not in a log."""
    with pytest.raises(LauncherError, match=r"manager\.proxy ftp://127") as caught:
        Manager(Way("https://prsm.example.jp", "key", proxy="ftp://me:secret@127.0.0.1"))
    assert "secret" not in str(caught.value)


def test_what_a_manager_says_is_one_line(site: Site, centre: Centre) -> None:
    """No second line in the log, no command to a terminal, no version that is none."""
    centre.offer("")
    centre.why = "x\n2026-01-01 good: 9.9\x1b[2J" + "y" * 10_000
    assert site.update() == 0
    lines = site.log.splitlines()
    assert "nothing new (x 2026-01-01 good: 9.9 [2Jyyy" in lines[-1]
    assert "\x1b" not in site.log
    assert max(map(len, lines)) < 2100
    centre.offer("1.1\x1b[2J")
    assert site.update() == 1
    assert r"'1.1\x1b[2J' is offered, and is no version" in site.log
    assert (centre.reports[-1]["version"], centre.reports[-1]["outcome"]) == ("", "refused")


def test_the_log_of_updates_is_bounded(site: Site) -> None:
    """Two files; a night of a site is some hundred bytes."""
    path = site.installation.own / "update.log"
    path.write_text("x" * (LOG_BYTES + 1))
    assert site.update() == 0
    assert path.stat().st_size < 10_000
    assert path.with_name("update.log.1").stat().st_size == LOG_BYTES + 1
    assert sorted(one.name for one in path.parent.glob("update.log*")) == [
        "update.log",
        "update.log.1",
    ]


@pytest.mark.parametrize("status", [401, 403, 407])
def test_a_front_that_refuses_is_no_refusal_of_the_manager(
    site: Site, centre: Centre, status: int
) -> None:
    """The administrator looks for a key that is good, else, and is alerted of a broken line."""
    centre.front = status
    assert site.update() == 1
    assert "unreached at refresh" in site.log
    assert "refuses our key" not in site.log


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"url": "https://[bad"}, "in key.json: Invalid IPv6 URL"),
        ({"proxy": "http://seto:secret@[bad"}, "manager.proxy [bad: Invalid IPv6 URL"),
        ({"timeout_s": 0.0}, "manager.timeout_s = 0: must be > 0"),
        ({"timeout_s": math.nan}, "manager.timeout_s = nan: must be > 0"),
    ],
)
def test_a_way_that_leads_nowhere_is_said(change: dict[str, Any], said: str) -> None:
    """In a sentence, without the proxy's password."""
    way = replace(Way("https://prsm.example.jp", "key"), **change)
    with pytest.raises(LauncherError) as refused:
        Manager(way)
    assert said in str(refused.value)
    assert "secret" not in str(refused.value)
