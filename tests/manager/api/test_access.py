"""Who may do what: sessions, roles, the CSRF token, and the Unix socket."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
import pytest

from manager.api.access import csrf_of
from manager.operations.people.users import add_user
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, Running

PASSWORD = "correct horse battery"


@dataclass
class Session:
    """A browser that is logged in."""

    call: Caller
    answer: httpx.Response


def login(prsm: Running, role: str, call: Caller | None = None) -> Session:
    """Make a user of a role and log in."""
    call = call or Caller(prsm.public)
    add_user(prsm.manager.db, role, PASSWORD, role, LOCAL, prsm.clock())
    answer = call.post("/api/v1/login", json={"name": role, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    cookies = [header.split(";")[0] for header in answer.headers.get_list("set-cookie")]
    call.headers["Cookie"] = "; ".join(cookies)
    call.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    return Session(call, answer)


RANKS = ["viewer", "operator", "admin"]
PIN = {"unit": "http://a.example:80/", "agent": "a.example"}
NEEDS = [
    ("GET", "/api/v1/overview", None, "viewer"),
    ("GET", "/api/v1/search?q=a.example", None, "viewer"),
    ("GET", "/api/v1/archive/captures?url=http://a.example/", None, "viewer"),
    ("GET", "/api/v1/managers", None, "viewer"),
    ("POST", "/api/v1/managers/x/forget", {}, "admin"),
    ("GET", "/api/v1/hosts", None, "viewer"),
    ("GET", "/api/v1/hosts/detail?host=a.example", None, "viewer"),
    ("GET", "/api/v1/agents", None, "viewer"),
    ("GET", "/api/v1/agents/a.example", None, "viewer"),
    ("GET", "/api/v1/agents/a.example/refetches", None, "viewer"),
    ("GET", "/api/v1/overview/activity", None, "viewer"),
    ("GET", "/api/v1/probes", None, "viewer"),
    ("GET", "/api/v1/probes/matrix", None, "viewer"),
    ("GET", "/api/v1/probes/coverage", None, "viewer"),
    ("POST", "/api/v1/probes", {"host": "a.example"}, "operator"),
    ("GET", "/api/v1/rounds", None, "viewer"),
    ("GET", "/api/v1/rounds/history", None, "viewer"),
    ("GET", "/api/v1/plans/1/tree", None, "viewer"),
    ("GET", "/api/v1/plans/1/changes", None, "viewer"),
    ("GET", "/api/v1/rounds/1", None, "viewer"),
    ("GET", "/api/v1/plans", None, "viewer"),
    ("GET", "/api/v1/plans/1", None, "viewer"),
    ("GET", "/api/v1/hosts/resolutions", None, "viewer"),
    ("POST", "/api/v1/hosts/resolutions", None, "viewer"),
    ("POST", "/api/v1/hosts/resolve", {"host": "a.example"}, "operator"),
    (
        "POST",
        "/api/v1/hosts/addresses/decide",
        {"address": "192.0.2.1", "decision": "shared"},
        "operator",
    ),
    ("GET", "/api/v1/hosts/pins", None, "viewer"),
    ("GET", "/api/v1/hosts/bans", None, "viewer"),
    ("GET", "/api/v1/rounds/schedules", None, "viewer"),
    ("GET", "/api/v1/rounds/1/report", None, "viewer"),
    ("GET", "/api/v1/rounds/1/holders", None, "viewer"),
    ("GET", "/api/v1/rounds/1/forecast", None, "viewer"),
    ("GET", "/api/v1/rounds/forecast", None, "viewer"),
    ("GET", "/api/v1/collection/schedules", None, "viewer"),
    ("GET", "/api/v1/collection/orders", None, "viewer"),
    ("GET", "/api/v1/collection/transfers", None, "viewer"),
    ("GET", "/api/v1/audit", None, "viewer"),
    ("GET", "/api/v1/reports", None, "viewer"),
    ("GET", "/api/v1/check", None, "viewer"),
    ("GET", "/api/v1/logs", None, "viewer"),
    ("GET", "/api/v1/session", None, "viewer"),
    ("POST", "/api/v1/hosts/import", None, "operator"),
    ("POST", "/api/v1/hosts/exclude", {"host": "a.example"}, "operator"),
    ("POST", "/api/v1/hosts/split", {"host": "a.example"}, "operator"),
    ("POST", "/api/v1/hosts/merge", {"host": "a.example"}, "operator"),
    ("GET", "/api/v1/hosts/splits", None, "viewer"),
    ("POST", "/api/v1/hosts/splits/apply", {}, "operator"),
    ("POST", "/api/v1/hosts/splits/cancel", {"host": "a.example"}, "operator"),
    ("POST", "/api/v1/hosts/include", {"host": "a.example"}, "operator"),
    ("POST", "/api/v1/agents/a.example/command", {"command": "restart"}, "operator"),
    ("POST", "/api/v1/agents/a.example/list-limit", {"pages": 50}, "operator"),
    ("POST", "/api/v1/agents/a.example/compare", {}, "operator"),
    ("POST", "/api/v1/agents/a.example/believe", {}, "operator"),
    ("POST", "/api/v1/hosts/move", PIN, "operator"),
    ("POST", "/api/v1/hosts/pin", PIN, "operator"),
    ("POST", "/api/v1/hosts/pin-many", {"units": [PIN["unit"]], "agent": PIN["agent"]}, "operator"),
    ("POST", "/api/v1/hosts/unpin", {"units": [PIN["unit"]]}, "operator"),
    ("POST", "/api/v1/hosts/ban", {"host": "a.example", "agent": PIN["agent"]}, "operator"),
    ("POST", "/api/v1/hosts/lift-ban", {"host": "a.example", "agent": PIN["agent"]}, "operator"),
    ("POST", "/api/v1/lists/import", None, "operator"),
    ("POST", "/api/v1/export/costs", None, "operator"),
    ("POST", "/api/v1/rounds/schedules", {"crontab": "@daily"}, "operator"),
    ("POST", "/api/v1/rounds/schedules/1", {"crontab": "@daily"}, "operator"),
    ("POST", "/api/v1/rounds/schedules/1/remove", {}, "operator"),
    ("POST", "/api/v1/collection/schedules", {"crontab": "@daily"}, "operator"),
    ("POST", "/api/v1/collection/schedules/1", {"crontab": "@daily"}, "operator"),
    ("POST", "/api/v1/collection/schedules/1/run", {}, "operator"),
    ("POST", "/api/v1/collection/schedules/1/remove", {}, "operator"),
    ("POST", "/api/v1/collection/ask-all", {}, "operator"),
    ("POST", "/api/v1/collection/agents/a.example/limits", {}, "operator"),
    ("POST", "/api/v1/collection/orders", {"agent": "a.example"}, "operator"),
    ("POST", "/api/v1/collection/orders/1/cancel", {}, "operator"),
    ("POST", "/api/v1/collection/transfers/1/cancel", {}, "operator"),
    ("POST", "/api/v1/plans/undo", {}, "operator"),
    ("POST", "/api/v1/rounds", {}, "operator"),
    ("POST", "/api/v1/rounds/cancel", {}, "operator"),
    ("POST", "/api/v1/rounds/carry-over", {}, "operator"),
    ("POST", "/api/v1/rounds/use-predictions", {}, "operator"),
    ("POST", "/api/v1/plans", {}, "operator"),
    ("POST", "/api/v1/plans/1/apply", {}, "operator"),
    ("POST", "/api/v1/agents/a.example/token", {}, "admin"),
    ("POST", "/api/v1/agents/a.example/token/revoke", {}, "admin"),
    ("POST", "/api/v1/agents/a.example/retire", {}, "admin"),
    ("GET", "/api/v1/join-tokens", None, "admin"),
    ("GET", "/api/v1/alerts", None, "viewer"),
    ("POST", "/api/v1/alerts/quiet", {"seconds": 0, "reason": "x"}, "operator"),
    ("POST", "/api/v1/alerts/silence", {"key": "a:", "seconds": 9, "reason": "x"}, "operator"),
    ("POST", "/api/v1/alerts/windows", {"from_ms": 0, "until_ms": 1}, "operator"),
    ("POST", "/api/v1/alerts/silences/1/end", {}, "operator"),
    ("POST", "/api/v1/alerts/test", {}, "operator"),
    ("GET", "/api/v1/fleet-rules", None, "viewer"),
    ("GET", "/api/v1/fleet-rules/try?url=a.example", None, "viewer"),
    ("POST", "/api/v1/fleet-rules/blocked", {"text": "/x/"}, "operator"),
    ("POST", "/api/v1/fleet-rules/blocked/1/remove", {}, "operator"),
    ("POST", "/api/v1/fleet-rules/limits", {}, "operator"),
    ("GET", "/api/v1/scope", None, "viewer"),
    ("GET", "/api/v1/scope/try?url=a.example", None, "viewer"),
    ("POST", "/api/v1/scope/preview", {"text": "include *.jp"}, "viewer"),
    ("POST", "/api/v1/scope", {"text": "include *.jp"}, "operator"),
    ("POST", "/api/v1/agents/a.example/position", None, "operator"),
    ("GET", "/api/v1/settings", None, "viewer"),
    ("POST", "/api/v1/password", {"old": PASSWORD, "new": f"{PASSWORD}!"}, "viewer"),
    ("GET", "/api/v1/tokens", None, "viewer"),
    ("POST", "/api/v1/tokens", {"name": "x"}, "viewer"),
    ("POST", "/api/v1/tokens/1/revoke", {}, "viewer"),
    ("GET", "/api/v1/archive", None, "viewer"),
    ("GET", "/api/v1/archive/withdrawn", None, "viewer"),
    ("GET", "/api/v1/archive/downloads", None, "viewer"),
    ("GET", "/api/v1/archive/jobs", None, "viewer"),
    ("POST", "/api/v1/archive/jobs/1/remove", {}, "admin"),
    ("GET", "/api/v1/archive/mirrors", None, "viewer"),
    ("POST", "/api/v1/archive/compact", {}, "admin"),
    ("GET", "/api/v1/clients", None, "viewer"),
    ("POST", "/api/v1/clients", {"name": "x", "contact": "x@x.example"}, "admin"),
    ("POST", "/api/v1/clients/x/tokens", {}, "admin"),
    ("POST", "/api/v1/clients/x/tokens/1/revoke", {}, "admin"),
    ("POST", "/api/v1/clients/x/disable", {}, "admin"),
    ("GET", "/api/v1/releases", None, "viewer"),
    ("GET", "/api/v1/releases/metadata/root.json", None, "viewer"),
    ("GET", "/api/v1/releases/updates", None, "viewer"),
    ("POST", "/api/v1/releases/init", {"root": "", "targets": ""}, "admin"),
    ("POST", "/api/v1/releases/root", {"root": ""}, "admin"),
    ("POST", "/api/v1/releases/bundles", None, "admin"),
    ("POST", "/api/v1/releases/publish", {"targets": ""}, "admin"),
    ("POST", "/api/v1/releases/minimum", {}, "admin"),
    ("POST", "/api/v1/releases/agents/a.example/canary", {}, "admin"),
    ("POST", "/api/v1/releases/agents/a.example/pin", {}, "admin"),
    ("POST", "/api/v1/releases/1.0/rollout", {"ring": "all"}, "admin"),
    ("POST", "/api/v1/releases/1.0/halt", {}, "admin"),
    ("POST", "/api/v1/releases/1.0/revoke", {"targets": ""}, "admin"),
    ("GET", "/api/v1/archive/trash", None, "viewer"),
    ("GET", "/api/v1/archive/scrub", None, "viewer"),
    ("GET", "/api/v1/archive/problems", None, "viewer"),
    ("GET", "/api/v1/check/files", None, "viewer"),
    ("POST", "/api/v1/check/files", {}, "operator"),
    ("POST", "/api/v1/archive/scrub", {}, "admin"),
    ("POST", "/api/v1/archive/adopt", {}, "admin"),
    ("GET", "/api/v1/users", None, "admin"),
    ("POST", "/api/v1/users", {"name": "x", "password": PASSWORD}, "admin"),
    ("POST", "/api/v1/users/x/password", {"password": PASSWORD}, "admin"),
    ("POST", "/api/v1/users/x/role", {"role": "viewer"}, "admin"),
    ("POST", "/api/v1/users/x/disable", {}, "admin"),
    ("POST", "/api/v1/users/x/enable", {}, "admin"),
    ("GET", "/api/v1/users/x/sessions", None, "admin"),
    ("POST", "/api/v1/users/x/sessions/end", {}, "admin"),
]


def call(caller: Caller, method: str, path: str, body: object) -> httpx.Response:
    return caller.send(method, path) if body is None else caller.send(method, path, json=body)


def test_every_route_is_in_the_table(prsm: Running) -> None:
    """No route for administrators escapes the tests of this file."""
    paths = prsm.local.get("/api/v1/openapi.json").json()["paths"]
    known = {(method, path.split("?")[0]) for method, path, _, _ in NEEDS}
    known |= {("POST", "/api/v1/login"), ("POST", "/api/v1/logout")}
    agents = {"/api/v1/sync", "/api/v1/enrol", "/api/v1/key"}
    agents |= {"/api/v1/collection/orders/{number}", "/api/v1/collection/offers"}
    asked: set[tuple[str, str]] = set()
    for path, methods in paths.items():
        if path.startswith(("/servlets/", "/api/v1/uploads")) or path in agents:
            continue
        tags = {tag for method in methods.values() for tag in method["tags"]}
        if tags & {"captures", "WASAPI", "uploads of segments (tus 1.0)", "releases for sites"}:
            continue  # third parties' and agents', by a token or key of their own
        concrete = (
            path.replace("agents/{name}", "agents/a.example")
            .replace("users/{name}", "users/x")
            .replace("managers/{name}", "managers/x")
            .replace("clients/{name}", "clients/x")
            .replace("{token_id}", "1")
            .replace("agents/{agent}", "agents/a.example")
            .replace("{version}", "1.0")
            .replace("metadata/{name}", "metadata/root.json")
            .replace("{number}", "1")
            .replace("{kind}", "costs")
        )
        asked |= {(method.upper(), concrete) for method in methods if method != "head"}
    assert asked - known == set()


def test_nobody_without_a_session(prsm: Running) -> None:
    """Without a session every route is 401, on an open line 403; an agent's key opens none."""
    key = prsm.agent().call.headers
    for number, (method, path, body, _) in enumerate(NEEDS):
        # From an address that has shown many wrong tokens the next ones are answered late.
        agent = Caller(prsm.public, address=f"127.0.0.{1 + number // 20}", headers=key)
        assert call(prsm.anybody, method, path, body).status_code == 401, path
        assert call(prsm.outside, method, path, body).status_code == 403, path
        assert call(agent, method, path, body).status_code == 401, path


