"""Requests to the server with the token: answers are checked, failures are split by blame.

Invariant: addresses are made here from the login's and a path of ours, never taken from an answer,
and no redirection is followed; so the token reaches one server. Answers that are not files are
read up to a limit, and not at all where they are compressed: a kilobyte would become a gigabyte
before anybody counts it.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

import httpx

from client.errors import (
    ClientError,
    CutError,
    DamagedError,
    GoneError,
    LaterError,
    RefusedError,
    TokenError,
    UnreachableError,
)
from client.login import Login
from client.names import plain
from client.retry import Patience, RetryPolicy, retry_after_s

__all__ = ["Server"]

CONNECT_S: Final = 20.0
SILENT_S: Final = 60.0
ANSWER_BYTES: Final = 64 * 1024**2
SENTENCE_BYTES: Final = 64 * 1024
SENTENCE: Final = 500
PROXY_LOGIN: Final = (
    "the proxy wants a name and a password: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT/"
)

_AGAIN: Final = frozenset({408, 425, 500, 502, 504})
Query = Sequence[tuple[str, str]]


class Server:
    """A server and the token for it; any thread may ask. Use it in a `with` statement."""

    def __init__(
        self,
        login: Login,
        patience: Patience,
        *,
        connections: int = 1,
        silent_s: float = SILENT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """silent_s: a connection that says nothing for so long is given up. Raises ClientError."""
        self.url = login.url
        """Its address, with a slash at its end."""
        self.patience = patience
        try:
            self._client = httpx.Client(
                headers={
                    "Authorization": f"Bearer {login.token}",
                    "User-Agent": "prs-get",
                    "Accept-Encoding": "identity",
                },
                timeout=httpx.Timeout(silent_s, connect=CONNECT_S, pool=None),
                limits=httpx.Limits(max_connections=connections + 1),
                verify=_trust(login.ca),
                proxy=login.proxy or None,
                transport=transport,
                follow_redirects=False,
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise ClientError(f"proxy: cannot be used ({error})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def json(self, path: str, query: Query = (), *, body: object = None) -> Any:
        """Return the JSON of a GET, or of a POST where there is a body; raises ClientError."""
        retrying = RetryPolicy(self.patience, self.url.rstrip("/"))
        while True:
            try:
                with self.stream(path, {}, query=query, body=body) as answer:
                    return _json(_read(answer, ANSWER_BYTES))
            except (CutError, LaterError) as error:
                retrying.failed(error)

    @contextmanager
    def stream(
        self,
        path: str,
        fields: Mapping[str, str],
        *,
        query: Query = (),
        body: object = None,
        also: Collection[int] = (),
    ) -> Iterator[httpx.Response]:
        """Ask once, and give the answer with its bytes unread; raises ClientError.

        path: without a slash in front. also: statuses beside 2xx that are the caller's to judge.
        """
        self.patience.wait_for_quiet()
        method = "GET" if body is None else "POST"
        request = self._client.build_request(
            method,
            self.url + path,
            params=list(query) or None,
            headers=dict(fields),
            json=body,
        )
        try:
            answer = self._client.send(request, stream=True)
            try:
                if not answer.is_success and answer.status_code not in also:
                    raise _failure(answer)
                yield answer
            finally:
                answer.close()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: httpx.HTTPError) -> UnreachableError:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return UnreachableError(
                    f"{self.url}: its certificate is not trusted ({cause.verify_message}); with a "
                    "certificate of your own authority, name it: --ca FILE"
                )
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, httpx.ProxyError) and "407" in str(error):
            return UnreachableError(PROXY_LOGIN)
        if isinstance(error, httpx.TimeoutException):
            return CutError(f"{self.url}: silent for too long")
        return CutError(f"{self.url}: {plain(str(error))[:200] or type(error).__name__}")


def _trust(ca: str) -> ssl.SSLContext | bool:
    if not ca:
        return True
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise ClientError(f"--ca {ca}: is no file of PEM certificates ({error})") from error


def _failure(answer: httpx.Response) -> ClientError:
    status = answer.status_code
    sentence = _sentence(answer)
    if status in (401, 403):
        return TokenError(sentence)
    if status == 410:
        return GoneError(status, sentence)
    if status in (429, 503):
        fields = answer.headers
        after_s = retry_after_s(fields.get("retry-after", ""), time.time(), fields.get("date"))
        return LaterError(sentence, after_s)
    if status in _AGAIN:
        return CutError(sentence)
    if status == 407:
        return UnreachableError(PROXY_LOGIN)
    if answer.is_redirect:
        return RefusedError(
            status,
            f"the server sends us to {plain(answer.headers.get('location', ''))[:200]!a}, and the "
            "token is sent to no other server; log in there, if that is the right one",
        )
    return RefusedError(status, sentence)


def _sentence(answer: httpx.Response) -> str:
    try:
        told = _read(answer, SENTENCE_BYTES)
        kind = answer.headers.get("content-type", "")
        if kind.startswith(("application/json", "application/problem+json")):
            return plain(str(json.loads(told)["detail"]))[:SENTENCE]
        if kind.startswith("text/plain"):
            return plain(told.decode("utf-8", "replace").strip())[:SENTENCE]
    except (httpx.HTTPError, ClientError, ValueError, KeyError, TypeError):
        pass
    return f"the answer was {answer.status_code} {plain(answer.reason_phrase)[:60]}"


def _read(answer: httpx.Response, most: int) -> bytes:
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise CutError(f"an answer is encoded ({plain(coding)[:20]!a}), which was not requested")
    read = bytearray()
    for piece in answer.iter_bytes():
        read += piece
        if len(read) > most:
            raise DamagedError(f"an answer has more than {most} bytes; tell the administrator")
    return bytes(read)


def _json(told: bytes) -> Any:
    try:
        return json.loads(told) if told else None
    except (ValueError, RecursionError) as error:
        raise CutError("the answer is no JSON: something between answers for the server") from error
