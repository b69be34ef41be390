"""Log in, log out, come back with what was typed."""

from __future__ import annotations

import pytest

from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import audit_page
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import BIDI, HOSTS, PASSWORD
from tests.manager.console.markup import read
from tests.manager.running import Running

HOST = f"http://{HOSTS[5]}:80/"


def test_a_login_leads_where_one_wanted_to_go(prsm: Running) -> None:
    """Who asks for a page gets the login first, and then that page."""
    browser = Browser(prsm.public)
    wanted = "/console/hosts?q=example1.jp&sort=-volume"
    login = browser.page(wanted)
    answer = browser.submit(login.form("/console/login"), name="viewer", password=PASSWORD)
    assert answer.status_code == 303
    assert answer.headers["location"] == wanted
    assert browser.page(wanted).has_form("/console/logout")
    assert browser.get("/console/login").headers["location"] == "/console/"


def test_the_cookie_is_no_scripts_business(prsm: Running) -> None:
    """The session's cookie is HttpOnly and SameSite, and its value stands on no page."""
    browser = Browser(prsm.public)
    answer = browser.log_in("viewer")
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("prsm=")]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert browser.cookies["prsm"] not in browser.get("/console/").text


@pytest.mark.parametrize(("name", "password"), [("viewer", "wrong"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_sound_alike(
    prsm: Running, name: str, password: str
) -> None:
    """A refused login does not say which of the two was wrong, and keeps the name only."""
    browser = Browser(prsm.public)
    login = browser.page("/console/login").form("/console/login")
    answer = browser.submit(login, name=name, password=password)
    assert answer.status_code == 401
    assert "User name or password is wrong." in answer.text
    again = read(answer.text).form("/console/login").fields
    assert again["name"] == name
    assert again["password"] == ""
    assert "prsm" not in browser.cookies


def test_guessing_is_slowed_down_and_written_down(
    prsm: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """After some wrong passwords even the right one has to wait, and is told how long. The log has
    each of them with its address, the audit one alert."""
    forged = {"x-forwarded-for": "192.0.2.9\x1b[31m"}
    browser = Browser(prsm.public, "192.0.2.7", "https", extra=forged)
    for _ in range(5):
        assert browser.log_in("operator", "a wrong password").status_code == 401
    answer = browser.log_in("operator")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    refused = [record.getMessage() for record in caplog.records if "refused" in record.msg]
    assert len(refused) == 6
    assert "login as 'operator' from 192.0.2.7 refused" in refused[0]
    assert "a wrong password" not in caplog.text
    (alert,) = audit_page(prsm.manager.db, action="user.fail-logins", alerts=True)
    assert alert.subject == "operator"
    prsm.clock.advance(301)
    assert browser.log_in("operator").status_code == 303


def test_a_disabled_user_is_told_so(prsm: Running, person: Visitor) -> None:
    """Who is disabled loses the session at once and is not let in."""
    viewer, admin = person("viewer"), person("admin")
    action = "/console/user/disable"
    asked = read(admin.act("/console/user?name=viewer", action).text)
    assert admin.submit(asked.form(action)).status_code == 303
    assert viewer.get("/console/agents").status_code == 303
    answer = viewer.log_in("viewer")
    assert answer.status_code == 403
    assert "is disabled" in answer.text


def test_each_login_makes_a_new_session(prsm: Running) -> None:
    """The session's id is renewed at login and the one before is over: none can be planted."""
    browser = Browser(prsm.public)
    browser.log_in("viewer")
    first = dict(browser.cookies)
    login = Browser(prsm.public, cookies={"prsm": "planted", **browser.cookies})
    page = Browser(prsm.public).page("/console/login").form("/console/login")
    login.cookies = {"prsm": "planted"}
    login.page("/console/login")
    answer = login.submit(
        login.page("/console/login").form("/console/login"), name="viewer", password=PASSWORD
    )
    assert answer.status_code == 303
    assert login.cookies["prsm"] not in ("planted", first["prsm"])
    assert page.fields["csrf"]


def test_logging_in_again_ends_the_session_before(prsm: Running, person: Visitor) -> None:
    """Whoever logs in over a session does not leave the old one behind."""
    browser = person("viewer")
    before = dict(browser.cookies)
    token = browser.csrf
    browser.post("/console/login", {"csrf": token, "name": "admin", "password": PASSWORD})
    assert browser.page("/console/users")
    assert Browser(prsm.public, cookies=before).get("/console/agents").status_code == 303


def test_a_logout_ends_the_session_for_good(prsm: Running, person: Visitor) -> None:
    """After the logout the cookie's value opens nothing any more."""
    browser = person("viewer")
    before = dict(browser.cookies)
    answer = browser.act("/console/agents", "/console/logout")
    assert answer.headers["location"] == "/console/login"
    assert "prsm" not in browser.cookies
    assert "You are logged out." in browser.page("/console/login").text
    assert Browser(prsm.public, cookies=before).get("/console/agents").status_code == 303


def test_a_session_ends_by_itself(prsm: Running, person: Visitor) -> None:
    """A session expires after its time; parts of pages, and live pages, are notified."""
    browser = person("viewer")
    prsm.clock.advance(12 * 3600 + 1)
    assert browser.get("/console/agents").status_code == 303
    part = browser.get("/console/", hx_request="true")
    assert part.status_code == 286
    assert 'id="over"' in part.text
    assert browser.get("/console/agents", prsm_live="1").status_code == 401
    assert "session has expired" in part.text


def test_what_was_typed_outlives_the_session(prsm: Running, person: Visitor) -> None:
    """A form that is sent after the session's end comes back after the login, as it was typed."""
    browser = person("operator")
    typed = f"asked by mail\n“do not crawl” <b>{BIDI}"
    form = browser.page(f"/console/host?host={HOST}").form("/console/host/exclude")
    prsm.clock.advance(12 * 3600 + 1)
    answer = browser.submit(form, reason=typed)
    assert answer.status_code == 401
    login = read(answer.text)
    assert "your input is kept" in login.text
    again = read(
        browser.submit(login.form("/console/login"), name="operator", password=PASSWORD).text
    )
    assert host_detail(prsm.manager.db, HOST).host.excluded_ms is None
    asked = browser.submit(again.form("/console/host/exclude"))
    assert asked.status_code == 200
    assert browser.submit(read(asked.text).form("/console/host/exclude")).status_code == 303
    assert host_detail(prsm.manager.db, HOST).host.excluded_reason == typed


def test_a_wrong_password_does_not_lose_it_either(prsm: Running, person: Visitor) -> None:
    """What was typed goes through any number of failed logins."""
    browser = person("operator")
    form = browser.page("/console/add-hosts").form("/console/add-hosts")
    prsm.clock.advance(12 * 3600 + 1)
    lines = "www.first.jp\nwww.second.jp"
    login = read(browser.submit(form, lines=lines).text).form("/console/login")
    login = read(browser.submit(login, name="operator", password="wrong").text).form(
        "/console/login"
    )
    again = read(browser.submit(login, name="operator", password=PASSWORD).text)
    assert again.form("/console/add-hosts").fields["lines"] == lines


def test_passwords_are_never_kept(prsm: Running, person: Visitor) -> None:
    """Of a form with a password all is kept but that; it is asked for again."""
    browser = person("admin")
    form = browser.page("/console/new-user").form("/console/new-user")
    prsm.clock.advance(12 * 3600 + 1)
    answer = browser.submit(form, name="koji", password="a secret that nobody sees")
    assert "a secret that nobody sees" not in answer.text
    login = read(answer.text).form("/console/login")
    again = read(browser.submit(login, name="admin", password=PASSWORD).text)
    form = again.form("/console/new-user")
    assert (form.fields["name"], form.fields["password"]) == ("koji", "")
    assert browser.submit(form, password="another long secret").status_code == 303


def test_a_form_from_before_a_login_is_shown_again(prsm: Running, person: Visitor) -> None:
    """A form of an earlier session is not lost and not done: it is shown to be sent again."""
    browser = person("operator")
    form = browser.page("/console/add-hosts").form("/console/add-hosts")
    browser.post("/console/login", {"csrf": browser.csrf, "name": "operator", "password": PASSWORD})
    answer = browser.submit(form, lines="www.third.jp\nwww.fourth.jp")
    assert answer.status_code == 403
    again = read(answer.text).form("/console/add-hosts")
    assert browser.submit(again).status_code == 303


def test_an_old_login_form_is_not_taken(prsm: Running) -> None:
    """The login has a token too: nobody can be logged in by a page of somebody else."""
    browser = Browser(prsm.public)
    browser.page("/console/login")
    answer = browser.post("/console/login", {"csrf": "x", "name": "viewer", "password": PASSWORD})
    assert answer.status_code == 403
    assert "prsm" not in browser.cookies


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_light_or_dark_is_kept_in_a_cookie(person: Visitor, theme: str) -> None:
    """The choice holds on every page, and can be given back to the system."""
    browser = person("viewer")
    answer = browser.act("/console/hosts?q=jp", "/console/look", {"theme": theme})
    assert answer.headers["location"] == "/console/hosts?q=jp"
    (root,) = browser.page("/console/agents").all("html")
    assert root.attributes["data-bs-theme"] == theme
    browser.act("/console/agents", "/console/look", {"theme": "system"})
    (root,) = browser.page("/console/agents").all("html")
    assert "data-bs-theme" not in root.attributes


def test_a_forged_look_or_result_is_nothing(person: Visitor) -> None:
    """Cookies are what anybody may send: an unknown theme or a broken result shows nothing."""
    browser = person("viewer")
    for flash in ("x", "W10=", "!!!", "eyJhIjogMX0="):
        browser.cookies |= {"prsm-theme": '"><script>', "prsm-flash": flash}
        page = browser.page("/console/agents")
        assert "data-bs-theme" not in page.all("html")[0].attributes
        assert not any("flash" in each.attributes.get("class", "") for each in page.all("div"))


def test_logins_and_logouts_are_in_the_audit(prsm: Running) -> None:
    """Who came and went is written down."""
    browser = Browser(prsm.public)
    browser.log_in("viewer")
    browser.act("/console/agents", "/console/logout")
    rows = audit_page(prsm.manager.db, limit=2, actor="viewer")
    assert [row.action for row in rows] == ["user.logout", "user.login"]
