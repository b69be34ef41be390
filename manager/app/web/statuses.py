"""Errors become status codes, here and nowhere else. Status codes are a language (design 3, 8).

    400 the bytes do not follow their grammar     409 stale, or contradicts what happened
    401 unknown key                               413 larger than a limit
    403 blocked, or not yours                     426 a protocol version that is no longer spoken
    404 unknown                                   429 too often; Retry-After
    408 the body came too slowly                  414 an address of too many parameters
                                                  503 no room or no database now; Retry-After
    405 a method that this address has not        500 our fault; the log has the request's id
    410 it was here once                          415 a body of a type that is not read here
                                                  (tus has 412, 423, 460, 507 besides)

Every answer says what, value, limit and remedy: plain text for the five messages, JSON with the
sentence in `detail` for everything under `/api`. The fault's code for programs is `code` in JSON
and `X-Error-Code` everywhere; of a line, `line` is its number. Nothing of an inner error goes out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response

from manager.app.web.contract.methods import allowed
from manager.balancing import BalancingError
from manager.errors import (
    BusyError,
    ConflictError,
    ForbiddenError,
    GoneError,
    LimitError,
    NotFoundError,
    PrsmError,
    SlowDownError,
    TooOldError,
    UnknownKeyError,
    UnsupportedTypeError,
)
from manager.intake.body_receiver import SlowSenderError
from shared.errors import Fault, FormatError, UrlError

__all__ = ["STATUS_OF", "answer", "answer_to", "speak_errors", "status_of"]

_log: Final = logging.getLogger(__name__)

STATUS_OF: Final[tuple[tuple[type[PrsmError], int], ...]] = (
    (UnknownKeyError, 401),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (SlowSenderError, 408),
    (GoneError, 410),
    (ConflictError, 409),
    (UnsupportedTypeError, 415),
    (SlowDownError, 429),
    (LimitError, 413),
    (TooOldError, 426),
    (BusyError, 503),
    (FormatError, 400),
    (UrlError, 400),
    (BalancingError, 400),
)
"""First match wins: a subclass stands before its parent."""

_CODES: Final = {
    400: "format",
    401: UnknownKeyError.code,
    403: ForbiddenError.code,
    404: NotFoundError.code,
    405: "method_not_allowed",
    413: LimitError.code,
    415: "content_type",
}
"""Of refusals by the web framework, by status code."""

_HEADERS: Final[dict[int, dict[str, str]]] = {
    401: {"WWW-Authenticate": 'Bearer realm="prsm"'},
    426: {"Upgrade": "PRSM"},
}


def status_of(error: PrsmError) -> int | None:
    """Return the status code of a refusal; None where it is the manager's own failure."""
    return next((code for kind, code in STATUS_OF if isinstance(error, kind)), None)


def speak_errors(app: FastAPI) -> None:
    """Install the answers to all errors in an application."""
    for kind, said in _ANSWERS:
        app.add_exception_handler(kind, said)


def answer_to(request: Request, error: Exception) -> Response:
    """Return what an application with `speak_errors` answers where this error ends a request."""
    return next(said for kind, said in _ANSWERS if isinstance(error, kind))(request, error)


def _refused(request: Request, error: Exception) -> Response:
    status = status_of(error) if isinstance(error, PrsmError) else None
    if status is None:
        return _broken(request, error)
    headers = dict(_HEADERS.get(status, {}))
    if isinstance(error, BusyError | SlowDownError):
        headers["Retry-After"] = str(max(1, error.retry_after_s))
    if status >= 500:
        _log.warning("%s %s: %s", request.method, request.url.path, error)
    assert isinstance(error, PrsmError)
    return answer(request, status, str(error), headers, code=error.code, facts=error.facts)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, PrsmError):
        # FastAPI wraps whatever goes wrong while it reads a body.
        return _refused(request, error.__cause__)
    sentence = error.detail
    if error.status_code == 404 and error.detail == "Not Found":
        sentence = f"{request.url.path}: there is nothing here; see /api/v1/openapi.json"
    if error.status_code == 405 and error.headers is not None:
        there = allowed(request.app.router.routes, request.scope)
        sentence = f"{request.method} {request.url.path}: use {', '.join(sorted(there))}"
    headers = dict(error.headers or {})
    return answer(
        request, error.status_code, sentence, headers, code=_CODES.get(error.status_code, "refused")
    )


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    sentences = [_one(each) for each in error.errors()[:10]]
    return answer(request, 400, "; ".join(sentences), {}, code=Fault.INVALID_VALUE)


def _one(found: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in found["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'body'}: {found['msg']}"


def _gone(request: Request, error: Exception) -> Response:
    # Nobody reads this; the log need not know of every line that broke.
    sentence = "the connection ended in the middle of the body"
    return answer(request, 400, sentence, {}, code="connection_ended")


def _broken(request: Request, error: Exception) -> Response:
    request_id = getattr(request.state, "request_id", "-")
    _log.error(
        "request %s: %s %s failed", request_id, request.method, request.url.path, exc_info=error
    )
    sentence = (
        f"the manager failed on this request; its log tells more under {request_id}. "
        "Try again later, and tell the administrator"
    )
    return answer(request, 500, sentence, {}, code="failed")


def answer(
    request: Request,
    status: int,
    sentence: str,
    headers: dict[str, str],
    *,
    code: str,
    facts: Mapping[str, object] | None = None,
) -> Response:
    """Return an answer of one sentence, as its address speaks: JSON below `/api`, or plain text.

    code: of the fault, for programs. facts: its parameters, by name, as the line of a body.
    """
    headers = {"X-Error-Code": code, **headers}
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": sentence, "code": code, **(facts or {})}, status, headers)
    return PlainTextResponse(sentence + "\n", status, headers)


_ANSWERS: Final[tuple[tuple[type[Exception], Callable[[Request, Exception], Response]], ...]] = (
    (PrsmError, _refused),
    (HTTPException, _http),
    (RequestValidationError, _invalid),
    (ClientDisconnect, _gone),
    (Exception, _broken),
)
"""First match wins."""
