"""One request by one person: what they sent, who they are, and how to answer.

A page gets a `Visit` and returns a response; it knows neither cookies nor headers. Whether the
person may be there at all was decided before (`manager.console.requests.access`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from manager.console import language, navigation
from manager.console.listing import Listing, whole
from manager.console.rendering import render
from manager.console.requests import cookies
from manager.console.requests.context import ConsoleServices
from manager.console.requests.cookies import Appearance, Flash, csrf_of
from manager.db import Database, figure_cache
from manager.errors import NotFoundError
from manager.operations.actor import Actor
from manager.operations.people.users import ROLES, Role, SessionUser
from manager.operations.policy import Policy
from manager.operations.transport import browser_of
from shared.errors import FormatError, about_field

__all__ = ["BACK", "CONFIRMED", "CSRF", "Visit", "link", "number", "rank", "share", "whole_number"]

CSRF: Final = "csrf"
CONFIRMED: Final = "confirmed"
BACK: Final = "back"
OLD_S: Final = 120.0
ADDRESS_MOST: Final = 4000
NONE: Final[Mapping[str, str]] = {}


@dataclass
class Visit:
    """A request. form: of a POST, without the token. user: None before the login.

    figure_request: the age of the cached figures on the page. refusal: why the form was refused
    that is shown again.
    """

    request: Request
    services: ConsoleServices
    query: Mapping[str, str]
    form: Mapping[str, str]
    user: SessionUser | None
    token: str
    now_ms: int
    tls: bool
    new_visit: str = ""
    refusal: Flash | None = None
    figure_request: figure_cache.FigureRequest = field(
        default_factory=lambda: figure_cache.FigureRequest(None)
    )

    @property
    def db(self) -> Database:
        """Return the database."""
        return self.services.db

    @property
    def policy(self) -> Policy:
        """Return what the operations go by."""
        return self.services.policy

    @property
    def actor(self) -> Actor:
        """Return who acts, for the audit."""
        assert self.user is not None, "pages that act are for people who have logged in"
        state = self.request.state
        return Actor("user", self.user.name, str(state.request_id), state.line.client, self.browser)

    @property
    def browser(self) -> str:
        """Return what the browser calls itself."""
        return browser_of(self.request.scope["headers"])

    @property
    def device(self) -> str:
        """Return the cookie of a device with an earlier login."""
        return self.request.cookies.get(cookies.device_cookie(tls=self.tls), "")

    @property
    def csrf(self) -> str:
        """Return the token of this visit's forms."""
        return csrf_of(self.token)

    @property
    def appearance(self) -> Appearance:
        """Return how the person has the console."""
        return cookies.read_appearance(self.request)

    @property
    def language(self) -> str:
        """Return the language of the answer."""
        return language.current()

    @property
    def pages(self) -> Sequence[navigation.Group]:
        """Return the pages that the bar leads the person to."""
        return navigation.shown_to(self.user.role if self.user is not None else "")

    @property
    def here(self) -> str:
        """Return the path of this page."""
        return self.request.url.path

    @property
    def address(self) -> str:
        """Return the path of this page with its query."""
        query = self.request.url.query
        return f"{self.here}?{query}" if query else self.here

    @property
    def back_here(self) -> str:
        """Return where a change of the looks leads back to."""
        is_shown = self.request.method == "GET" or self.refusal is not None
        return self.address if is_shown else "/console/"

    @property
    def number(self) -> int:
        """Return the number in the path; raises NotFoundError for one that nothing can have."""
        number = int(self.request.path_params["number"])
        if number >= 2**63:
            raise NotFoundError("console.unknown_number", path=self.here)
        return number

    @property
    def is_live(self) -> bool:
        """Return whether the open page reloads its own parts (`static/js/live.js`)."""
        return "prsm-live" in self.request.headers

    @property
    def is_stream(self) -> bool:
        """Return whether the open page wants to hear what changes."""
        return self.request.headers.get("accept") == "text/event-stream"

    @property
    def is_part(self) -> bool:
        """Return whether a script asks, which takes a part out of the page."""
        return self.is_live or "hx-request" in self.request.headers

    @property
    def old_figures_ms(self) -> int:
        """Return how old the oldest figure of the page is, 0 where that is not worth a word."""
        age_s = self.figure_request.oldest_s
        return round(age_s * 1000) if age_s >= OLD_S else 0

    @property
    def is_confirmed(self) -> bool:
        """Return whether the person was asked already."""
        return self.form.get(CONFIRMED) == "yes"

    def back(self, path: str) -> str:
        """Return where a form's list was as its person had it (`parts.back`): filters, sort, page.

        path: the list's page, which it is where the form says nothing or leads elsewhere.
        """
        asked = self.form.get(BACK, "")
        return asked if asked.startswith(f"{path}?") and len(asked) <= ADDRESS_MOST else path

    @property
    def public_url(self) -> str:
        """Return the manager's address as agents write it."""
        given = self.services.settings.server.public_url
        scheme = "https" if self.tls else "http"
        return given or f"{scheme}://{self.request.headers.get('host', 'localhost')}"

    def may(self, role: Role) -> bool:
        """Return whether the person's role is enough."""
        return self.user is not None and rank(self.user.role) >= rank(role)

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Response:
        """Return a page made from a template."""
        flash = None if self.is_part else self.refusal or cookies.read_flash(self.request)
        text = render(template, visit=self, flash=flash, **values)
        response = HTMLResponse(text, status, {**self._address_of(values), **(headers or {})})
        if flash is not None:
            cookies.forget_flash(response, tls=self.tls)
        if self.new_visit:  # the login form's token depends on it
            name = cookies.visit_cookie(tls=self.tls)
            cookies.set_secret(response, name, self.new_visit, 86400, tls=self.tls)
        return response

    def _address_of(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return what tells htmx the address of a list that a filter has changed."""
        listing = getattr(values.get("list"), "listing", None)
        if isinstance(listing, Listing) and self.request.headers.get("hx-target") == "list":
            return {"HX-Push-Url": listing.url()}
        return {}

    def ask(
        self,
        title: str,
        *consequences: str,
        button: str,
        back: str,
        action: str = "",
        fields: Mapping[str, str] = NONE,
        shown: Mapping[str, str] = NONE,
        choices: Mapping[str, str] = NONE,
        danger: bool = True,
        confirms: bool = True,
        status: int = 200,
        note: str = "",
    ) -> Response:
        """Ask before doing what cannot be undone; the answer comes as the same form, confirmed.

        title: what, with a question mark. button: the verb. back: where to go instead. action:
        where the form goes if not here. fields: what it sends again; shown: those that can still be
        edited; choices: what can be ticked, by its field, with a sentence. confirms: the answer is
        a yes; else the form is only sent unchanged, and may cause another question.
        """
        return self.page(
            "ask.html",
            status=status,
            title=title,
            consequences=consequences,
            button=button,
            back=back,
            action=action or self.here,
            fields=fields,
            shown=shown,
            choices=choices,
            danger=danger,
            confirms=confirms,
            note=note,
        )

    def go(self, path: str, *, done: str = "", refused: str = "") -> Response:
        """Redirect to another page of the console, with the result of the action."""
        response = RedirectResponse(path, 303)
        if done or refused:
            flash = Flash("done", done) if done else Flash("refused", refused)
            cookies.set_flash(response, flash, tls=self.tls)
        return response


def rank(role: str) -> int:
    """Return how much a role may, from 0; a role that is none may nothing."""
    return ROLES.index(role) if role in ROLES else -1


def link(path: str, **query: str | int) -> str:
    """Return the address of a page of ours."""
    return f"/console/{path}?{urlencode(query)}" if query else f"/console/{path}"


def whole_number(visit: Visit, name: str) -> int | None:
    """Return a number of a form, or None where it says none. Raises FormatError."""
    text = visit.form.get(name, "")
    if not text:
        return None
    with about_field(name):
        return whole(text, name)


def share(visit: Visit, name: str) -> float | None:
    """Return a percentage of a form as a share; None where it says nothing. Raises FormatError."""
    said = visit.form.get(name, "").strip().removesuffix("%").strip()
    if not said:
        return None
    try:
        return float(said) / 100
    except ValueError as error:
        raise FormatError("console.percent_of_units", value=said[:20]).about(name) from error


def number(visit: Visit, name: str) -> float | None:
    """Return a number of a form, perhaps with a fraction; None of an empty field.

    Raises FormatError.
    """
    text = visit.form.get(name, "").strip()
    try:
        return float(text) if text else None
    except ValueError as error:
        wrong = FormatError("console.number_or_empty", name=name, value=text[:40])
        raise wrong.about(name) from error
