"""Downloads under way: progress, stored every few seconds.

A download is a token and a name. A request for the first byte starts it again; a request for
others continues it: clients do this after a broken connection, and with several ranges at a time.
Invariant: sent bytes are counted once, here or in the database; a kill loses a few seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from manager.db import Database
from manager.distribution.usage import Usage
from manager.errors import SlowDownError
from manager.operations.archive.downloads import Taken, store_downloads
from manager.operations.people.clients import Client
from shared.frozen import values_of
from shared.messages import Message

__all__ = ["Download", "Downloads"]

NAME_CHARACTERS: Final = 400

RETRY_S: Final = 5


@dataclass
class _Counted:
    """A download since it was written down last: `Taken`, but that it changes.

    active: its requests that are being answered.
    """

    token_id: int
    name: str
    begun_ms: int
    last_ms: int
    size_bytes: int
    afresh: bool
    state: str = "going"
    problem: Message | None = None
    sent_bytes: int = 0
    requests: int = 0
    active: int = 0


class Downloads:
    """All downloads of this manager; any thread may ask."""

    def __init__(
        self, db: Database, usage: Usage, now_ms: Callable[[], int], of_a_token: int = 32
    ) -> None:
        """of_a_token: downloads of one token at a time; each keeps a connection."""
        self._of_a_token = of_a_token
        self._db = db
        self._usage = usage
        self._now_ms = now_ms
        self._changing = threading.Lock()
        self._counted: dict[tuple[int, str], _Counted] = {}

    def check_share(self, client: Client) -> None:
        """Raise SlowDownError where a token has as many under way as it may."""
        with self._changing:
            active = sum(
                one.active for (token, _), one in self._counted.items() if token == client.token_id
            )
        if active >= self._of_a_token:
            raise SlowDownError(
                "archive.too_many_downloads", RETRY_S, active=active, limit=self._of_a_token
            )

    def begin(self, client: Client, name: str, size_bytes: int, start: int) -> Download:
        """Start or continue a download. size_bytes: 0: not known; start: its first byte."""
        with self._changing:
            counted = self._of(client, name, size_bytes, start)
            counted.requests += 1
            counted.active += 1
        return Download(self, client, counted)

    def _of(self, client: Client, name: str, size_bytes: int, start: int) -> _Counted:
        now_ms = self._now_ms()
        key = (client.token_id, name[:NAME_CHARACTERS])
        counted = self._counted.get(key)
        if counted is None or (start == 0 and not counted.active):
            counted = _Counted(*key, now_ms, now_ms, size_bytes, afresh=start == 0)
            self._counted[key] = counted
        counted.state, counted.problem, counted.last_ms = "going", None, now_ms
        return counted

    def allow(self, client: Client, name: str, size_bytes: int, start: int, end: int) -> None:
        """Count bytes that a web server in front sends: all at once, as they are allowed."""
        self._usage.took(client, end - start)
        with self._changing:
            self._of(client, name, size_bytes, start).requests += 1

    def piece(self, client: Client, name: str, size_bytes: int, start: int, end: int) -> None:
        """Note that a web server in front is about to send a piece."""
        now_ms = self._now_ms()
        with self._changing:
            counted = self._of(client, name, size_bytes, max(1, start))
            counted.sent_bytes += end - start
            counted.last_ms = now_ms
            counted.state = "done" if end >= size_bytes else "going"

    def sent(self, client: Client, counted: _Counted, size_bytes: int) -> None:
        """Count bytes of a download."""
        self._usage.took(client, size_bytes)
        now_ms = self._now_ms()
        with self._changing:
            counted.sent_bytes += size_bytes
            counted.last_ms = now_ms

    def ended(self, counted: _Counted, problem: Message | None) -> None:
        """Note that a request of a download was answered, or why not to its end."""
        with self._changing:
            counted.active -= 1
            if counted.active == 0 or problem:
                counted.state, counted.problem = "cut" if problem else "done", problem

    def flush(self) -> None:
        """Store the counts; keeps them if the database is unreachable."""
        with self._changing:
            pairs = [(one, Taken(**values_of(one, Taken))) for one in self._counted.values()]
        store_downloads(self._db, [taken for _, taken in pairs])
        with self._changing:
            for counted, taken in pairs:
                counted.sent_bytes -= taken.sent_bytes
                counted.requests -= taken.requests
                counted.afresh = False
                came = counted.requests or counted.sent_bytes or counted.state != taken.state
                still = counted.active or came
                key = (counted.token_id, counted.name)
                if self._counted.get(key) is counted and not still:
                    del self._counted[key]


class Download:
    """One download: a context that records its end."""

    def __init__(self, downloads: Downloads, client: Client, counted: _Counted) -> None:
        self._downloads = downloads
        self._client = client
        self._counted = counted
        self.problem = Message("archive.connection_ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._downloads.ended(self._counted, None if kind is None else self.problem)

    def sent(self, size_bytes: int) -> None:
        """Count bytes that were sent."""
        self._downloads.sent(self._client, self._counted, size_bytes)
