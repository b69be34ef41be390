"""Access control of the console: every page goes through it.

Checks in this order: the connection is private; a change comes from a page of this origin; the
session is valid, or the login appears, which keeps the typed values; the role suffices; the form
has the session's token. Only then the page is called.
Invariant: a route without a role is the login itself, tells what anybody may know, or changes
nothing but how the console looks.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from manager.console import language
from manager.console.language import _, pgettext
from manager.console.requests import cookies
from manager.console.requests.context import ConsoleServices
from manager.console.requests.error_pages import answer_failure
from manager.console.requests.page import Page
from manager.console.requests.query import Query, check_query
from manager.console.requests.refused_forms import form_again
from manager.console.requests.visit import CONFIRMED, CSRF, Visit, rank
from manager.db.figure_cache import StillCountingError, page_figures
from manager.errors import BusyError, ForbiddenError, SlowDownError, UnknownKeyError
from manager.intake.messages.message_check import MessageJob, form_fields, read_form
from manager.intake.messages.messages import DIRECT_BYTES, sender_number
from manager.operations.people.login_throttle import LoginWait, login_wait
from manager.operations.people.users import SessionUser, session_of
from manager.operations.transport import require_private
from shared.errors import FormatError, PrsmError
from shared.messages import Message
from shared.wire.names import hash_of_key

__all__ = ["ask_again", "failed", "guarded", "login_page", "safe_target"]

FORM: Final = "application/x-www-form-urlencoded"
SECRETS: Final = frozenset({"password", "old_password", "password_again"})
FIRST_FIGURE_S: Final = 1.0  # for which a page waits that shows it
STOP_POLLING: Final = 286  # htmx: swap this in, and ask no more


def guarded(page: Page, pages: Sequence[Page]) -> Route:
    """Return the route of a page behind the checks of this module. pages: all of the console.

    It serves any application whose state has the services.
    """

    async def endpoint(request: Request) -> Response:
        """Answer a request to the page."""
        services: ConsoleServices = request.app.state.services
        tls = cookies.is_tls(request)
        services.senders.begin(request.cookies.get(cookies.session_cookie(tls=tls), ""))
        try:
            form = await _read_form(request, services, page) if page.method == "POST" else {}
        except PrsmError as error:
            return await asyncio.to_thread(failed, request, services, error)
        serve = partial(_serve, page, services, request, form, pages)
        if page.looks_at_password and request.state.line.is_private:
            return await _in_turn(services, request, form, serve)
        return await asyncio.to_thread(serve)

    return Route(page.path, endpoint, methods=[page.method], name=f"{page.method} {page.path}")


async def _in_turn(
    services: ConsoleServices, request: Request, form: dict[str, str], serve: Callable[[], Response]
) -> Response:
    """Serve a page that looks at a password, when it is its turn."""
    try:
        wait = await asyncio.to_thread(_wait_of, services, request, form)
    except PrsmError as error:
        return await asyncio.to_thread(failed, request, services, error)
    try:
        async with services.logins.turn(wait):
            response = await asyncio.to_thread(serve)
    except (SlowDownError, BusyError) as error:
        await services.hold.refused(wait.source, services.now_ms())
        return await asyncio.to_thread(failed, request, services, error)
    if response.status_code >= 400:
        await services.hold.refused(wait.source, services.now_ms())
    return response


def _wait_of(services: ConsoleServices, request: Request, form: dict[str, str]) -> LoginWait:
    tls = cookies.is_tls(request)
    name, now_ms = form.get("name", "").strip()[:64], services.now_ms()
    token = request.cookies.get(cookies.session_cookie(tls=tls), "")
    if "old_password" in form and token:
        user = session_of(services.db, hash_of_key(token), now_ms)
        name = user.name if user is not None else ""
    device = request.cookies.get(cookies.device_cookie(tls=tls), "")
    return login_wait(services.db, name, request.state.line.client, device, now_ms)


def failed(request: Request, services: ConsoleServices, error: Exception) -> Response:
    """Return the page for an error outside all pages."""
    visit = _visit(request, services, {})
    try:
        _find_user(visit)
    except PrsmError as worse:
        return answer_failure(visit, worse)
    return answer_failure(visit, error)


def _serve(
    page: Page,
    services: ConsoleServices,
    request: Request,
    form: dict[str, str],
    pages: Sequence[Page],
) -> Response:
    token = form.pop(CSRF, "")
    visit = _visit(request, services, form)
    try:
        _find_user(visit)
        require_private(request.state.line, Message("connection.passwords_need_tls"))
        if page.method == "POST":
            _require_same_origin(request)
        _require_no_nul(visit)
        refused = _refused(visit, page, token)
        if refused is not None:
            return refused
        check_query(request.query_params.multi_items(), page.query)
        if page.method == "GET":
            visit.query = Query(visit.query, page.query)
        return _answer(page, visit, pages)
    except Exception as error:  # noqa: BLE001  # whatever went wrong is answered as a page, and logged
        return answer_failure(visit, error)


def _answer(page: Page, visit: Visit, pages: Sequence[Page]) -> Response:
    """Answer with a page that may show cached figures; where one is not there yet, it comes again.

    A refused form is shown again with the values that were sent.
    """
    is_file = "." in page.path
    patient = page.method == "POST" or visit.is_part or is_file
    with page_figures(None if patient else FIRST_FIGURE_S) as visit.figure_request:
        try:
            return page.answer(visit)
        except StillCountingError:
            headers = {"Refresh": "1", "Retry-After": "1"}
            return visit.page("counting.html", status=503, headers=headers)
        except PrsmError as error:
            again = form_again(visit, page, error, pages) if page.method == "POST" else None
            if again is None:
                raise
            return again


def _visit(request: Request, services: ConsoleServices, form: Mapping[str, str]) -> Visit:
    tls = cookies.is_tls(request)
    accepted = request.headers.get("accept-language", "")
    language.speak(language.choose(cookies.read_appearance(request).language, accepted))
    query = Query(request.query_params)
    return Visit(request, services, query, form, None, "", services.now_ms(), tls)


def _find_user(visit: Visit) -> None:
    if not visit.request.state.line.is_private:
        return
    token = visit.request.cookies.get(cookies.session_cookie(tls=visit.tls), "")
    user: SessionUser | None = None
    if token:
        user = session_of(visit.db, hash_of_key(token), visit.now_ms)
    if user is not None:
        visit.services.senders.note(token, user.name)
    else:
        token = visit.request.cookies.get(cookies.visit_cookie(tls=visit.tls), "")
        if not token:
            token = visit.new_visit = cookies.new_visit()
    visit.user, visit.token = user, token


def _refused(visit: Visit, page: Page, token: str) -> Response | None:
    if page.role is not None:
        if visit.user is None:
            return _no_session(visit, page)
        if rank(visit.user.role) < rank(page.role):
            raise ForbiddenError(
                "people.role_too_low",
                caller=visit.user.name,
                role=visit.user.role,
                needed=page.role,
            )
    if page.method == "POST" and not secrets.compare_digest(token.encode(), visit.csrf.encode()):
        return _of_another_session(visit, page)
    return None


def _no_session(visit: Visit, page: Page) -> Response:
    if page.method == "POST":
        note = _("Your session had expired, so nothing was sent. Log in: your input is kept.")
        return login_page(visit, status=401, note=note, kept_path=visit.here, kept=visit.form)
    if visit.is_stream:  # no content: the browser does not try again by itself, the page asks why
        return Response(status_code=204)
    if visit.is_live:
        return visit.page("over.html", status=401)
    if visit.is_part:
        return visit.page("over.html", status=STOP_POLLING, headers={"HX-Reselect": "#over"})
    return RedirectResponse(f"/console/login?next={quote(visit.address, safe='')}", 303)


def _of_another_session(visit: Visit, page: Page) -> Response:
    """Ask again: the form is from before a login in another tab, or was made elsewhere."""
    if visit.user is None:
        note = _("This form has expired. Nothing was done; please try again.")
        return login_page(visit, status=403, note=note)
    if page.role is None:
        return visit.go("/console/", refused=_("That page has expired; nothing was done."))
    note = _("Nothing was done: this form is from an earlier session. Check it and send it again.")
    return ask_again(visit, visit.here, visit.form, note, status=403)


def ask_again(
    visit: Visit, path: str, form: Mapping[str, str], note: str, *, status: int = 200
) -> Response:
    """Show the typed values of a form, to be checked and sent again. path: where it is sent."""
    return visit.ask(
        _("Send this again?"),
        _("It is sent to %(path)s with your input:", path=path),
        button=pgettext("form", "Send"),
        back="/console/",
        action=path,
        shown={name: value for name, value in _without_secrets(form).items() if name != CONFIRMED},
        danger=False,
        confirms=False,
        status=status,
        note=note,
    )


def login_page(
    visit: Visit,
    *,
    status: int = 200,
    note: str = "",
    refused: str = "",
    name: str = "",
    kept_path: str = "",
    kept: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the login, with what a form held whose session was over."""
    return visit.page(
        "login.html",
        status=status,
        headers=headers,
        note=note,
        refused=refused,
        name=name,
        next=safe_target(visit.query.get("next") or visit.form.get("next", "")),
        kept_path=kept_path,
        kept=_without_secrets(kept or {}),
    )


