"""A client that remembers what it was promised: reports that the manager said it has."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx

from benchmarks.faults.evidence.observations import Acknowledged
from shared.wire.crawl_log import LogLine, LogName, encode, encode_name
from shared.wire.names import hash_of_key, new_key

__all__ = ["Answer", "Witness"]

FIRST: Final = datetime(2025, 1, 1, tzinfo=UTC)  # each report is of another minute
PATIENCE_S: Final = 5.0  # so that a request that hung is not measured at twice its time
JOIN_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A request: when it began and ended, and the answer. good: the report is kept now."""

    began_s: float
    ended_s: float
    good: bool
    said: str


class Witness:
    """An agent that crawls nothing: it joined, left, and sends reports, which are kept as data."""

    def __init__(self, name: str, url: str, token: str, log: Path) -> None:
        """log: gets a line for each acknowledged report, as `check --acknowledged` reads it."""
        self.name = name
        self.answers: list[Answer] = []
        self.acknowledged: list[Acknowledged] = []
        self._url = url
        self._log = log
        self._number = 0
        self._body = b""
        key = new_key()
        self._headers = {"Authorization": f"Bearer {key}"}
        with self._client() as client:
            client.timeout = JOIN_S
            joined = {"agent": name, "token": token, "key_hash": hash_of_key(key), "kind": "plain"}
            for answer in (
                client.post("/api/v1/enrol", json=joined),
                client.get("/servlets/unsubscribe", params={"host": name}),
            ):
                answer.raise_for_status()

    def send_next(self) -> Answer:
        """Send the report that is not acknowledged yet, or the next one."""
        if not self._body:
            self._body = self._report()
        began_s = time.monotonic()
        try:
            with self._client() as client:
                got = client.post("/servlets/submitlog", content=self._body)
            good, said = (
                got.status_code == httpx.codes.OK,
                f"{got.status_code} {' '.join(got.text.split())[:120]}",
            )
        except httpx.HTTPError as error:
            good, said = False, f"{type(error).__name__} {error}"
        answer = Answer(began_s, time.monotonic(), good, said)
        if good:
            self._note(hashlib.sha256(self._body).hexdigest())
            self._body = b""
        self.answers.append(answer)
        return answer

    def _note(self, sha256: str) -> None:
        self.acknowledged.append(Acknowledged(self.name, sha256))
        with self._log.open("a") as log:
            log.write(json.dumps({"agent": self.name, "sha256": sha256}) + "\n")

    def _report(self) -> bytes:
        self._number += 1
        minute = (FIRST + timedelta(minutes=self._number)).strftime("%Y%m%d%H%M")
        line = LogLine(
            f"http://www.example.jp/{self._number}", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n"
        )
        return encode_name(LogName(self.name, minute)) + b"".join(encode([line]))

    def _client(self) -> httpx.Client:
        # A new connection each time: what a client kept open says nothing of the front.
        return httpx.Client(
            base_url=self._url, headers=self._headers, timeout=PATIENCE_S, verify=False
        )
