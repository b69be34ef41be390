"""Errors as pages: problem, value, limit and remedy, and a link to continue.

The application decides the status of a refusal. For a failure of the manager itself the page shows
only the request's number; the log has the details.
"""

from __future__ import annotations

import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from manager.console.language import Words, lazy
from manager.console.messages.command_links import page_of
from manager.console.messages.sentences import sentence_of
from manager.console.requests.visit import BACK, CONFIRMED, Visit
from manager.errors import BusyError, NotFoundError, SlowDownError
from shared.errors import PrsmError
from shared.messages import Message

__all__ = ["answer_failure", "list_of"]

_log: Final = logging.getLogger(__name__)

HEADINGS: Final = frozenset((400, 401, 403, 404, 405, 409, 413, 429, 503))
"""Status codes with their own heading; any other is the manager's failure."""
UNTYPED: Final = frozenset((CONFIRMED, BACK, "shown", "password", "old_password", "password_again"))
"""Fields of forms whose loss does no harm, or that a page must not carry."""

LISTS: Final[dict[str, tuple[str, Words]]] = {
    "archive": ("/console/archive-jobs", lazy("Jobs")),
    "managers": ("/console/settings", lazy("Settings")),
}
"""Pages with the list that a command of `NotFoundError.see` prints, if not the command's own."""


def list_of(see: str) -> tuple[str, Words] | None:
    """Return the address and the name of the page with what a command lists; None: no page."""
    return LISTS.get(see) or page_of(f"prsm {see}")


def answer_failure(visit: Visit, error: Exception) -> Response:
    """Return the page for an error."""
    if isinstance(error, HTTPException):
        headers = dict(error.headers or {})
        return _page(visit, error.status_code, _of_framework(visit, error), headers)
    if isinstance(error, NotFoundError) and visit.user and (found := list_of(error.see)):
        return _page(visit, 404, error.what, {}, found)
    if not isinstance(error, PrsmError):
        return _broken(visit, error)
    status = visit.services.status_of(error)
    if status is None:
        return _broken(visit, error)
    headers = {}
    if isinstance(error, BusyError | SlowDownError):
        headers["Retry-After"] = str(max(1, error.retry_after_s))
    return _page(visit, status, error.message, headers)


def _of_framework(visit: Visit, error: HTTPException) -> Message:
    """Return the message of a refusal by the web framework."""
    path = visit.here[:200]
    if error.status_code == 404:
        return Message("console.unknown_page", path=path)
    if error.status_code == 405 and error.headers is not None:
        allowed = tuple(error.headers.get("Allow", "").split(", "))
        method = visit.request.method
        return Message("requests.method_not_allowed", method=method, path=path, allowed=allowed)
    return Message.of_text(str(error.detail))


def _broken(visit: Visit, error: Exception) -> Response:
    request_id = str(getattr(visit.request.state, "request_id", "-"))
    _log.error(
        "request %s: %s %s failed", request_id, visit.request.method, visit.here, exc_info=error
    )
    return _page(visit, 500, Message("requests.failed", request_id=request_id), {})


def _page(
    visit: Visit,
    status: int,
    message: Message,
    headers: dict[str, str],
    found: tuple[str, Words] | None = None,
) -> Response:
    heading = Message(f"console.heading_{status if status in HEADINGS else 500}")
    return visit.page(
        "failure.html",
        status=status,
        headers=headers,
        heading=sentence_of(heading),
        sentence=sentence_of(message),
        found=found,
        kept=_kept(visit),
    )


def _kept(visit: Visit) -> dict[str, str]:
    """Return the fields of a form whose sender may send it again."""
    if visit.user is None or visit.request.method != "POST":
        return {}
    return {name: value for name, value in visit.form.items() if name not in UNTYPED}
