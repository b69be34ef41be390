"""One's own password, for whoever has logged in; the one before is asked for."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.language import _
from manager.console.phrases import spoken
from manager.console.visit import Visit
from manager.errors import ForbiddenError, SlowDownError
from manager.operations.api_tokens import Holder
from manager.operations.own_password import change_own_password
from shared.errors import FormatError
from shared.wire.names import hash_of_key

__all__ = ["PAGES"]


def show(visit: Visit) -> Response:
    """Ask for the password that one has, and twice for the new one."""
    return _page(visit)


def _page(visit: Visit, refused: str = "", status: int = 200) -> Response:
    return visit.page("own_password.html", status=status, refused=refused)


def change(visit: Visit) -> Response:
    """Set one's own password; what cannot be is said above the form."""
    assert visit.user is not None, "the page is for people who have logged in"
    form, client = visit.form, visit.request.client
    if form.get("password", "") != form.get("password_again", ""):
        return _page(visit, _("The new password was typed in two ways."), 400)
    try:
        change_own_password(
            visit.db,
            Holder("user", visit.user.name, visit.user.role, ""),
            hash_of_key(visit.token),
            form.get("old_password", ""),
            form.get("password", ""),
            visit.actor,
            visit.now_ms,
            address=client.host if client is not None else "-",
            forwarded_for=visit.request.headers.get("x-forwarded-for", ""),
        )
    except (ForbiddenError, FormatError, SlowDownError) as error:
        status = 429 if isinstance(error, SlowDownError) else 400
        return _page(visit, figures.sentence(spoken(str(error))) + _("."), status)
    said = _("Your password is changed; you are logged out everywhere but here.")
    return visit.go("/console/own-password", done=said)


PAGES: Final = (
    Page("GET", "/own-password", "viewer", show),
    Page("POST", "/own-password", "viewer", change),
)
