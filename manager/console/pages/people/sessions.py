"""Log in, log out, one's own password, and how the console looks and speaks.

Invariant: a login makes a new session id and ends the one before. What a form held whose session
was over goes through the login as hidden fields and is shown again afterwards; it is not sent
without its person.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _
from manager.console.messages.sentences import sentence_of
from manager.console.requests import cookies
from manager.console.requests.access import ask_again, login_page, safe_target
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.errors import ForbiddenError, SlowDownError, UnknownKeyError
from manager.operations.people import users
from manager.operations.people.api_tokens import Holder
from manager.operations.people.known_devices import DEVICE_S
from manager.operations.people.own_password import change_own_password
from shared.errors import FormatError
from shared.messages import Message
from shared.wire.names import hash_of_key

__all__ = ["PAGES"]

KEPT: Final = "kept."


def show_login(visit: Visit) -> Response:
    """Show the login, or redirect a logged-in person to the page they wanted."""
    if visit.user is not None:
        return visit.go(safe_target(visit.query.get("next", "")))
    return login_page(visit)


def login(visit: Visit) -> Response:
    """Check name and password, begin a session."""
    name = visit.form.get("name", "").strip()
    try:
        session = users.login(
            visit.db,
            name,
            visit.form.get("password", ""),
            visit.now_ms,
            session_s=visit.services.settings.console.session_s,
            address=visit.request.state.line.client,
            browser=visit.browser,
            device=visit.device,
            request_id=str(visit.request.state.request_id),
        )
    except SlowDownError as error:
        return _again(visit, name, error.message, 429, {"Retry-After": str(error.retry_after_s)})
    except UnknownKeyError as error:
        return _again(visit, name, error.message, 401, {})
    except ForbiddenError as error:
        return _again(visit, name, error.message, 403, {})
    _end_session_before(visit)
    response = _after_login(visit, session)
    cookies.set_secret(
        response,
        cookies.session_cookie(tls=visit.tls),
        session.token,
        visit.services.settings.console.session_s,
        tls=visit.tls,
    )
    cookies.forget_secret(response, cookies.visit_cookie(tls=visit.tls), tls=visit.tls)
    _keep_device(visit, response, session.device)
    return response


def _keep_device(visit: Visit, response: Response, device: str) -> None:
    name = cookies.device_cookie(tls=visit.tls)
    cookies.set_secret(response, name, device, DEVICE_S, tls=visit.tls)


def _kept(visit: Visit) -> tuple[str, dict[str, str]]:
    path = visit.form.get("kept_path", "")
    fields = {
        name.removeprefix(KEPT): value
        for name, value in visit.form.items()
        if name.startswith(KEPT)
    }
    return (safe_target(path) if path else ""), fields


def _again(
    visit: Visit, name: str, refused: Message, status: int, headers: dict[str, str]
) -> Response:
    path, fields = _kept(visit)
    return login_page(
        visit,
        status=status,
        refused=figures.capitalized(sentence_of(refused)) + _("."),
        name=name,
        kept_path=path,
        kept=fields,
        headers=headers,
    )


def _end_session_before(visit: Visit) -> None:
    before = visit.request.cookies.get(cookies.session_cookie(tls=visit.tls), "")
    if before:
        users.logout(
            visit.db,
            hash_of_key(before),
            visit.now_ms,
            address=visit.request.state.line.client,
            browser=visit.browser,
        )


def _after_login(visit: Visit, session: users.Session) -> Response:
    path, fields = _kept(visit)
    if not path:
        return visit.go(safe_target(visit.form.get("next", "")))
    # The page that is shown now belongs to the new session.
    visit.user = users.session_of(visit.db, hash_of_key(session.token), visit.now_ms)
    visit.token, visit.new_visit = session.token, ""
    note = _("You are logged in again. Nothing was done yet: check the form and send it.")
    return ask_again(visit, path, fields, note)


def logout(visit: Visit) -> Response:
    """End the session."""
    _end_session_before(visit)
    response = visit.go("/console/login", done=_("You are logged out."))
    cookies.forget_secret(response, cookies.session_cookie(tls=visit.tls), tls=visit.tls)
    return response


def choose_appearance(visit: Visit) -> Response:
    """Keep light or dark, the language, the bar wide or narrow; or follow the system again."""
    response = visit.go(safe_target(visit.form.get("next", "")))
    for name in cookies.APPEARANCE_CHOICES:
        if name in visit.form:
            cookies.set_appearance(response, name, visit.form[name], tls=visit.tls)
    return response


def change_password(visit: Visit) -> Response:
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
    _keep_device(visit, response, device)
    return response


PAGES: Final = (
    Page("GET", "/login", None, show_login, query=("next",)),
    Page("POST", "/login", None, login, looks_at_password=True),
    Page("POST", "/logout", None, logout),
    Page("POST", "/look", None, choose_appearance),
    Page("GET", "/own-password", "viewer", lambda visit: visit.page("own_password.html")),
    Page(
        "POST",
        "/own-password",
        "viewer",
        change_password,
        looks_at_password=True,
        form="/own-password",
    ),
)
