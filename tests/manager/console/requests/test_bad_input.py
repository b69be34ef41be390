"""What nobody should send, and the longest that anybody may: refused in words, or taken.

On both databases: PostgreSQL refuses texts that SQLite keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from manager.console.routes import PAGES
from manager.operations.people.users import add_user
from manager.operations.planning.plans import make_plan
from tests.manager.console.browser import FORM, Browser
from tests.manager.console.filled import PASSWORD
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running, fill, running
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

AGENT = "a.example"
LONGEST = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 58, "jp"])
NAMES = (
    "q host agent name state kind url status since until mark shown older client "
    "method applied action actor subject domain reached columns before page size sort "
    "version outcome who show range edges pattern next held told token "
)
"""Of queries."""

FIELDS = (
    "name host reason crontab zone method moves agent older lines unit pieces to days "
    "role contact purpose password version ring key hours from until condition first "
    "end pull number pages rate weekday weekend latitude longitude command round plan "
    "standing blocklist patterns url kind theme bar language "
)
"""Of forms."""

HOSTILE = [
    "\x00",
    "www\x00.example.jp",
    "\u202egnp.exe <script>alert(1)</script>",
    "\ud800",
    "-1",
    "9" * 400,
    "1e999",
    "nan",
    "' OR 1=1 --",
    "%\\_[(*+?{",
    "x" * 1000,
]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """Return a small manager on each database."""
    if request.param == "sqlite":
        with running(tmp_path) as prsm:
            yield _small(prsm)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.new_database() as url, running(tmp_path, f"database.url={url}") as prsm:
        yield _small(prsm)


def _small(prsm: Running) -> Running:
    add_user(prsm.manager.db, "admin", PASSWORD, "admin", ADMIN, START_MS)
    prsm.agent(AGENT).call.get(f"/servlets/list?host={AGENT}")
    fill(prsm, "www.example.jp", LONGEST)
    make_plan(prsm.manager.db, "random", ADMIN, START_MS, policy=prsm.manager.policy)
    return prsm


@pytest.fixture
def admin(both: Running) -> Browser:
    """Log in."""
    browser = Browser(both.public)
    browser.log_in("admin")
    return browser


def _encoded(fields: dict[str, str]) -> str:
    return urlencode(fields, errors="surrogatepass")


def _path(path: str) -> str:
    return f"/console{path}".replace("{number:int}", "1").replace("{which}", "pages")


@pytest.mark.slow
def test_no_query_makes_a_page_fail(admin: Browser) -> None:
    """Every page with every name that a query may have: an answer, or what is wrong with it."""
    pages = [page for page in PAGES if page.method == "GET" and page.path != "/events"]
    for value in HOSTILE:
        every = dict.fromkeys(NAMES.split(), value)
        for fields in (every, {"q": value}, {"host": value, "name": value}):
            for page in pages:
                answer = admin.get(f"{_path(page.path)}?{_encoded(fields)}")
                assert answer.status_code != 500, f"{page.path} {value!a}"


@pytest.mark.slow
def test_no_form_makes_a_page_fail(admin: Browser) -> None:
    """Every action with such words in every field is refused, or does what it says."""
    sure = {"csrf": admin.csrf, "confirmed": "yes"}
    known = {"name": AGENT, "host": "www.example.jp", "unit": "http://www.example.jp:80/"}
    kind = {"content-type": FORM, "sec-fetch-site": "same-origin"}
    pages = [page for page in PAGES if page.method == "POST" and page.role is not None]
    for value in HOSTILE:
        for right in ({}, known):
            body = _encoded(dict.fromkeys(FIELDS.split(), value) | right | sure).encode()
            for page in pages:
                answer = admin._send("POST", _path(page.path), body, kind)
                assert answer.status_code not in (401, 500), f"{page.path} {value!a}"


def test_what_no_keyboard_types_is_refused_in_words(both: Running, admin: Browser) -> None:
    """U+0000 in a filter or a form, and in a call of a script: 400, with what is wrong."""
    for path in ("agents?q=%00", "agent?name=a%00", "host?host=%00", "audit?actor=%00"):
        answer = admin.get(f"/console/{path}")
        assert answer.status_code == 400, path
        assert "U+0000" in answer.text
    form = admin.page("/console/host?host=www.example.jp").form("/console/host/exclude")
    assert admin.submit(form, reason="no\x00thing").status_code == 400
    for path in ("audit?actor=%00", "users/a%00b/sessions", "hosts?text=%00"):
        refused = both.local.get(f"/api/v1/{path}")
        assert refused.status_code == 400, path
        assert "U+0000" in refused.json()["detail"]
    for asked in ({"host": "www.example.jp", "reason": "no\x00thing"}, {"host": "\x00"}):
        refused = both.local.post("/api/v1/hosts/exclude", json=asked)
        assert refused.status_code == 400
        assert "U+0000" in refused.json()["detail"]
    taken = {"host": "www.example.jp", "reason": r"no\u0000thing"}
    assert both.local.post("/api/v1/hosts/exclude", json=taken).status_code in (200, 204)


def test_no_number_is_too_large_to_be_answered(both: Running) -> None:
    """Beyond what a database keeps it is nobody's, or refused in words; never a defect of ours."""
    for path in (
        "rounds/{}",
        "plans/{}",
        "hosts?offset={}",
        "audit?before={}",
        "reports?before={}",
    ):
        answer = both.local.get("/api/v1/" + path.format(9 * 10**30))
        assert answer.status_code in (200, 400, 404), path
    answer = both.local.get(f"/api/v1/hosts?offset={9 * 10**30}")
    assert answer.status_code == 400
    told = answer.json()
    assert (told["code"], told["params"]["most"]) == ("invalid_value", 2**63 - 1)
    assert "must be at most 9223372036854775807" in told["detail"]


def test_a_file_that_cannot_be_is_refused_as_a_page(admin: Browser) -> None:
    """A filter that is wrong is said in words, and no file is begun."""
    for address in (
        "probes/distances.csv?host=no%20host",
        "logs.csv?since=soon",
        "logs.csv?host=*",
    ):
        answer = admin.get(f"/console/{address}")
        assert answer.status_code == 400, address
        assert "<h1>" in answer.text


def test_the_longest_host_name_is_a_host_as_others_are(admin: Browser) -> None:
    """253 characters: found, shown, excluded, in lists and in CSV; one more is refused in words."""
    assert len(LONGEST) == 253
    assert LONGEST in admin.page(f"/console/hosts?q={LONGEST}").text
    assert LONGEST in admin.get("/console/hosts.csv").text
    found = admin.get(f"/console/search?q={LONGEST}")
    assert LONGEST in found.headers["location"]
    page = admin.page(f"/console/host?host={LONGEST}")
    assert LONGEST in page.text
    asked = admin.submit(page.form("/console/host/exclude"), reason="it is too long")
    assert asked.status_code in (200, 303)
    refused = admin.act("/console/add-hosts", "/console/add-hosts", {"lines": f"x{LONGEST}"})
    assert "253" in admin.follow(refused).text
