"""Who may see and do what: every route, every role; the token, the origin, the line."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from manager.console.requests.access import safe_target
from manager.console.requests.page import Page
from manager.console.routes import PAGES
from manager.operations.people.audit_log import audit_page
from manager.operations.people.users import ROLES
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import PASSWORD
from tests.manager.running import Running

QUERY = {
    "/captured": "?url=http://www001.example1.jp/",
    "/agent": "?name=kyoto.example.ac.jp",
    "/host": "?host=http://www001.example1.jp/",
    "/client": "?name=library",
    "/user": "?name=viewer",
    "/user/password": "?name=viewer",
}


def _address(page: Page) -> str:
    path = page.path.replace("{number:int}", "1").replace("{which}", "pages")
    is_table = page.path.endswith((".csv", ".json"))  # a part of the page that it is below
    of = str(PurePosixPath(page.path).parent) if is_table else page.path
    return f"/console{path}{QUERY.get(of, '')}"


def _audited(prsm: Running) -> int:
    rows = audit_page(prsm.manager.db, limit=1)
    return rows[0].id if rows else 0


def test_every_route_is_there_once() -> None:
    """No two pages claim one method and path, and what needs no role is known."""
    named = [(page.method, page.path) for page in PAGES]
    assert len(named) == len(set(named))
    public = {page.path for page in PAGES if page.role is None}
    assert public == {"/login", "/logout", "/look", "/robot"}


def test_reading_pages_change_nothing() -> None:
    """Whatever acts is a POST; viewers may only read."""
    acting = [page for page in PAGES if page.method == "POST" and page.role is not None]
    own = {"/tokens", "/tokens/revoke", "/own-password"}  # which give no more than one has
    assert all(page.role in ("operator", "admin") or page.path in own for page in acting)


@pytest.mark.parametrize("role", ["", *ROLES])
def test_every_route_for_every_role(prsm: Running, person: Visitor, role: str) -> None:
    """A route answers those whose role suffices, and refuses all others without doing anything."""
    browser = person(role)
    csrf = browser.csrf if role else ""
    for page in PAGES:
        if page.role is None:
            continue
        before = _audited(prsm)
        if page.method == "GET":
            answer = browser.get(_address(page))
        else:
            answer = browser.post(_address(page), {"csrf": csrf})
        what = f"{role or 'nobody'} {page.method} {page.path}: {answer.status_code}"
        if not role:
            refused = 303 if page.method == "GET" else 401
            assert answer.status_code == refused, what
            if page.method == "GET":
                assert answer.headers["location"].startswith("/console/login?next="), what
            assert _audited(prsm) == before, what
        elif ROLES.index(role) < ROLES.index(page.role):
            assert answer.status_code == 403, what
            assert f"needs the role {page.role}" in answer.text
            assert _audited(prsm) == before, what
        else:
            assert answer.status_code not in (401, 403, 405, 500), what
            assert "/console/login" not in answer.headers.get("location", ""), what


@pytest.mark.parametrize("role", ROLES)
def test_buttons_are_hidden_from_those_who_may_not(person: Visitor, role: str) -> None:
    """A page offers nothing that its reader would be refused."""
    browser = person(role)
    may = {page.path: page.role for page in PAGES if page.method == "POST"}
    for page in PAGES:
        if page.method == "POST" or page.path.endswith(
            (".csv", ".json", "/login", "/search", "/events", ".svg", ".png")
        ):
            continue
        if page.role is not None and ROLES.index(role) < ROLES.index(page.role):
            continue
        for form in browser.page(_address(page)).forms:
            if form.method != "post":
                continue
            path = form.action.removeprefix("/console").replace("/plans/1/", "/plans/{number:int}/")
            least = may[path]
            assert least is None or ROLES.index(role) >= ROLES.index(least), (page.path, path)


def test_a_change_without_the_token_is_not_made(prsm: Running, person: Visitor) -> None:
    """A form without the session's token, or with that of another session, changes nothing."""
    browser, other = person("admin"), Browser(prsm.public)
    other.log_in("admin")
    for token in ({}, {"csrf": "0" * 64}, {"csrf": other.csrf}, {"csrf": "é"}):
        for page in PAGES:
            if page.method == "GET" or page.role is None:
                continue
            before = _audited(prsm)
            answer = browser.post(_address(page), {"confirmed": "yes", **token})
            assert answer.status_code == 403, page.path
            assert _audited(prsm) == before, page.path
    assert "earlier session" in answer.text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_a_change_from_elsewhere_is_not_made(prsm: Running, person: Visitor, site: str) -> None:
    """Even with the right token, a change that another page sends is refused."""
    browser = person("operator")
    token, before = browser.csrf, _audited(prsm)
    answer = browser.post(
        "/console/rounds/cancel", {"csrf": token, "confirmed": "yes"}, sec_fetch_site=site
    )
    assert answer.status_code == 403
    assert "another origin" in answer.text
    assert _audited(prsm) == before


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1", 200),
        ("http://127.0.0.1:8000", 403),
        ("http://elsewhere.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_old_browsers_are_judged_by_origin(person: Visitor, origin: str, status: int) -> None:
    """Where a browser does not say the site, Origin must be this very host."""
    browser = person("operator")
    token = browser.csrf
    given = {"csrf": token}
    caller = {"content-type": "application/x-www-form-urlencoded", "origin": origin}
    answer = browser._send(
        "POST", "/console/rounds/cancel", f"csrf={given['csrf']}".encode(), caller
    )
    assert answer.status_code == status


def test_a_program_without_origin_needs_the_token_all_the_same(person: Visitor) -> None:
    """Who sends neither header is asked for the token only."""
    browser = person("operator")
    kind = {"content-type": "application/x-www-form-urlencoded"}
    body = f"csrf={browser.csrf}".encode()
    assert browser._send("POST", "/console/rounds/cancel", body, kind).status_code == 200
    assert browser._send("POST", "/console/rounds/cancel", b"csrf=", kind).status_code == 403


def test_plain_http_from_elsewhere_is_refused_with_the_reason(prsm: Running) -> None:
    """On a line that others can read there is no login form, and no session counts."""
    stranger = Browser(prsm.public, address="192.0.2.7")
    for path in ("/console/login", "/console/", "/console/agents.csv", "/console/nothing"):
        answer = stranger.get(path)
        assert answer.status_code in (403, 404), path
        assert 'type="password"' not in answer.text
        assert "set-cookie" not in answer.headers
    assert "TLS or from loopback only" in stranger.get("/console/login").text
    local = Browser(prsm.public)
    local.log_in("admin")
    stranger.cookies = local.cookies
    assert stranger.get("/console/agents").status_code == 403
    answer = stranger.post("/console/login", {"name": "admin", "password": PASSWORD})
    assert answer.status_code == 403


def test_over_tls_the_cookie_belongs_to_this_host_alone(prsm: Running) -> None:
    """Over TLS the session's cookie has the prefix that browsers hold to host, path and TLS."""
    browser = Browser(prsm.public, address="192.0.2.7", scheme="https")
    answer = browser.log_in("viewer")
    (session,) = [
        each for each in answer.headers.get_list("set-cookie") if each.startswith("__Host-prsm=")
    ]
    for part in ("Secure", "HttpOnly", "Path=/", "SameSite=lax"):
        assert part in session
    assert "Domain" not in session
    assert browser.get("/console/agents").status_code == 200
    plain = Browser(prsm.public, cookies=dict(browser.cookies))
    assert plain.get("/console/agents").status_code == 303


def test_a_proxy_is_believed_only_where_it_was_named(prsm: Running) -> None:
    """Who claims to have come over TLS, without a proxy of ours, gets nothing."""
    claims = Browser(prsm.public, extra={"x-forwarded-proto": "https"})
    assert claims.get("/console/login").status_code == 403


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("/console/agents?state=late", "/console/agents?state=late"),
        ("/console", "/console"),
        ("", "/console/"),
        ("https://elsewhere.example/console/", "/console/"),
        ("//elsewhere.example/console/", "/console/"),
        ("/\\elsewhere.example", "/console/"),
        ("/console/../api/v1/logout", "/console/"),
        ("/console/%2E%2e/api/v1/logout", "/console/"),
        ("/consolation", "/console/"),
        ("javascript:alert(1)", "/console/"),
        ("/console/\r\nSet-Cookie: a=b", "/console/"),
    ],
)
def test_nobody_is_led_elsewhere(wanted: str, got: str) -> None:
    """After a login people go to a page of the console, whatever the address asked for."""
    assert safe_target(wanted) == got


