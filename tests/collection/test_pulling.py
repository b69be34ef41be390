"""Segments that the manager fetches: pinned, by token, from the byte on."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

import agent.collection.segment_server
from agent.collection.allowance import Allowance, write_limits
from agent.collection.offers import OfferSender
from agent.collection.orders import Order
from agent.collection.segment_records import SegmentRecords
from agent.collection.segment_server import SegmentServer, Tokens, certificate_of
from agent.settings import Home, Settings
from manager.db.fleet import agents
from manager.operations.segments.uploads import list_transfers
from shared.wire.sync import SendingLimits
from tests.collection.relay import relayed
from tests.collection.site import Site
from tests.manager.running import Running, running

pytestmark = pytest.mark.e2e


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager that may fetch from this machine."""
    with running(tmp_path / "manager", 'dns.allowed_networks=["127.0.0.0/8"]') as opened:
        yield opened


@pytest.fixture
def site(prsm: Running, tmp_path: Path) -> Site:
    """Return an agent with a segment of 3 MB."""
    made = Site(prsm, tmp_path / "home", prsm.agent(kind="sync"))
    made.collect(1, body_bytes=3_000_000)
    return made


@contextmanager
def serving(site: Site, allowance: Allowance | None = None) -> Iterator[SegmentServer]:
    """Serve the segments, and let the manager know where."""
    home = Home(site.home)
    certificate = certificate_of(home, "a.example")
    server = SegmentServer(
        ("127.0.0.1", 0),
        certificate,
        site.segments,
        Tokens(home, now_s=lambda: 1000.0),
        allowance,
    )
    thread = threading.Thread(target=server.serve)
    thread.start()
    tell(site, f"https://127.0.0.1:{server.port}", certificate.fingerprint)
    try:
        yield server
    finally:
        server.close()
        thread.join()


def tell(site: Site, url: str, fingerprint: str) -> None:
    with site.prsm.manager.db.write() as tx:
        agents.update(tx, site.agent.identity.id, serving_url=url, serving_fingerprint=fingerprint)


def offer(site: Site, made_s: float = 1000.0) -> str:
    """Offer the only segment with a token made at a time; return its upload's path."""
    records = SegmentRecords(site.segments, site.folder)
    tokens = Tokens(Home(site.home), now_s=lambda: made_s)

    async def offered() -> str:
        async with site.client() as client:
            held = records.read(records.names()[0])
            return await OfferSender(client, records, tokens).offer(Order("1", way="pull"), held)

    return asyncio.run(offered())


def test_a_segment_is_fetched_and_accepted(site: Site) -> None:
    """The manager takes it, judges it, and the agent hears so."""
    with serving(site):
        where = offer(site)
        assert site.prsm.manager.pulling.fetch_due() == 1
        site.prsm.manager.acceptance.accept_waiting()
    said = site.agent.call.get(where).json()
    assert (said["state"], said["offset"]) == ("accepted", said["size_bytes"])
    (row,) = list_transfers(site.prsm.manager.db)
    assert (row.way, row.received_bytes, row.tries) == ("pull", row.size_bytes, 0)


def test_a_fetch_goes_on_at_the_byte(site: Site) -> None:
    """What came by a broken push is not fetched again."""
    name = site.records.names()[0]
    data = (site.segments / name).read_bytes()
    with serving(site):
        where = offer(site)
        site.agent.call.send(
            "PATCH",
            where,
            content=data[:1_234_567],
            headers={
                "Tus-Resumable": "1.0.0", "Upload-Offset": "0",
                "Content-Type": "application/offset+octet-stream",
            },
        )  # fmt: skip
        site.prsm.manager.pulling.fetch_due()
    (row,) = list_transfers(site.prsm.manager.db)
    assert (row.state, row.received_bytes) == ("received", len(data))


def test_a_line_that_is_cut_is_gone_on_with(site: Site) -> None:
    """Each fetch begins at the byte at which the last one ended; nothing comes twice."""
    size = (site.segments / site.records.names()[0]).stat().st_size
    pulling, clock = site.prsm.manager.pulling, site.prsm.clock
    clock.now_ms = 1_000_000
    with serving(site) as server, relayed(server.port, [1_300_000, 900_000, 5000]) as line:
        tell(
            site, f"https://127.0.0.1:{line.port}", certificate_of(Home(site.home), "x").fingerprint
        )
        offer(site)
        tries = 0
        while tries < 10:
            tries += 1
            pulling.fetch_due()
            (row,) = list_transfers(site.prsm.manager.db)
            if row.state != "receiving":
                break
            clock.advance(600)
    assert (row.state, row.received_bytes, tries) == ("received", size, 4)
    assert row.breaks >= 2


