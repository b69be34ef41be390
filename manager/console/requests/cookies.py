"""The console's cookies, and the values derived from them.

`session` is the one cookie for pages and `/api/v1`: over TLS it has the prefix `__Host-`, which
browsers take from this very host over TLS only. `visit` stands in for it before the login, so that
the login form has a token too. `device` marks a device with an earlier login: it opens nothing, and
spares its user the wait that wrong passwords of others cause. `flash` is a
sentence for the next page; the choices of `Appearance` are a cookie each, for a year.
SameSite is Lax: with Strict a link in a mail would look logged out. Lax is not what keeps forms of
others out, the token and the origin are (`manager.console.requests.access`).
"""

from __future__ import annotations

import base64
import json
import secrets
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from manager.console.language import LANGUAGES
from shared.frozen import frozen
from shared.wire.names import hash_of_key

__all__ = [
    "Appearance",
    "Flash",
    "csrf_of",
    "is_tls",
    "read_appearance",
    "read_flash",
    "session_cookie",
]

FLASH: Final = "prsm-flash"
APPEARANCE_CHOICES: Final = {
    "theme": ("light", "dark"),
    "bar": ("wide", "narrow"),
    "language": tuple(LANGUAGES),
}
PATH: Final = "/console"
YEAR_S: Final = 365 * 86400
FLASH_LIMIT: Final = 1000


@frozen
class Flash:
    """The result of an action, for the page after it. kind: `done` or `refused`."""

    kind: str
    text: str


@frozen
class Appearance:
    """Appearance of the console; an empty text: not chosen, as the system or the window has it.

    theme: light or dark. bar: with names (wide) or icons only (narrow). language: of `LANGUAGES`.
    """

    theme: str = ""
    bar: str = ""
    language: str = ""


def is_tls(request: Request) -> bool:
    """Return whether the browser speaks TLS: to us, or to the proxy that we believe."""
    return bool(request.state.line.is_tls)


def session_cookie(*, tls: bool) -> str:
    """Return the name of the session's cookie."""
    return "__Host-prsm" if tls else "prsm"


def device_cookie(*, tls: bool) -> str:
    """Return the name of the cookie of a device with an earlier login."""
    return "__Host-prsm-device" if tls else "prsm-device"


def visit_cookie(*, tls: bool) -> str:
    """Return the name of the cookie of a visitor before the login."""
    return "__Host-prsm-visit" if tls else "prsm-visit"


def new_visit() -> str:
    """Return a fresh value for the visit's cookie."""
    return secrets.token_urlsafe(32)


def csrf_of(token: str) -> str:
    """Return what proves that a form is ours, for a session's (or visit's) token."""
    return hash_of_key(f"csrf {token}")


def set_secret(response: Response, name: str, value: str, age_s: float, *, tls: bool) -> None:
    """Set a cookie that no script sees, for the whole host."""
    _set(response, name, value, round(age_s), "/", tls=tls)


def forget_secret(response: Response, name: str, *, tls: bool) -> None:
    """Delete such a cookie."""
    _forget(response, name, "/", tls=tls)


def _set(
    response: Response, name: str, value: str, age_s: int, path: str = PATH, *, tls: bool
) -> None:
    response.set_cookie(name, value, age_s, None, path, None, tls, httponly=True, samesite="lax")


def _forget(response: Response, name: str, path: str = PATH, *, tls: bool) -> None:
    response.delete_cookie(name, path, secure=tls, httponly=True, samesite="lax")


def set_flash(response: Response, flash: Flash, *, tls: bool) -> None:
    """Set a message for the next page."""
    text = json.dumps([flash.kind, flash.text[:FLASH_LIMIT]])
    value = base64.urlsafe_b64encode(text.encode()).decode()
    _set(response, FLASH, value, 60, tls=tls)


def read_flash(request: Request) -> Flash | None:
    """Return what an action left to say; anything else in the cookie is nothing."""
    value = request.cookies.get(FLASH, "")
    if not value or len(value) > 10 * FLASH_LIMIT:
        return None
    try:
        kind, text = json.loads(base64.urlsafe_b64decode(value.encode()))
    except (ValueError, TypeError):
        return None
    if kind not in ("done", "refused") or not isinstance(text, str):
        return None
    return Flash(kind, text[:FLASH_LIMIT])


def forget_flash(response: Response, *, tls: bool) -> None:
    """Delete the sentence that was shown."""
    _forget(response, FLASH, tls=tls)


def read_appearance(request: Request) -> Appearance:
    """Return what a person chose; what is not among the choices was not chosen."""
    given = {name: request.cookies.get(_appearance_cookie(name), "") for name in APPEARANCE_CHOICES}
    return Appearance(
        **{name: value for name, value in given.items() if value in APPEARANCE_CHOICES[name]}
    )


def set_appearance(response: Response, name: str, value: str, *, tls: bool) -> None:
    """Keep a choice, one of `APPEARANCE_CHOICES`; any other value takes it back."""
    cookie = _appearance_cookie(name)
    if value in APPEARANCE_CHOICES[name]:
        _set(response, cookie, value, YEAR_S, tls=tls)
    else:
        _forget(response, cookie, tls=tls)


def _appearance_cookie(name: str) -> str:
    return f"prsm-{name}"