def test_forms_of_another_kind_are_refused(person: Visitor) -> None:
    """A body that is no form of ours is refused in words, and so is one with too many fields."""
    browser = person("operator")
    token = browser.csrf
    answer = browser.post("/console/add-hosts", {"csrf": token}, content_type="text/plain")
    assert answer.status_code == 400
    assert "Content-Type" in answer.text
    many = "&".join(f"f{number}=" for number in range(20_001)).encode()
    kind = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
    assert browser._send("POST", "/console/restart", many, kind).status_code == 400


def test_bodies_over_the_limit_are_refused_as_a_page(person: Visitor) -> None:
    """More than the limit of a request is answered with the limit, as a page."""
    browser = person("operator")
    answer = browser.post("/console/add-hosts", {"csrf": browser.csrf, "lines": "x" * 1_100_000})
    assert answer.status_code == 413
    assert "the limit is" in answer.text
    assert "<h1>" in answer.text


@pytest.mark.parametrize(
    ("old", "page"), [("listrobot", "/console/agents"), ("restart", "/console/restart")]
)
def test_the_addresses_of_the_source_lead_to_its_pages(
    prsm: Running, person: Visitor, old: str, page: str
) -> None:
    """Who knows the source's addresses arrives where its pages are now, after the login."""
    answer = prsm.anybody.get(f"/servlets/{old}")
    assert (answer.status_code, answer.headers["location"]) == (307, page)
    assert person("").get(page).headers["location"].startswith("/console/login?next=")
    assert person("viewer").page(page).all("table")
