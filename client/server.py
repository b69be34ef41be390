"""Calls to a centre, with patience: a broken line and a busy centre are tried again.

Invariant: 429 and 503 are waited for as long as the centre says, within a limit; a refusal is not
tried again; the token goes to the centre that it is for, and nowhere else.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from client.account import Account
from client.errors import RefusedError, UnreachableError

__all__ = ["Server"]

TRIES: Final = 6
LONGEST_WAIT_S: Final = 300.0
_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})


class Server:
    """A centre, as the commands call it; any thread may."""

    def __init__(
        self,
        account: Account,
        transport: httpx.BaseTransport | None = None,
        *,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tries = tries
        self._sleep = sleep
        self._home = urlsplit(account.url).netloc
        self._client = httpx.Client(
            base_url=account.url,
            transport=transport,
            timeout=httpx.Timeout(120, connect=20),
            headers={
                "Authorization": f"Bearer {account.token}",
                "User-Agent": "prs-get",
                # Captures are compressed, and their digests are of the compressed bytes.
                "Accept-Encoding": "identity",
            },
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, **params: object) -> Any:
        """Return the JSON of a GET; parameters that are None or empty are left out."""
        query = {name: str(value) for name, value in params.items() if value not in (None, "")}
        return self._answered("GET", path, params=query).json()

    def post(self, path: str, body: object) -> Any:
        """Return the JSON of a POST."""
        return self._answered("POST", path, json=body).json()

    def _answered(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(self._tries):
            try:
                answer = self._client.request(method, self._path(path), **options)
            except httpx.TransportError as error:
                self.wait(attempt, str(error) or type(error).__name__)
                continue
            if answer.is_success:
                return answer
            self._refused(answer, attempt)
        raise AssertionError("the last wait raises")

    @contextmanager
    def stream(self, path: str, fields: dict[str, str]) -> Iterator[httpx.Response]:
        """Give the answer to one GET, its body to be read; raises httpx.TransportError."""
        with self._client.stream("GET", self._path(path), headers=fields) as answer:
            if not answer.is_success:
                answer.read()
            yield answer

    def _refused(self, answer: httpx.Response, attempt: int) -> None:
        """Wait before the next try, or raise RefusedError."""
        if answer.status_code not in _AGAIN:
            raise RefusedError(sentence(answer), answer.status_code)
        said = answer.headers.get("retry-after", "")
        wait_s = float(said) if said.isdigit() else None
        if wait_s is not None and wait_s > LONGEST_WAIT_S:
            raise RefusedError(f"{sentence(answer)} (in {wait_s:.0f} s)", answer.status_code)
        self.wait(attempt, sentence(answer), wait_s)

    refused = _refused

    def wait(self, attempt: int, why: str, wait_s: float | None = None) -> None:
        """Wait before the next try; raises UnreachableError when there were enough."""
        if attempt + 1 >= self._tries:
            raise UnreachableError(f"{why}: given up after {self._tries} tries; try again later")
        if wait_s is None:
            wait_s = min(60.0, 2.0**attempt) * (0.5 + random.random() / 2)  # noqa: S311
        self._sleep(wait_s)

    def _path(self, address: str) -> str:
        """Return a path of the centre; raises RefusedError for an address elsewhere."""
        parts = urlsplit(address)
        if parts.netloc and parts.netloc != self._home:
            raise RefusedError(
                f"the centre names {parts.netloc}, and the token is for {self._home}: "
                "its administrator should set server.public_url"
            )
        return parts.path + (f"?{parts.query}" if parts.query else "")


def sentence(answer: httpx.Response) -> str:
    """Return what the centre says of a refusal."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        words = answer.text.strip().splitlines()
        shown = words[0][:300] if words and "<" not in words[0] else answer.reason_phrase
        return f"{answer.status_code}: {shown}"