@pytest.mark.parametrize("held", RANKS)
def test_roles_are_enough_or_not(prsm: Running, held: str) -> None:
    """A role that is too small is 403 and names what is needed; the next ones are let in."""
    session = login(prsm, held).call
    for method, path, body, role in NEEDS:
        answer = call(session, method, path, body)
        if RANKS.index(held) < RANKS.index(role):
            assert answer.status_code == 403, path
            assert f"needs the role {role}" in answer.json()["detail"]
        else:
            assert answer.status_code not in (401, 403, 500), answer.text


def test_a_change_needs_the_token(prsm: Running) -> None:
    """A change with the cookie alone, as another site could send it, is 403; reading is not."""
    session = login(prsm, "operator")
    good = session.call.headers.pop("X-CSRF-Token")
    for token in (None, "", "x", csrf_of("another session")):
        headers = {} if token is None else {"X-CSRF-Token": token}
        answer = session.call.post("/api/v1/rounds", json={}, headers=headers)
        assert answer.status_code == 403
        assert "X-CSRF-Token" in answer.json()["detail"]
    assert session.call.get("/api/v1/rounds").status_code == 200
    let_in = session.call.post("/api/v1/rounds", json={}, headers={"X-CSRF-Token": good})
    assert let_in.status_code == 409  # there is no agent yet


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "odd"])
def test_a_session_is_not_for_pages_of_others(prsm: Running, site: str) -> None:
    """What a link elsewhere makes a browser ask for is refused, though nothing would change."""
    session = login(prsm, "viewer").call
    refused = session.get("/api/v1/check", headers={"Sec-Fetch-Site": site})
    assert refused.status_code == 403
    assert "another origin" in refused.json()["detail"]
    for ours in ("same-origin", "none"):
        headers = {"Sec-Fetch-Site": ours}
        assert session.get("/api/v1/check", headers=headers).status_code == 200


