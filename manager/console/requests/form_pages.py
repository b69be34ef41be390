"""The page on which each form stands, to show it again where what it sent is refused.

`FORM_PAGES` names for each POST the GET with its query, filled from the fields that were sent. A
form that a person sends from another page (its `Referer`) is shown there, where that page has it.
Invariant: every POST of the console is named here, or says why it has no page (`NO_PAGE`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.routing import compile_path

from shared.frozen import frozen

__all__ = ["FORM_PAGES", "NO_PAGE", "Address", "Shown", "addresses"]

FORM_PAGES: Final[Mapping[str, str]] = {
    "/add-hosts": "/add-hosts",
    "/agent/believe": "/agent?name={name}",
    "/agent/command": "/agent?name={name}",
    "/agent/compare": "/agent?name={name}",
    "/agent/list-limit": "/agent?name={name}",
    "/agent/position": "/agent?name={name}",
    "/agent/retire": "/agent?name={name}",
    "/agent/sending": "/agent?name={name}",
    "/alerts/end": "/alerts",
    "/alerts/silence": "/alerts",
    "/alerts/speak": "/alerts",
    "/alerts/test": "/alerts",
    "/alerts/windows": "/alerts",
    "/archive-jobs/remove": "/archive-jobs",
    "/client/disable": "/client?name={name}",
    "/client/enable": "/client?name={name}",
    "/client/revoke": "/client?name={name}",
    "/client/token": "/client?name={name}",
    "/collection/orders": "/collection",
    "/collection/orders/cancel": "/collection",
    "/collection/schedules": "/collection",
    "/collection/schedules/change": "/collection?edit={schedule}",
    "/collection/schedules/remove": "/collection",
    "/collection/schedules/run": "/collection",
    "/collection/transfers/give-up": "/collection",
    "/fleet-rules/block": "/fleet-rules",
    "/fleet-rules/limits": "/fleet-rules",
    "/fleet-rules/unblock": "/fleet-rules",
    "/host/ban": "/host?host={host}",
    "/host/exclude": "/host?host={host}",
    "/host/include": "/host?host={host}",
    "/host/lift-ban": "/host?host={host}",
    "/host/merge": "/host?host={host}",
    "/host/move": "/host?host={unit}",
    "/host/resolve": "/host?host={host}",
    "/host/split": "/host?host={host}",
    "/host/unpin": "/host?host={unit}",
    "/hosts/resolve": "/hosts",
    "/join-token/revoke": "/agents",
    "/new-agent": "/new-agent",
    "/new-client": "/new-client",
    "/new-user": "/new-user",
    "/own-password": "/own-password",
    "/plans": "/balance",
    "/plans/undo": "/plans/{plan}",
    "/plans/{number:int}/apply": "/plans/{number}",
    "/probes/order": "/probes",
    "/release-agents/canary": "/release-agents",
    "/release-agents/pin": "/release-agents",
    "/releases/halt": "/releases",
    "/releases/init": "/releases",
    "/releases/minimum": "/releases",
    "/releases/revoke": "/releases",
    "/releases/rollout": "/releases",
    "/releases/rotate": "/releases",
    "/reports/take": "/reports",
    "/restart": "/restart",
    "/rounds/cancel": "/rounds",
    "/rounds/schedules": "/rounds",
    "/rounds/schedules/change": "/rounds?edit={schedule}",
    "/rounds/schedules/remove": "/rounds",
    "/rounds/start": "/rounds",
    "/scrub": "/data",
    "/compact": "/withdrawn",
    "/managers/forget": "/settings",
    "/tokens": "/tokens",
    "/tokens/revoke": "/tokens",
    "/trash/adopt": "/trash",
    "/trash/put-back": "/trash",
    "/user/disable": "/user?name={name}",
    "/user/enable": "/user?name={name}",
    "/user/log-out": "/user?name={name}",
    "/user/password": "/user/password?name={name}",
    "/user/role": "/user?name={name}",
    "/withdrawn": "/withdrawn",
}
NO_PAGE: Final[Mapping[str, str]] = {
    "/login": "answers with itself, and keeps the name",
    "/logout": "has no field, and stands on every page",
    "/look": "has no field that can be wrong, and stands on every page",
    "/agent/contradicted.csv": "sends a file",
    "/agent/contradicted.json": "sends a file",
}
"""Which POST is shown nowhere again, and why."""

PREFIX: Final = "/console"
_FIELD: Final = re.compile(r"\{(\w+)\}")


class Shown(Protocol):
    """A route of the console."""

    @property
    def method(self) -> str:
        """`GET` or `POST`."""

    @property
    def path(self) -> str:
        """The path, its parameters in braces."""


@frozen
class Address:
    """A page of the console: which route, with which parameters of its path and query."""

    route: int
    path: str
    query: str
    numbers: Mapping[str, int]

    @property
    def fields(self) -> dict[str, str]:
        """Return the query by name."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


def addresses(
    routes: Sequence[Shown],
    path: str,
    form: Mapping[str, str],
    numbers: Mapping[str, int],
    referer: str,
) -> list[Address]:
    """Return where a form may be shown again, the likeliest first.

    path: of the POST's route. numbers: the parameters of its path. referer: the page that sent it.
    """
    known = FORM_PAGES.get(path)
    if known is None:
        return []
    own = _FIELD.sub(
        lambda name: quote(form.get(name[1]) or str(numbers.get(name[1], "")), ""), known
    )
    sent = urlsplit(referer)
    asked = sent.path.removeprefix(PREFIX) + (f"?{sent.query}" if sent.query else "")
    back = form.get("back", "").removeprefix(PREFIX)
    listed = back if back.partition("?")[0] == own.partition("?")[0] else ""
    wanted = [one for one in (asked, listed, own) if one]
    found = [_address(routes, one) for one in dict.fromkeys(wanted)]
    return [one for one in found if one is not None]


def _address(routes: Sequence[Shown], text: str) -> Address | None:
    path, _mark, query = text.partition("?")
    for place, route in enumerate(routes):
        if route.method != "GET" or "." in route.path:
            continue
        pattern, _format, _converters = compile_path(route.path)
        found = pattern.match(path)
        if found is not None:
            numbers = {name: int(value) for name, value in found.groupdict().items()}
            return Address(place, path, query, numbers)
    return None
