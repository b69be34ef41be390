"""Fetches segments from agents that serve them (`prs serve`): from the byte on, pinned, by token.

The certificate is the one whose SHA-256 the agent told by sync; no other is spoken to, and the
token goes out only behind it. Bytes go where those of pushes go, and count the same way, so a file
may come by both. Invariant: an address is connected to only where a robot might be sent too: what
an agent says of itself must not lead into the centre's own network.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from manager.db import Database
from manager.intake.uploads.upload_bodies import verify_upload
from manager.operations.segments import uploads
from manager.operations.segments.pulls import due_pulls, pull_failed
from manager.operations.segments.upload_bytes import record_bytes
from manager.operations.segments.uploads import TransferRow
from manager.store import UploadPart, UploadParts
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.naming import AddressRules

__all__ = ["SegmentPull"]

CONNECT_S: Final = 20.0
READ_BYTES: Final = 1024**2
NOTED_BYTES: Final = 8 * 1024**2
PORT: Final = 443

_log: Final = logging.getLogger(__name__)


class PullError(PrsmError):
    """A fetch that did not complete; the received bytes are kept."""


@frozen
class SegmentPull:
    """Fetches what is due; called by the clock, never twice at once.

    rules: which addresses may be connected to. idle_s: how long nothing may come.
    """

    db: Database
    parts: UploadParts
    rules: AddressRules
    now_ms: Callable[[], int]
    idle_s: float

    def fetch_due(self) -> int:
        """Fetch every file that is due, one after the other; return how many were tried."""
        rows = due_pulls(self.db, self.now_ms())
        for row in rows:
            try:
                self._fetch(row)
            except (PrsmError, OSError, http.client.HTTPException) as error:
                why = _reason(error)
                _log.info("fetching %s of agent %d: %s", row.filename, row.agent_id, why)
                pull_failed(self.db, row, why, self.now_ms())
        return len(rows)

    def _fetch(self, row: TransferRow) -> None:
        source = json.loads(row.source)
        start = uploads.offset(row)
        self.parts.check_room(row.size_bytes - start)
        with self.parts.open(row.key) as part:
            connection = self._connected(str(source["url"]), str(source["fingerprint"]))
            try:
                headers = {"Authorization": f"Bearer {source['token']}", "Range": f"bytes={start}-"}
                connection.request("GET", f"/segments/{row.filename}", headers=headers)
                answer = connection.getresponse()
                if answer.status != 206:
                    with suppress(OSError):
                        said = answer.read(300).decode("utf-8", "replace").strip()
                        raise PullError("segments.pull_refused", status=answer.status, answer=said)
                _check_range(answer, start, row.size_bytes)
                row = self._taken(row, part, answer, start)
            finally:
                connection.close()
            if uploads.offset(row) == row.size_bytes:
                verify_upload(self.db, self.parts, row, part, self.now_ms)

    def _taken(
        self, row: TransferRow, part: UploadPart, answer: http.client.HTTPResponse, start: int
    ) -> TransferRow:
        at = noted = start
        try:
            while at < row.size_bytes:
                # What is there: a line that breaks must not take a megabyte with it.
                data = answer.read1(min(READ_BYTES, row.size_bytes - at))
                if not data:
                    raise PullError("segments.pull_ended", at=at, size=row.size_bytes)
                part.write(at, data)
                at += len(data)
                if at - noted >= NOTED_BYTES:
                    part.sync()
                    row, noted = record_bytes(self.db, row, noted, at, self.now_ms()), at
        finally:
            if at > noted:
                part.sync()
                row = record_bytes(
                    self.db, row, noted, at, self.now_ms(), broke=at < row.size_bytes
                )
        return row

    def _connected(self, url: str, fingerprint: str) -> http.client.HTTPSConnection:
        """Return a connection to whose certificate is the one that was told."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORT
        address = self._address(host, port)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # pinned below, before any data is sent
        raw = socket.create_connection((address, port), timeout=CONNECT_S)
        try:
            raw.settimeout(self.idle_s)
            secured = context.wrap_socket(raw, server_hostname=host)
        except BaseException:
            raw.close()
            raise
        shown = hashlib.sha256(secured.getpeercert(binary_form=True) or b"").hexdigest()
        if shown != fingerprint:
            secured.close()
            raise PullError(
                "segments.pull_certificate",
                place=f"{host}:{port}",
                shown=shown,
                expected=fingerprint,
            )
        connection = http.client.HTTPSConnection(host, port, timeout=self.idle_s)
        connection.sock = secured
        return connection

    def _address(self, host: str, port: int) -> str:
        refused = PullError("segments.pull_no_address", host=host)
        for _, _, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            address = str(place[0])
            why = self.rules.refusal(address)
            if why is None:
                return address
            refused = PullError("segments.pull_address", host=host, why=why)
        raise refused


def _reason(error: PrsmError | OSError | http.client.HTTPException) -> Message:
    """Return why a fetch failed: in our words, or the system's."""
    if isinstance(error, PrsmError):
        return error.message
    return Message.of_text((str(error) or type(error).__name__)[:500])


def _check_range(answer: http.client.HTTPResponse, start: int, size_bytes: int) -> None:
    told = answer.headers.get("Content-Range", "")
    if told != f"bytes {start}-{size_bytes - 1}/{size_bytes}":
        raise PullError("segments.pull_range", range=told[:60], start=start, size_bytes=size_bytes)