def test_a_token_is_for_any_page(prsm: Running) -> None:
    """No browser adds a token by itself: who sends one means it, from wherever."""
    session = login(prsm, "viewer").call
    token = session.post("/api/v1/tokens", json={"name": "page"}).json()["token"]
    headers = {"Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {token}"}
    assert prsm.anybody.get("/api/v1/agents", headers=headers).status_code == 200


def test_cookies_are_for_their_line(prsm: Running) -> None:
    """Over TLS the cookie is `__Host-` and secure; from loopback it is a plain one; both strict."""
    plain = login(prsm, "viewer").answer.headers["set-cookie"]
    assert plain.startswith("prsm=")
    assert "secure" not in plain.lower()
    tls = Caller(prsm.public, address="192.0.2.7", scheme="https")
    secure = login(prsm, "admin", tls).answer.headers["set-cookie"]
    assert secure.startswith("__Host-prsm=")
    for cookie, flags in ((plain, ()), (secure, ("secure",))):
        for flag in ("httponly", "samesite=strict", "path=/", *flags):
            assert flag in cookie.lower()
        assert "domain" not in cookie.lower()


def test_passwords_do_not_travel_on_an_open_line(prsm: Running) -> None:
    """Logging in over plain HTTP from elsewhere is refused before the password is looked at."""
    answer = prsm.outside.post("/api/v1/login", json={"name": "x", "password": "y"})
    assert answer.status_code == 403
    assert "TLS" in answer.json()["detail"]


