"""Each error has one status code and a sentence; nothing inner goes out."""

from __future__ import annotations

import inspect
import logging
from http import HTTPStatus

import pytest
from fastapi import FastAPI

import manager.errors
import shared.errors
from manager.app.web.connection import Connection, Entrance
from manager.app.web.statuses import STATUS_OF, install_error_handlers
from manager.errors import (
    BusyError,
    CloneError,
    ConflictError,
    ForbiddenError,
    LimitError,
    NotFoundError,
    PrsmError,
    SlowDownError,
    StalePlanError,
    TooOldError,
    UnknownKeyError,
)
from manager.intake.body_receiver import SlowSenderError
from manager.store import StoreFullError
from shared.errors import FormatError, LineError, SettingError, UrlError
from tests.manager.asgi import Caller


def raising(error: Exception) -> Caller:
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/servlets/x")
    @app.get("/api/v1/x")
    def fail(number: int = 0) -> None:
        raise error

    return Caller(Connection(app, Entrance(local=False), lambda _: None))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownKeyError("x"), 401), (ForbiddenError("x"), 403), (NotFoundError("x"), 404),
        (SlowSenderError("x"), 408), (ConflictError("x"), 409), (CloneError("x"), 409),
        (StalePlanError("x"), 409), (LimitError("x"), 413), (TooOldError("x"), 426),
        (SlowDownError("x", 7), 429), (BusyError("x", 7), 503), (StoreFullError("x"), 503),
        (FormatError("x"), 400), (LineError(3, "x"), 400), (UrlError("x"), 400),
    ],
)  # fmt: skip
def test_each_error_has_its_status(error: PrsmError, status: int) -> None:
    """The status is the documented one; the sentence is text for agents, JSON for programs."""
    at = raising(error)
    text = at.get("/servlets/x")
    assert (text.status_code, text.text) == (status, f"{error}\n")
    assert text.headers["x-error-code"] == error.code
    answer = at.get("/api/v1/x")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": f"urn:prsm:problem:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": str(error),
        "code": error.code,
        "kind": error.kind,
        "params": error.message.as_json()["params"],
        **({"line": error.line} if isinstance(error, LineError) else {}),
    }
    if status in (429, 503):
        assert int(text.headers["retry-after"]) > 0
    if status == 401:
        assert text.headers["www-authenticate"].startswith("Bearer")


def test_no_error_of_the_trees_is_forgotten() -> None:
    """Every error that a request can meet is mapped; settings end the program before."""
    known = tuple(kind for kind, _ in STATUS_OF)
    for module in (manager.errors, shared.errors):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(kind, PrsmError)
                and kind not in (PrsmError, SettingError)
                and not kind.__name__.startswith("_")
            ):
                assert issubclass(kind, known), kind
    for index, (kind, _) in enumerate(STATUS_OF):
        assert not any(issubclass(kind, before) for before, _ in STATUS_OF[:index]), kind


def test_our_own_failure_says_nothing_inner(caplog: pytest.LogCaptureFixture) -> None:
    """An unexpected error is 500 with the request's id, which leads to the trace in the log."""
    with caplog.at_level(logging.ERROR):
        answer = raising(ZeroDivisionError("secret detail")).get("/api/v1/x")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] in answer.json()["detail"]
    assert "secret detail" in caplog.text
    assert answer.headers["x-request-id"] in caplog.text


def test_what_is_not_there_is_said() -> None:
    """Unknown paths, wrong methods and malformed parameters are answered in words."""
    at = raising(NotFoundError("x"))
    missing = at.get("/api/v1/none").json()
    assert missing["detail"] == "/api/v1/none: path not found; see /api/v1/openapi.json"
    assert (missing["code"], missing["kind"]) == ("requests.unknown_path", "not_found")
    assert missing["params"] == {"path": "/api/v1/none"}
    japanese = at.get("/api/v1/none", headers={"Accept-Language": "ja"})
    assert japanese.headers["content-language"] == "ja"
    assert "というパスはありません" in japanese.json()["detail"]
    wrong = at.post("/servlets/x")
    assert (wrong.status_code, wrong.text) == (405, "POST /servlets/x: use GET, HEAD, OPTIONS\n")
    malformed = at.get("/api/v1/x?number=seven")
    assert malformed.status_code == 400
    assert malformed.json()["detail"].startswith("number: ")
