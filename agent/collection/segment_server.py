"""Segments to be fetched: an HTTPS server of this agent, for a manager that can reach it.

The certificate is made here and has no authority's signature; the manager knows its
SHA-256 from the sync, and takes no other. A request names one segment and shows a token that
this agent made for it: an HMAC over the name and the time at which it ends, an hour after it was
made. Nothing is kept of tokens.
Invariant: nothing but sealed segments is ever served, by their plain names, and only whole requests
with a right token reach the disk.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent.collection.allowance import Allowance, Pace
from agent.settings import Home
from agent.settings.home import write_whole
from shared.frozen import frozen

__all__ = ["Certificate", "SegmentServer", "Tokens", "certificate_of", "fingerprint_of"]

TOKEN_S: Final = 3600
KEY: Final = "serve.key"
CERTIFICATE: Final = "serve.pem"
MARKS: Final = "serve.marks"  # the secret behind the tokens
VALID_DAYS: Final = 3650
PIECE_BYTES: Final = 64 * 1024
IDLE_S: Final = 60.0
CONNECTIONS: Final = 16
STRANGER_S: Final = 20.0
"""Seconds for a handshake and a request with a right token: else sixteen strangers who send a byte
a minute were all that is served."""

PREFIX: Final = "/segments/"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.warc\.gz")
_RANGE: Final = re.compile(r"bytes=([0-9]{1,18})-")


@frozen
class Certificate:
    """A certificate and its key on the disk, and the SHA-256 that a manager pins."""

    certificate: Path
    key: Path
    fingerprint: str


def certificate_of(home: Home, name: str) -> Certificate:
    """Return this home's certificate, made at the first call. Raises DiskFullError."""
    home.collection.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate, key = home.collection / CERTIFICATE, home.collection / KEY
    if not (certificate.exists() and key.exists()):
        private = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
        now = datetime.now(UTC)
        signed = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=VALID_DAYS))
            .sign(private, hashes.SHA256())
        )
        secret = private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        write_whole(key, [secret])
        write_whole(certificate, [signed.public_bytes(serialization.Encoding.PEM)])
    return Certificate(certificate, key, fingerprint_of(certificate))


def fingerprint_of(certificate: Path) -> str:
    """Return the SHA-256 of a certificate's DER form, hexadecimal."""
    der = ssl.PEM_cert_to_DER_cert(certificate.read_text("ascii"))
    return hashlib.sha256(der).hexdigest()


class Tokens:
    """Makes and knows the tokens of one home."""

    def __init__(self, home: Home, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        path = home.collection / MARKS
        if not path.exists():
            home.collection.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, [secrets.token_bytes(32)])
        self._secret = path.read_bytes()

    def mint(self, name: str) -> tuple[str, int]:
        """Return a token for one segment and the epoch second at which it ends."""
        until = int(self._now_s()) + TOKEN_S
        return f"{until}.{self._mark(name, until)}", until

    def knows(self, token: str, name: str) -> bool:
        """Return whether a token is for this segment and not over."""
        until, _, mark = token.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 12):
            return False
        right = hmac.compare_digest(mark.encode(), self._mark(name, int(until)).encode())
        return right and self._now_s() < int(until)

    def _mark(self, name: str, until: int) -> str:
        made = hmac.digest(self._secret, f"{name}\n{until}".encode(), "sha256")
        return base64.urlsafe_b64encode(made).decode("ascii").rstrip("=")


