"""Every entrance keeps the same rules: unknown parameters, methods, types and statuses.

`test_contract` goes through all operations of the APIs; here each entrance has a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from manager.operations.people.clients import issue_token, register_client
from manager.operations.people.users import add_user
from tests.manager.asgi import Caller
from tests.manager.console.browser import Browser
from tests.manager.console.filled import PASSWORD
from tests.manager.running import LOCAL, Running, running


@dataclass(frozen=True)
class Entrance:
    """An address of an entrance. stranger: status for who shows no key; known: one of its names.

    whole: an address whose parameter is a whole number; empty: the entrance has none.
    """

    name: str
    method: str
    path: str
    stranger: int
    known: str
    allow: str
    whole: str = ""


ENTRANCES = [
    Entrance(
        "agents", "GET", "/servlets/isrestart", 401, "host", "GET, HEAD, OPTIONS"
    ),
    Entrance(
        "tus", "POST", "/api/v1/uploads", 401, "", "OPTIONS, POST"
    ),
    Entrance(
        "public", "GET", "/api/v1/openapi.json", 200, "", "GET, HEAD, OPTIONS"
    ),
    Entrance(
        "admin", "GET", "/api/v1/hosts", 401, "limit", "GET, HEAD, OPTIONS",
        "/api/v1/hosts?limit=",
    ),
    Entrance(
        "redistribution", "GET", "/api/v1/pages/hosts?host=.*", 401, "after", "GET, HEAD, OPTIONS",
        "/api/v1/pages/hosts?host=.*&after=",
    ),
    Entrance(
        "wasapi", "GET", "/wasapi/v1/webdata", 403, "page", "GET, HEAD, OPTIONS",
        "/wasapi/v1/webdata?page=",
    ),
    Entrance(
        "console", "GET", "/console/hosts", 303, "owner", "GET, HEAD, OPTIONS",
        "/console/hosts?page=",
    ),
    Entrance(
        "exports", "GET", "/console/hosts.csv", 303, "state", "GET, HEAD, OPTIONS",
        "/console/hosts.csv?size=",
    ),
]  # fmt: skip
NAMED = pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def prsm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a manager with an administrator, an agent and a third party."""
    with running(tmp_path_factory.mktemp("entrances")) as opened:
        yield opened


@pytest.fixture(scope="module")
def callers(prsm: Running) -> dict[str, Caller | Browser]:
    """Return who may call each entrance."""
    db, now_ms = prsm.manager.db, prsm.clock()
    add_user(db, "admin", PASSWORD, "admin", LOCAL, now_ms)
    browser = Browser(prsm.public)
    browser.log_in("admin")
    register_client(db, "library", "a@library.example", "research", LOCAL, now_ms)
    token = issue_token(db, "library", LOCAL, now_ms).token
    library = Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})
    agent = prsm.agent().call
    return {
        "agents": agent,
        "tus": agent,
        "public": prsm.anybody,
        "admin": prsm.local,
        "redistribution": library,
        "wasapi": library,
        "console": browser,
        "exports": browser,
    }


def _get(caller: Caller | Browser, path: str) -> tuple[int, str]:
    answer = caller.get(path)
    return answer.status_code, answer.text


@NAMED
def test_who_shows_no_key_is_refused(prsm: Running, entrance: Entrance) -> None:
    """By the status of the entrance: 401, 403 of WASAPI, the login of the console."""
    answer = prsm.anybody.send(entrance.method, entrance.path)
    assert answer.status_code == entrance.stranger


@NAMED
def test_an_unknown_parameter_is_refused_by_its_name(
    callers: dict[str, Caller | Browser], entrance: Entrance
) -> None:
    """400, with the name, and the names that are known."""
    sign = "&" if "?" in entrance.path else "?"
    caller = callers[entrance.name]
    if isinstance(caller, Caller):
        answer = caller.send(entrance.method, f"{entrance.path}{sign}colour=red")
    else:
        answer = caller.get(f"{entrance.path}{sign}colour=red")
    assert answer.status_code == 400, answer.text
    assert "colour" in answer.text
    assert "unknown query parameter" in answer.text
    assert entrance.known in answer.text


@NAMED
def test_another_method_is_405_with_all_that_there_are(prsm: Running, entrance: Entrance) -> None:
    """`Allow` names them."""
    answer = prsm.anybody.send("PUT", entrance.path)
    assert (answer.status_code, answer.headers["allow"]) == (405, entrance.allow)


@pytest.mark.parametrize(
    "entrance", [one for one in ENTRANCES if one.whole], ids=lambda one: one.name
)
@pytest.mark.parametrize("value", ["true", "1.5", "0x10", "1e2", "１"])
def test_a_boolean_is_no_number(
    callers: dict[str, Caller | Browser], entrance: Entrance, value: str
) -> None:
    """Nor is any other spelling than that of a whole number."""
    status, text = _get(callers[entrance.name], entrance.whole + value)
    assert status == 400, text
    status, _ = _get(callers[entrance.name], f"{entrance.whole}50")
    assert status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/sync", {"agent": "a.example", "boot_id": "b", "sequence": True, "version": "1"}),
        ("/api/v1/plans", {"method": "default", "seed": True}),
        ("/api/v1/plans", {"method": "default", "compare": 1}),
        ("/wasapi/v1/jobs", {"function": 1, "query": "collection=x"}),
    ],
)
def test_a_body_has_the_types_that_it_declares(
    callers: dict[str, Caller | Browser], path: str, body: dict[str, object]
) -> None:
    """Numbers and booleans are not taken for each other."""
    name = {"/api/v1/sync": "agents", "/api/v1/plans": "admin"}.get(path, "wasapi")
    caller = callers[name]
    assert isinstance(caller, Caller)
    answer = caller.post(path, json=body)
    assert answer.status_code == 400, answer.text


def test_what_is_not_there_is_404(callers: dict[str, Caller | Browser]) -> None:
    """At each entrance, not an empty answer."""
    for name, path in (
        ("tus", "/api/v1/uploads/none"),
        ("public", "/api/v1/none"),
        ("admin", "/api/v1/agents/none"),
        ("redistribution", "/api/v1/segments/none"),
        ("console", "/console/none"),
    ):
        status, text = _get(callers[name], path)
        assert status == 404, (path, text)
