"""The password of the logged-in user; a change needs the present password."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _
from manager.console.pages.people.sessions import keep_device
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.errors import ForbiddenError
from manager.operations.people.api_tokens import Holder
from manager.operations.people.own_password import change_own_password
from shared.errors import FormatError
from shared.wire.names import hash_of_key

__all__ = ["PAGES"]


def change(visit: Visit) -> Response:
    """Set one's own password."""
    assert visit.user is not None, "the page is for people who have logged in"
    form = visit.form
    if form.get("password", "") != form.get("password_again", ""):
        raise FormatError("console.passwords_differ").about("password_again")
    try:
        device = change_own_password(
            visit.db,
            Holder("user", visit.user.name, visit.user.role, ""),
            hash_of_key(visit.token),
            form.get("old_password", ""),
            form.get("password", ""),
            visit.actor,
            visit.now_ms,
            device=visit.device,
        )
    except ForbiddenError as error:  # access is allowed; the typed password is wrong
        raise FormatError(error.message).about(error.field) from error
    said = _("Your password is changed; you are logged out everywhere but here.")
    response = visit.go("/console/own-password", done=said)
    keep_device(visit, response, device)
    return response


PAGES: Final = (
    Page("GET", "/own-password", "viewer", lambda visit: visit.page("own_password.html")),
    Page("POST", "/own-password", "viewer", change, looks_at_password=True, form="/own-password"),
)
