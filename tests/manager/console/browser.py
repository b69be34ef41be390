"""A browser without scripts: cookies, forms, redirects; in this process, without sockets."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx
from starlette.types import ASGIApp

from tests.manager.asgi import Caller
from tests.manager.console.filled import PASSWORD
from tests.manager.console.markup import Form, Markup, read

__all__ = ["FORM", "Browser"]

FORM = "application/x-www-form-urlencoded"


@dataclass
class Browser:
    """Somebody at a browser. site: what it says of where a change comes from."""

    app: ASGIApp
    address: str = "127.0.0.1"
    scheme: str = "http"
    site: str = "same-origin"
    cookies: dict[str, str] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Open an address; redirects are not followed."""
        return self._send("GET", path, b"", headers)

    def page(self, path: str, status: int = 200, **headers: str) -> Markup:
        """Open an address and return the page."""
        answer = self.follow(self.get(path, **headers))
        assert answer.status_code == status, f"{path}: {answer.status_code} {answer.text[-800:]}"
        return read(answer.text)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        """Send a form with exactly these fields."""
        given = {"content-type": FORM, "sec-fetch-site": self.site} | headers
        return self._send("POST", path, urlencode(fields).encode(), given)

    def submit(self, form: Form, **changes: str) -> httpx.Response:
        """Send a form as it stands on a page, with some of it filled in."""
        return self.post(form.action, form.fields | changes)

    def act(self, page: str, action: str, changes: dict[str, str] | None = None) -> httpx.Response:
        """Open a page and send one of its forms."""
        return self.submit(self.page(page).form(action), **(changes or {}))

    def follow(self, answer: httpx.Response) -> httpx.Response:
        """Go where an answer leads."""
        while answer.status_code in (302, 303, 307):
            answer = self.get(answer.headers["location"])
        return answer

    def log_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        """Log in by the form."""
        return self.act("/console/login", "/console/login", {"name": name, "password": password})

    @property
    def csrf(self) -> str:
        """Return the token of this browser's forms."""
        return self.page("/console/reports").form("/console/logout").fields["csrf"]

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
        given = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        caller = Caller(self.app, address=self.address, scheme=self.scheme)
        answer = caller.send(
            method,
            path,
            content=body,
            headers={
                **(given if self.cookies else {}),
                **self.extra,
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
        )
        for cookie in answer.headers.get_list("set-cookie"):
            name, _, rest = cookie.partition("=")
            value = rest.partition(";")[0].strip('"')
            if value and "Max-Age=0" not in cookie:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        return answer