class SegmentServer:
    """Serves the sealed segments of a home until it is closed."""

    def __init__(
        self,
        address: tuple[str, int],
        certificate: Certificate,
        segments: Path,
        tokens: Tokens,
        allowance: Allowance | None = None,
    ) -> None:
        """Bind; raises OSError. allowance: how fast and when; None: at any rate and time."""

        def rate() -> int:
            return 0 if allowance is None else allowance.bytes_per_s

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate.certificate, certificate.key)
        parts = {"segments": segments, "tokens": tokens, "allowance": allowance, "pace": Pace(rate)}
        handler = type("Handler", (_Handler,), parts)
        self._server = _Server(address, handler, context)

    @property
    def port(self) -> int:
        """Return the port, also where any free one was asked for."""
        return int(self._server.server_address[1])

    def serve(self) -> None:
        """Serve until `close` is called from another thread."""
        self._server.serve_forever(poll_interval=0.5)

    def close(self) -> None:
        """End; requests under way are cut, and continue later."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """A thread a connection, so many at most; the handshake is the thread's, not everybody's."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: Any, context: ssl.SSLContext) -> None:
        super().__init__(address, handler)
        self._context = context
        self._open = 0
        self._strangers: dict[int, threading.Timer] = {}  # by descriptor

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Shake hands and serve one connection."""
        if self._open >= CONNECTIONS:
            self.shutdown_request(request)
            return
        self._open += 1
        try:
            request.settimeout(IDLE_S)
            with suppress(OSError), self._tls_handshake(request) as secured:
                secured.do_handshake()
                self.finish_request(secured, client_address)
        finally:
            self._open -= 1
            self.shutdown_request(request)

    @contextmanager
    def _tls_handshake(self, request: socket.socket) -> Iterator[ssl.SSLSocket]:
        """Give the connection, which is hung up unless `trust` is called of it in time."""
        with self._context.wrap_socket(
            request, server_side=True, do_handshake_on_connect=False
        ) as secured:
            number = secured.fileno()
            timer = threading.Timer(STRANGER_S, _hang_up, (secured,))
            timer.daemon = True
            self._strangers[number] = timer
            timer.start()
            try:
                yield secured
            finally:
                self.trust(number)

    def trust(self, number: int) -> None:
        """Keep a connection that showed a token. number: its descriptor."""
        timer = self._strangers.pop(number, None)
        if timer is not None:
            timer.cancel()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


def _hang_up(connection: ssl.SSLSocket) -> None:
    with suppress(OSError):
        # TLS's own goodbye belongs to the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """GET of a segment, from a byte on."""

    segments: ClassVar[Path]
    tokens: ClassVar[Tokens]
    allowance: ClassVar[Allowance | None]
    pace: ClassVar[Pace]
    protocol_version = "HTTP/1.1"
    server_version = "PRS"
    sys_version = ""
    timeout = IDLE_S

    def do_GET(self) -> None:
        """Send a segment to who shows its token."""
        name = self.path.removeprefix(PREFIX)
        if not self.path.startswith(PREFIX) or not _NAME.fullmatch(name):
            self._say(404, "segment not found here")
            return
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self.tokens.knows(token.strip()[:200], name):
            self._say(403, "the token is for another segment, or has expired")
            return
        assert isinstance(self.server, _Server)
        self.server.trust(self.connection.fileno())
        if not self._is_open():
            self._say(503, "this site sends no segments at this hour")
            return
        path = self.segments / name
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            self._say(404, "segment not found here")
            return
        with os.fdopen(handle, "rb") as file:
            size_bytes = os.fstat(handle).st_size
            wanted = self.headers.get("Range", "")
            found = _RANGE.fullmatch(wanted) if wanted else None
            start = int(found[1]) if found else 0
            if start >= size_bytes:
                self._say(416, f"the segment has {size_bytes} bytes")
                return
            self.send_response(206 if found else 200)
            if found:
                self.send_header("Content-Range", f"bytes {start}-{size_bytes - 1}/{size_bytes}")
            self.send_header("Content-Type", "application/gzip")
            self.send_header("Content-Length", str(size_bytes - start))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            file.seek(start)
            while data := file.read(PIECE_BYTES):
                if not self._is_open():  # the hour struck: the rest goes another time
                    self.close_connection = True
                    return
                time.sleep(self.pace.wait_s(len(data)))
                self.wfile.write(data)

    def _is_open(self) -> bool:
        return self.allowance is None or self.allowance.is_open()

    def _say(self, status: int, sentence: str) -> None:
        body = f"{sentence}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's word
        """Keep quiet: the manager's side has the log."""
