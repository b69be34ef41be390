"""One's own password, for whoever has logged in; the one before is asked for."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.language import _
from manager.console.pages.sessions import keep_device
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
    form = visit.form
    if form.get("password", "") != form.get("password_again", ""):
        return _page(visit, _("The new password was typed in two ways."), 400)
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
    except (ForbiddenError, FormatError, SlowDownError) as error:
        status = 429 if isinstance(error, SlowDownError) else 400
        return _page(visit, figures.sentence(spoken(str(error))) + _("."), status)
    said = _("Your password is changed; you are logged out everywhere but here.")
    response = visit.go("/console/own-password", done=said)
    keep_device(visit, response, device)
    return response


PAGES: Final = (
    Page("GET", "/own-password", "viewer", show),
    Page("POST", "/own-password", "viewer", change, looks_at_password=True),
)
