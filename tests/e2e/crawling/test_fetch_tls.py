"""The fetch port over TLS: who is trusted, which name is shown, and HTTP/2."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.adapters.clock import SystemClock
from agent.adapters.curl import CurlFetcher, FetchOptions
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from shared.archive.encode import encode_capture
from tests.e2e.http2_server import Http2Server
from tests.e2e.raw_server import RawServer
from tests.programs import program

pytestmark = pytest.mark.e2e

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
OPTIONS = FetchOptions(user_agent="prsm-test/0.1", from_address="robot@c.example")


@dataclass(frozen=True)
class Identity:
    """A certificate for www.a.example, signed by itself, and its key."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return made_identity(tmp_path_factory.mktemp("tls"), "DNS:www.a.example")


def made_identity(folder: Path, name: str) -> Identity:
    """Make a certificate for a name, with its kind before it (`DNS:`, `IP:`)."""
    openssl = program("openssl")
    made = Identity(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={name}"),
            *("-addext", f"subjectAltName={name}"),
            *("-keyout", str(made.key), "-out", str(made.certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return made


async def get(options: FetchOptions, url: str) -> FetchAnswer:
    fetcher = CurlFetcher(options, lambda: True, lambda _: None, SystemClock())
    done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
    try:
        fetcher.start(FetchRequest(url, "127.0.0.1", 1000), done.set_result)
        return await asyncio.wait_for(done, 20)
    finally:
        fetcher.close()


def fetch(identity: Identity, options: FetchOptions, host: str = "www.a.example") -> FetchAnswer:
    async def run() -> FetchAnswer:
        async with RawServer(HELLO, tls=identity.context()) as server:
            return await get(options, server.url(host=host))

    return asyncio.run(run())


def test_a_trusted_server_is_fetched_from(identity: Identity) -> None:
    """The certificate is checked against the name in the URL, not against the pinned address."""
    answer = fetch(identity, replace(OPTIONS, ca_file=identity.certificate))
    assert (answer.outcome, answer.status) == ("answered", 200)


def test_an_unknown_or_wrong_certificate_is_refused(identity: Identity) -> None:
    """A stranger's certificate, or one for another name, ends the request before it is sent."""
    assert fetch(identity, OPTIONS).outcome == "tls"
    trusting = replace(OPTIONS, ca_file=identity.certificate)
    assert fetch(identity, trusting, host="www.b.example").outcome == "tls"


def test_a_site_may_choose_not_to_check(identity: Identity) -> None:
    """Without verification any certificate will do."""
    assert fetch(identity, replace(OPTIONS, verify_tls=False)).outcome == "answered"


def test_the_name_is_shown_in_the_handshake(identity: Identity) -> None:
    """Servers with many names choose the certificate by it."""
    shown: list[str | None] = []

    async def run() -> FetchAnswer:
        context = identity.context()
        context.sni_callback = lambda _socket, name, _context: shown.append(name)
        async with RawServer(HELLO, tls=context) as server:
            return await get(replace(OPTIONS, verify_tls=False), server.url())

    assert asyncio.run(run()).outcome == "answered"
    assert shown == ["www.a.example"]


def test_a_server_without_tls_fails_the_handshake() -> None:
    """https to a server that speaks http is an error of TLS."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def run() -> FetchAnswer:
        server = await asyncio.start_server(speak, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await get(OPTIONS, f"https://www.a.example:{port}/")

    assert asyncio.run(run()).outcome == "tls"


def test_http2_is_spoken_where_the_server_can(identity: Identity) -> None:
    """Pages come over HTTP/2, one after another on one connection, and can be archived."""

    async def run() -> None:
        async with Http2Server(identity.context(), b"hello") as server:
            options = replace(OPTIONS, ca_file=identity.certificate)
            fetcher = CurlFetcher(options, lambda: True, lambda _: None, SystemClock())
            try:
                for number in range(3):
                    done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
                    url = f"https://www.a.example:{server.port}/{number}"
                    fetcher.start(FetchRequest(url, "127.0.0.1", 1000), done.set_result)
                    answer = await asyncio.wait_for(done, 20)
                    assert (answer.outcome, answer.status) == ("answered", 200)
                    assert answer.kept_alive
                    assert answer.capture is not None
                    assert answer.capture.body == b"hello"
                    assert answer.capture.response_header.startswith(b"HTTP/2 200")
                    assert answer.capture.request.startswith(b"GET /%d HTTP/2\r\n" % number)
                    assert answer.request_bytes > 0
                    encode_capture(answer.capture)
            finally:
                fetcher.close()
            assert (server.connections, server.streams) == (1, 3)

    asyncio.run(run())


def test_a_field_that_http2_forbids_is_answered_over_http1(identity: Identity) -> None:
    """The page comes by the next request; those behind it go that way from the beginning."""

    async def run() -> tuple[list[FetchAnswer], Http2Server]:
        options = replace(OPTIONS, ca_file=identity.certificate)
        forbidden = (b"upgrade", b"h2,h2c")
        async with Http2Server(identity.context(), b"hello", forbidden) as server:
            fetcher = CurlFetcher(options, lambda: True, lambda _: None, SystemClock())
            answers = []
            for path in "aab":
                done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
                url = f"https://www.a.example:{server.port}/{path}"
                fetcher.start(FetchRequest(url, "127.0.0.1", 1000), done.set_result)
                answers.append(await asyncio.wait_for(done, 20))
            fetcher.close()
            return answers, server

    (failed, *answers), server = asyncio.run(run())
    assert (failed.outcome, failed.capture) == ("retry", None)
    for answer, path in zip(answers, "ab", strict=True):
        assert (answer.outcome, answer.status) == ("answered", 200)
        assert answer.capture is not None
        assert answer.capture.body == b"hello"
        assert answer.capture.response_header.startswith(b"HTTP/1.1 200")
        assert answer.capture.request.startswith(b"GET /%b HTTP/1.1" % path.encode())
    assert server.streams == 1
    assert [request.split()[1] for request in server.old_requests] == [b"/a", b"/b"]
    assert answers[1].kept_alive
