"""Logins at the console: devices that are known, and where people are logged in."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.operations.people.users import add_user
from tests.manager.asgi import Caller
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import PASSWORD
from tests.manager.running import LOCAL, Running, running

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"


def guess(prsm: Running, address: str = "127.0.0.1", scheme: str = "http", times: int = 12) -> None:
    stranger = Browser(prsm.public, address, scheme)
    for _ in range(times):
        assert stranger.log_in("operator", "a wrong password").status_code in (401, 429)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_browser_that_logged_in_before_is_let_in(prsm: Running, scheme: str) -> None:
    """Where somebody else at its own address guesses; a strange browser there has to wait."""
    browser = Browser(prsm.public, scheme=scheme)
    assert browser.log_in("operator").status_code == 303
    browser.act("/console/reports", "/console/logout")
    device = "prsm-device" if scheme == "http" else "__Host-prsm-device"
    assert device in browser.cookies
    guess(prsm, scheme=scheme)
    assert Browser(prsm.public, scheme=scheme).log_in("operator").status_code == 429
    assert browser.log_in("operator").status_code == 303
    only_device = Browser(prsm.public, scheme=scheme, cookies={device: browser.cookies[device]})
    assert only_device.get("/console/agents").status_code == 303, "it opens nothing"


def test_the_cookie_of_a_device_is_kept_from_scripts(prsm: Running) -> None:
    """Over TLS it belongs to this host alone, and it lasts."""
    answer = Browser(prsm.public, "192.0.2.7", "https").log_in("viewer")
    (cookie,) = [
        each
        for each in answer.headers.get_list("set-cookie")
        if each.startswith("__Host-prsm-device=")
    ]
    for part in ("Secure", "HttpOnly", "Path=/", "SameSite=lax", "Max-Age=34560000"):
        assert part in cookie
    assert "Domain" not in cookie


def test_another_address_is_let_in_at_once(prsm: Running) -> None:
    """Behind TLS each client is counted by its own address."""
    guess(prsm, address="198.51.100.1", scheme="https")
    owner = Browser(prsm.public, "192.0.2.7", "https")
    assert owner.log_in("operator").status_code == 303


def test_behind_the_proxy_a_client_is_counted_by_its_own_address(tmp_path: Path) -> None:
    """What it writes itself into X-Forwarded-For changes nothing."""
    with running(tmp_path, "server.behind_tls_proxy=true") as prsm:
        add_user(prsm.manager.db, "operator", PASSWORD, "operator", LOCAL, 0)

        def client(forwarded: str) -> Browser:
            return Browser(
                prsm.public,
                extra={"x-forwarded-proto": "https", "x-forwarded-for": forwarded},
            )

        for number in range(8):
            client(f"203.0.113.{number}, 198.51.100.1").log_in("operator", "a wrong password")
        assert client("198.51.100.1").log_in("operator").status_code == 429
        assert client("203.0.113.5").log_in("operator").status_code == 303


def test_a_wrong_own_password_is_counted_as_a_login(prsm: Running, person: Visitor) -> None:
    """By name and address; another one, and the known device, may go on."""
    browser = person("operator")
    new = {"password": "staple battery horse", "password_again": "staple battery horse"}
    codes = [
        browser.act(
            "/console/own-password", "/console/own-password", {"old_password": "wrong", **new}
        ).status_code
        for _ in range(7)
    ]
    assert codes == [400] * 5 + [429] * 2
    good = {"old_password": PASSWORD, **new}
    assert browser.act("/console/own-password", "/console/own-password", good).status_code == 429
    browser.address, browser.scheme = "192.0.2.9", "http"
    prsm.clock.advance(301)
    browser.address = "127.0.0.1"
    answer = browser.act("/console/own-password", "/console/own-password", good)
    assert answer.status_code == 303
    assert "prsm-device" in browser.cookies


def test_sessions_and_audit_say_where(prsm: Running, person: Visitor) -> None:
    """Address and browser, on the page of the user, in its CSV, the API, and the audit."""
    there = Browser(prsm.public, "192.0.2.77", "https", extra={"user-agent": FIREFOX})
    there.log_in("viewer")
    admin = person("admin")
    page = admin.page("/console/user?name=viewer")
    assert "192.0.2.77" in page.text
    assert "Firefox 142, Linux" in page.text
    assert f"192.0.2.77,{FIREFOX}" in admin.get("/console/user/sessions.csv?name=viewer").text
    sessions = prsm.local.get("/api/v1/users/viewer/sessions").json()
    assert ("192.0.2.77", FIREFOX) in [(one["address"], one["browser"]) for one in sessions]
    (row, *_) = prsm.local.get("/api/v1/audit?action=user.login&subject=viewer").json()
    assert (row["address"], row["browser"]) == ("192.0.2.77", FIREFOX)
    shown = admin.page("/console/audit?action=user.login&subject=viewer").text
    assert "192.0.2.77, Firefox 142, Linux" in shown
    exported = admin.get("/console/audit.csv?action=user.login&subject=viewer").text
    assert f"192.0.2.77,{FIREFOX}" in exported


def test_what_a_person_does_says_from_where(prsm: Running, person: Visitor) -> None:
    """Each audit row of a person, by the console and by a script's token."""
    browser = person("admin")
    browser.extra["user-agent"] = FIREFOX
    browser.act("/console/new-agent", "/console/new-agent", {"name": "nara.example.jp"})
    (row, *_) = prsm.local.get("/api/v1/audit?action=agent.create-token").json()
    assert (row["address"], row["browser"]) == ("127.0.0.1", FIREFOX)
    body = {"name": "x", "role": "operator", "user": "operator"}
    token = prsm.local.post("/api/v1/tokens", json=body).json()["token"]
    script = Caller(
        prsm.public, address="192.0.2.8", scheme="https",
        headers={"Authorization": f"Bearer {token}", "User-Agent": "nightly/1.0"},
    )  # fmt: skip
    assert script.post("/api/v1/alerts/test").status_code == 200
    (row, *_) = prsm.local.get("/api/v1/audit?actor=operator/x").json()
    assert (row["address"], row["browser"]) == ("192.0.2.8", "nightly/1.0")
    (made,) = prsm.local.get("/api/v1/audit?action=token.create").json()
    assert (made["address"], made["browser"]) == ("", "")


def test_text_of_a_browser_is_only_text(prsm: Running, person: Visitor) -> None:
    """It is whatever somebody sent: escaped, cut, without control characters."""
    evil = "<script>alert(1)</script>\x1b[31m" + "x" * 1000
    there = Browser(prsm.public, "192.0.2.78", "https", extra={"user-agent": evil})
    there.log_in("viewer")
    assert "<script>alert" not in person("admin").get("/console/user?name=viewer").text
    sessions = prsm.local.get("/api/v1/users/viewer/sessions").json()
    (kept,) = [one["browser"] for one in sessions if one["address"] == "192.0.2.78"]
    assert len(kept) == 200
    assert "\x1b" not in kept