def test_strangers_keep_nobody_waiting(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who shows no token is hung up, however he trickles; who showed one may take its time."""
    monkeypatch.setattr(agent.collection.segment_server, "STRANGER_S", 0.5)
    name = site.records.names()[0]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with serving(site) as server, ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            for _ in range(8)
        ]
        trickling = [
            stack.enter_context(
                context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), 20))
            )
            for _ in range(8)
        ]
        for each in trickling:
            each.sendall(b"GET /segments/x HTTP/1.1\r\nHo")
        for one in [*silent, *trickling]:
            assert one.recv(1) == b""
            one.close()
        for _ in range(600):
            if not server._server._open:
                break
            time.sleep(0.05)
        monkeypatch.setattr(agent.collection.segment_server, "STRANGER_S", 3600.0)
        token, _ = Tokens(Home(site.home), now_s=lambda: 1000.0).mint(name)
        known = stack.enter_context(
            context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), 20))
        )
        asked = f"GET /segments/{name} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"
        size = (site.segments / name).stat().st_size
        for start in (size - 10, size - 5):
            known.sendall(f"{asked}Range: bytes={start}-\r\n\r\n".encode())
            said = b""
            while not said.endswith((site.segments / name).read_bytes()[start:]):
                piece = known.recv(4096)
                assert piece
                said += piece
            assert b" 206 " in said
            assert not server._server._strangers, "nobody waits for its token any more"


def test_a_token_whose_hour_is_over_is_renewed(site: Site) -> None:
    """The agent answers 403, which is said; a new offer fetches the rest."""
    with serving(site):
        offer(site, made_s=-3000.0)
        pulling = site.prsm.manager.pulling
        pulling.fetch_due()
        (row,) = list_transfers(site.prsm.manager.db)
        assert (row.state, row.received_bytes, row.next_try_ms) == ("receiving", 0, None)
        assert "403" in str(row.result)
        assert "has expired" in str(row.result)
        offer(site)
        pulling.fetch_due()
    assert list_transfers(site.prsm.manager.db)[0].state == "received"


def test_an_agents_hours_hold_for_fetches(site: Site) -> None:
    """Outside them it answers 503, and the manager tries again."""
    write_limits(site.folder, SendingLimits(weekday=(), weekend=((0, 1),), zone="UTC"))
    with serving(site, Allowance(Settings(home=site.home))):
        offer(site)
        site.prsm.manager.pulling.fetch_due()
        (row,) = list_transfers(site.prsm.manager.db)
        assert "503: this site sends no segments at this hour" in str(row.result)
        write_limits(site.folder, None)
        offer(site)
        site.prsm.manager.pulling.fetch_due()
    assert list_transfers(site.prsm.manager.db)[0].state == "received"


@pytest.mark.parametrize("ahead_s", [-7200, 7200])
def test_tokens_end_by_the_managers_clock(site: Site, ahead_s: int) -> None:
    """An agent whose clock is hours off is tried again all the same."""
    now_s = site.prsm.clock() // 1000 + ahead_s
    with site.prsm.manager.db.write() as tx:
        agents.update(tx, site.agent.identity.id, skew_ms=ahead_s * 1000)
    tell(site, "https://127.0.0.1:9", "0" * 64)
    offer(site, made_s=now_s)
    site.prsm.manager.pulling.fetch_due()
    (row,) = list_transfers(site.prsm.manager.db)
    assert row.next_try_ms is not None


def test_another_certificate_is_not_spoken_to(site: Site) -> None:
    """Nothing is sent to who shows one; the reason is said, and a new offer tries again."""
    with serving(site) as server:
        tell(site, f"https://127.0.0.1:{server.port}", "0" * 64)
        offer(site)
        site.prsm.manager.pulling.fetch_due()
        (row,) = list_transfers(site.prsm.manager.db)
        assert (row.state, row.received_bytes) == ("receiving", 0)
        assert row.result is not None
        assert row.result.code == "segments.pull_certificate"


def test_an_agent_that_is_away_is_tried_again(site: Site) -> None:
    """With longer and longer pauses, until the token's hour is over."""
    tell(site, "https://127.0.0.1:9", "0" * 64)
    site.prsm.clock.now_ms = 1_000_000
    offer(site)
    pulling = site.prsm.manager.pulling
    pauses = []
    while True:
        pulling.fetch_due()
        (row,) = list_transfers(site.prsm.manager.db)
        if row.next_try_ms is None:
            break
        pauses.append(row.next_try_ms - site.prsm.clock())
        site.prsm.clock.now_ms = row.next_try_ms
    assert pauses == sorted(pauses)
    assert 5 < len(pauses) < 20
    offer(site)
    assert list_transfers(site.prsm.manager.db)[0].next_try_ms is not None


def test_the_centres_own_network_is_out_of_bounds(site: Site) -> None:
    """An agent that says that it serves there is refused by the manager's rules."""
    tell(site, "https://10.0.0.1:8443", "0" * 64)
    offer(site)
    site.prsm.manager.pulling.fetch_due()
    assert "private" in str(list_transfers(site.prsm.manager.db)[0].result)


def test_only_a_right_token_opens_a_segment(site: Site) -> None:
    """Another segment's, an old one, none: 403. Other paths: 404. Ranges: 206, 416."""
    name, home = site.records.names()[0], Home(site.home)
    with serving(site) as server:
        base = f"https://127.0.0.1:{server.port}"
        good = Tokens(home, now_s=lambda: 1000.0).mint(name)[0]
        old = Tokens(home, now_s=lambda: -3000.0).mint(name)[0]
        other = Tokens(home, now_s=lambda: 1000.0).mint("x.warc.gz")[0]
        with httpx.Client(verify=False) as client:

            def get(path: str, token: str, **headers: str) -> httpx.Response:
                return client.get(
                    f"{base}{path}", headers={"Authorization": f"Bearer {token}", **headers}
                )

            path = f"/segments/{name}"
            assert get(path, good).content == (site.segments / name).read_bytes()
            part = get(path, good, Range="bytes=100-")
            assert (part.status_code, len(part.content)) == (
                206, (site.segments / name).stat().st_size - 100,
            )  # fmt: skip
            assert get(path, good, Range="bytes=99999999999-").status_code == 416
            for token in (old, other, "x", "1.2", "99999999999999.x"):
                assert get(path, token).status_code == 403, token
            for wrong in (
                "/segments/../key.json", "/segments/key.json", "/", f"{path}.cdxj",
                "/segments/no.warc.gz",
            ):  # fmt: skip
                assert get(wrong, good).status_code in (403, 404), wrong
