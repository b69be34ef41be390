"""A new agent, or a new key for one: a join token, shown once, and the commands to use it."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.visit import Visit
from manager.operations.enrolment import issue_join_token

__all__ = ["PAGES"]


def show(visit: Visit) -> Response:
    """Ask for the name that a token is to be bound to."""
    return visit.page(
        "new_agent.html",
        name=visit.query.get("name", ""),
        token=None,
        valid=figures.duration(visit.door.settings.policy.join_token_s * 1000),
    )


def issue(visit: Visit) -> Response:
    """Make a token and show it, this once."""
    name = visit.form.get("name", "").strip().lower()
    valid_s = visit.door.settings.policy.join_token_s
    token = issue_join_token(visit.db, name, visit.actor, visit.now_ms, valid_s)
    return visit.page(
        "new_agent.html",
        status=201,
        name=name,
        token=token,
        valid=figures.duration(valid_s * 1000),
    )


PAGES: Final = (
    Page("GET", "/new-agent", "admin", show),
    Page("POST", "/new-agent", "admin", issue),
)