def test_wrong_passwords(prsm: Running) -> None:
    """A wrong name and a wrong password get the same 401; many of them 429."""
    add_user(prsm.manager.db, "a", PASSWORD, "viewer", LOCAL, prsm.clock())
    wrong = [
        prsm.anybody.post("/api/v1/login", json={"name": name, "password": "wrong"})
        for name in ("a", "nobody")
    ]
    assert {answer.status_code for answer in wrong} == {401}
    assert wrong[0].json() == wrong[1].json()
    for _ in range(5):
        last = prsm.anybody.post("/api/v1/login", json={"name": "a", "password": "wrong"})
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) > 0


def test_refused_logins_are_in_the_log(prsm: Running, caplog: pytest.LogCaptureFixture) -> None:
    """Each with its name, its address and the reason, as those of the console; no password."""
    body = {"name": "a\x1b", "password": "a wrong password"}
    headers = {"X-Forwarded-For": "192.0.2.9\x1b[31m"}
    call = Caller(prsm.public, address="192.0.2.7", scheme="https", headers=headers)
    for _ in range(6):
        call.post("/api/v1/login", json=body)
    refused = [record.getMessage() for record in caplog.records if "refused" in record.msg]
    start = "login as 'a\\x1b' from 192.0.2.7 refused: "
    assert refused[0] == f"{start}user name or password is wrong"
    assert refused[5] == f"{start}5 wrong passwords in a row: try again in 2 s"
    assert len(refused) == 6
    assert "a wrong password" not in caplog.text


def test_sessions_end(prsm: Running) -> None:
    """After the logout, and after the session's time, the cookie opens nothing."""
    session = login(prsm, "viewer").call
    assert session.get("/api/v1/session").json() == {"kind": "user", "name": "viewer"}
    gone = session.post("/api/v1/logout", json={})
    assert gone.status_code == 200
    assert 'prsm=""' in gone.headers["set-cookie"]
    assert session.get("/api/v1/session").status_code == 401
    other = login(prsm, "operator").call
    prsm.clock.advance(prsm.manager.settings.console.session_s + 1)
    assert other.get("/api/v1/session").status_code == 401


def test_the_unix_socket_is_the_local_administrator(prsm: Running) -> None:
    """Requests by the socket need no session; the audit names them; no header can claim it."""
    assert prsm.local.get("/api/v1/session").json() == {"kind": "local", "name": "local"}
    prsm.local.post("/api/v1/agents/a.example/token")
    (row,) = prsm.local.get("/api/v1/audit").json()
    assert (row["actor_kind"], row["action"]) == ("local", "agent.create-token")
    assert len(row["request_id"]) == 16
