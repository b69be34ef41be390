"""A page of the console: its route, who may open it, and where the form that it takes stands.

A refused form is shown again where it stands, or on the page that a person sent it from (its
`Referer`), where that page has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.responses import Response
from starlette.routing import compile_path

from manager.console.requests.visit import Visit
from manager.operations.people.users import Role
from shared.frozen import frozen

__all__ = ["PREFIX", "Address", "Page", "addresses"]

PREFIX: Final = "/console"
_FIELD: Final = re.compile(r"\{(\w+)\}")


@frozen
class Page:
    """A route: what it answers, and the least role for it; None: also before the login.

    query: names of parameters in its address; any other is refused. form: of a POST, the page on
    which its form stands, with fields of the form in braces; empty: it is shown nowhere again.
    """

    method: Literal["GET", "POST"]
    path: str
    role: Role | None
    answer: Callable[[Visit], Response]
    looks_at_password: bool = False
    query: tuple[str, ...] = ()
    form: str = ""


@frozen
class Address:
    """The address of a page, with parameters of its path and query."""

    page: Page
    path: str
    query: str
    numbers: Mapping[str, int]

    @property
    def fields(self) -> dict[str, str]:
        """Return the query by name."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


def addresses(visit: Visit, page: Page, pages: Sequence[Page]) -> list[Address]:
    """Return where a form that was sent to a page may be shown again, the likeliest first."""
    if not page.form:
        return []
    sent, numbers = visit.form, visit.request.path_params
    own = _FIELD.sub(
        lambda name: quote(sent.get(name[1]) or str(numbers.get(name[1], "")), ""), page.form
    )
    opened = urlsplit(visit.request.headers.get("referer", ""))
    asked = opened.path.removeprefix(PREFIX) + (f"?{opened.query}" if opened.query else "")
    back = sent.get("back", "").removeprefix(PREFIX)
    listed = back if back.partition("?")[0] == own.partition("?")[0] else ""
    wanted = [one for one in (asked, listed, own) if one]
    found = [_address(pages, one) for one in dict.fromkeys(wanted)]
    return [one for one in found if one is not None]


def _address(pages: Sequence[Page], text: str) -> Address | None:
    path, _mark, query = text.partition("?")
    for page in pages:
        if page.method != "GET" or "." in page.path:
            continue
        pattern, _format, _converters = compile_path(page.path)
        found = pattern.match(path)
        if found is not None:
            numbers = {name: int(value) for name, value in found.groupdict().items()}
            return Address(page, path, query, numbers)
    return None
