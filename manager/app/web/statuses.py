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

Every answer says what, value, limit and remedy: plain text for the five messages, a problem of RFC
9457 (`application/problem+json`) for everything under `/api`: `detail` is the sentence, in the
language of Accept-Language, `code` and `params` are its message, `kind` the sort of refusal. The
code stands in `X-Error-Code`, too. Nothing of an inner error goes out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response

from manager.app.web.contract.invalid_values import invalid_value
from manager.app.web.contract.methods import allowed
from manager.balancing.errors import BalancingError
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
from manager.intake.messages.message_check import MISTAKES_SHOWN
from shared.errors import Fault, FormatError, UrlError
from shared.messages import Message
from shared.messages.language import choose
from shared.messages.message import TEXT
from shared.wire.problems import PROBLEM_JSON, problem_of

__all__ = ["STATUS_OF", "answer", "answer_to", "install_error_handlers", "refuse", "status_of"]

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

_KINDS: Final = {
    400: "format",
    401: UnknownKeyError.kind,
    403: ForbiddenError.kind,
    404: NotFoundError.kind,
    405: "method_not_allowed",
    413: LimitError.kind,
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


def install_error_handlers(app: FastAPI) -> None:
    """Install the answers to all errors in an application."""
    for kind, said in _ANSWERS:
        app.add_exception_handler(kind, said)


def answer_to(request: Request, error: Exception) -> Response:
    """Return the answer of `install_error_handlers` to a request that ends with this error."""
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
    return refuse(request, status, error, headers)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, PrsmError):
        # FastAPI wraps whatever goes wrong while it reads a body.
        return _refused(request, error.__cause__)
    message = Message.of_text(str(error.detail))
    if error.status_code == 404 and error.detail == "Not Found":
        message = Message("requests.unknown_path", path=request.url.path[:200])
    if error.status_code == 405 and error.headers is not None:
        there = allowed(request.app.router.routes, request.scope)
        message = Message(
            "requests.method_not_allowed",
            method=request.method,
            path=request.url.path[:200],
            allowed=sorted(there),
        )
    headers = dict(error.headers or {})
    kind = _KINDS.get(error.status_code, PrsmError.kind)
    code = kind if message.code == TEXT else message.code
    return answer(request, error.status_code, message, headers, kind=kind, code=code)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [invalid_value(each) for each in error.errors()[:MISTAKES_SHOWN]]
    message = Message("requests.invalid_values", values=wrong)
    return answer(request, 400, message, {}, kind=FormatError.kind, code=Fault.INVALID_VALUE)


def _gone(request: Request, error: Exception) -> Response:
    # No client reads this; the log need not record every broken connection.
    message = Message("requests.connection_ended")
    return answer(request, 400, message, {}, kind=FormatError.kind, code="connection_ended")


def _broken(request: Request, error: Exception) -> Response:
    request_id = getattr(request.state, "request_id", "-")
    _log.error(
        "request %s: %s %s failed", request_id, request.method, request.url.path, exc_info=error
    )
    message = Message("requests.failed", request_id=request_id)
    return answer(request, 500, message, {}, kind="failed", code="failed")


def refuse(
    request: Request, status: int, error: PrsmError, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that is refused with an error."""
    return answer(
        request, status, error.message, headers or {}, kind=error.kind, code=error.code,
        facts=error.facts,
    )  # fmt: skip


def answer(
    request: Request,
    status: int,
    message: Message,
    headers: Mapping[str, str],
    *,
    kind: str,
    code: str,
    facts: Mapping[str, object] | None = None,
) -> Response:
    """Return an answer of one message: a problem below `/api` (RFC 9457), elsewhere plain text.

    kind, code: of the refusal, for programs. facts: more members of the problem, by name.
    """
    if not request.url.path.startswith("/api/"):
        return PlainTextResponse(f"{message}\n", status, {"X-Error-Code": code, **headers})
    language = choose("", request.headers.get("accept-language", ""))
    problem = problem_of(status, message, language, kind=kind, code=code, facts=facts)
    told = {"X-Error-Code": code, "Content-Language": language, "Vary": "Accept-Language"}
    return JSONResponse(problem, status, {**told, **headers}, PROBLEM_JSON)


_ANSWERS: Final[tuple[tuple[type[Exception], Callable[[Request, Exception], Response]], ...]] = (
    (PrsmError, _refused),
    (HTTPException, _http),
    (RequestValidationError, _invalid),
    (ClientDisconnect, _gone),
    (Exception, _broken),
)
"""First match wins."""
