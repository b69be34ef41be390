"""Errors as pages: what, value, limit and remedy, and where to go from there.

Which status a refusal has is the application's to say. Of what the manager itself failed at only
the request's number goes out; the log has the rest.
"""

from __future__ import annotations

import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from manager.console.language import Words, _, current, lazy
from manager.console.requests.visit import BACK, CONFIRMED, Visit
from manager.errors import BusyError, NotFoundError, SlowDownError
from shared.errors import PrsmError

__all__ = ["answer_failure"]

_log: Final = logging.getLogger(__name__)

HEADINGS: Final[dict[int, Words]] = {
    400: lazy("That cannot be"),
    401: lazy("Not logged in"),
    403: lazy("Not allowed"),
    404: lazy("Not found"),
    405: lazy("Not that way"),
    409: lazy("It does not fit any more"),
    413: lazy("Too large"),
    429: lazy("Too often"),
    503: lazy("Not now"),
}

NONE: Final = ": there is none"
UNTYPED: Final = frozenset((CONFIRMED, BACK, "shown", "password", "old_password", "password_again"))
"""Fields of forms that hold nothing that a person could lose, or nothing that a page may carry."""

# The page of what a command of `NotFoundError.see` lists.
LISTS: Final[dict[str, tuple[str, Words]]] = {
    "agents": ("/console/agents", lazy("Agents")),
    "agents list": ("/console/agents", lazy("Agents")),
    "agents tokens": ("/console/agents", lazy("Agents")),
    "alerts silences": ("/console/alerts", lazy("Alerts")),
    "archive": ("/console/archive-jobs", lazy("Jobs")),
    "clients": ("/console/data", lazy("Data")),
    "collect orders": ("/console/collection", lazy("Collection")),
    "collect schedule": ("/console/collection", lazy("Collection")),
    "collect transfers": ("/console/collection", lazy("Collection")),
    "fleet": ("/console/fleet-rules", lazy("Block list and politeness")),
    "hosts pins": ("/console/hosts", lazy("Hosts")),
    "managers": ("/console/settings", lazy("Settings")),
    "plans": ("/console/plans", lazy("Plans")),
    "release": ("/console/releases", lazy("Releases")),
    "rounds": ("/console/rounds", lazy("Rounds")),
    "rounds schedule": ("/console/rounds", lazy("Rounds")),
    "tokens": ("/console/tokens", lazy("Tokens")),
    "users": ("/console/users", lazy("Users")),
}


def answer_failure(visit: Visit, error: Exception) -> Response:
    """Return the page for an error."""
    if isinstance(error, HTTPException):
        return _page(visit, error.status_code, error.detail, dict(error.headers or {}))
    if isinstance(error, NotFoundError) and visit.user and (found := LISTS.get(error.see)):
        return _page(visit, 404, _missing(str(error.what)), {}, found)
    status = visit.door.status_of(error) if isinstance(error, PrsmError) else None
    if status is None:
        return _broken(visit, error)
    headers = {}
    if isinstance(error, BusyError | SlowDownError):
        headers["Retry-After"] = str(max(1, error.retry_after_s))
    return _page(visit, status, str(error), headers)


def _missing(what: str) -> str:
    """Return `agent x: there is none` as a sentence; another language has it from the catalogue."""
    name = what.removesuffix(NONE)
    return what if name == what or current() != "en" else f"There is no {name}."


def _broken(visit: Visit, error: Exception) -> Response:
    request_id = str(getattr(visit.request.state, "request_id", "-"))
    _log.error(
        "request %s: %s %s failed", request_id, visit.request.method, visit.here, exc_info=error
    )
    sentence = _(
        "The manager failed on this request; its log tells more under %(number)s. Nothing is "
        "known to be lost. Try again later",
        number=request_id,
    )
    return _page(visit, 500, sentence, {})


def _page(
    visit: Visit,
    status: int,
    sentence: str,
    headers: dict[str, str],
    found: tuple[str, Words] | None = None,
) -> Response:
    heading = HEADINGS.get(status) or _("The manager failed")
    return visit.page(
        "failure.html",
        status=status,
        headers=headers,
        heading=heading,
        sentence=sentence,
        found=found,
        kept=_kept(visit),
    )


def _kept(visit: Visit) -> dict[str, str]:
    """Return what a form held that was sent by somebody who may send it again."""
    if visit.user is None or visit.request.method != "POST":
        return {}
    return {name: value for name, value in visit.form.items() if name not in UNTYPED}