def _without_secrets(form: Mapping[str, str]) -> dict[str, str]:
    """Return what a page may carry: of a password only that there was one."""
    return {name: "" if name in SECRETS else value for name, value in form.items()}


def _require_same_origin(request: Request) -> None:
    """Refuse changes that a page of another origin sends.

    Browsers say where a request comes from in Sec-Fetch-Site, older ones in Origin; a program that
    sends neither has no cookies that another page could use.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        allowed = site == "same-origin"
    else:
        origin = request.headers.get("origin")
        allowed = origin is None or (
            urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
        )
    if not allowed:
        raise ForbiddenError("console.another_origin")


def _require_no_nul(visit: Visit) -> None:
    """Refuse what no keyboard types: SQLite would keep it, PostgreSQL has no place for it."""
    for given in (visit.query, visit.form):
        for name, value in given.items():
            if "\0" in name or "\0" in value:
                raise FormatError("console.nul", name=name[:40])


def safe_target(text: str) -> str:
    """Return a path of the console to go to, or its first page: never anything elsewhere."""
    parts = urlsplit(text)
    ours = parts.path == "/console" or parts.path.startswith("/console/")
    plain = text.isascii() and text.isprintable() and "\\" not in text
    # Browsers take `%2e` for a dot, and climb.
    climbs = "/../" in f"{parts.path}/" or "%2e" in parts.path.lower()
    if parts.scheme or parts.netloc or not ours or not plain or climbs:
        return "/console/"
    return text


async def _read_form(request: Request, services: ConsoleServices, page: Page) -> dict[str, str]:
    """Return the fields of a form. One that is large is taken from who is logged in only."""

    async def identify(_: Request) -> int:
        return await asyncio.to_thread(_sender_of_large, request, services)

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise FormatError("console.form_type", type=kind[:60], form=FORM)
    most_bytes = services.settings.limits.request_bytes
    known = None if page.role is None else identify
    async with services.messages.gathered(request, most_bytes, known) as gathered:
        if gathered.sender is None:
            return form_fields(gathered.body)
        job = MessageJob(gathered.body, sender=gathered.sender, cpu_s=services.messages.cpu_s)
        return await services.messages.elsewhere(request, read_form, job)


def _sender_of_large(request: Request, services: ConsoleServices) -> int:
    """Return the number of who is logged in, as a sender; raises UnknownKeyError."""
    visit = _visit(request, services, {})
    _find_user(visit)
    if visit.user is None:
        raise UnknownKeyError("console.large_form_without_session", most_bytes=DIRECT_BYTES)
    return sender_number("user", visit.user.name)
