"""Users through the API."""

from __future__ import annotations

from tests.manager.asgi import Caller
from tests.manager.running import Running

PASSWORD = "correct horse battery"


def test_users_are_added_and_changed(prsm: Running) -> None:
    """A user is added once, gets roles and passwords; the last administrator stays one."""
    body = {"name": "ann", "password": PASSWORD, "role": "admin"}
    assert prsm.local.post("/api/v1/users", json=body).status_code == 201
    assert prsm.local.post("/api/v1/users", json=body).status_code == 409
    listed = prsm.local.get("/api/v1/users")
    assert [(user["name"], user["role"]) for user in listed.json()] == [("ann", "admin")]
    assert "password" not in listed.text
    last = prsm.local.post("/api/v1/users/ann/role", json={"role": "viewer"})
    assert last.status_code == 409
    prsm.local.post("/api/v1/users", json={**body, "name": "bob"})
    assert prsm.local.post("/api/v1/users/ann/role", json={"role": "viewer"}).status_code == 204
    new = {"password": PASSWORD + "!"}
    done = prsm.local.post("/api/v1/users/ann/password", json=new)
    assert done.json() == {"revoked": 0, "left": 0}
    login = {"name": "ann", "password": PASSWORD}
    assert prsm.anybody.post("/api/v1/login", json=login).status_code == 401
    assert prsm.anybody.post("/api/v1/login", json={**login, **new}).json()["role"] == "viewer"


def test_a_user_is_disabled_and_enabled(prsm: Running) -> None:
    """By calls of their own: one that sets the role neither lets in nor keeps out."""
    body = {"name": "ann", "password": PASSWORD, "role": "operator"}
    prsm.local.post("/api/v1/users", json=body)
    login = {"name": "ann", "password": PASSWORD}
    assert prsm.local.post("/api/v1/users/ann/disable").status_code == 204
    assert prsm.local.post("/api/v1/users/ann/role", json={"role": "viewer"}).status_code == 204
    assert prsm.anybody.post("/api/v1/login", json=login).status_code == 403
    assert prsm.local.post("/api/v1/users/ann/enable").status_code == 204
    old = {"role": "viewer", "disabled": True}
    assert prsm.local.post("/api/v1/users/ann/role", json=old).status_code == 400
    assert prsm.anybody.post("/api/v1/login", json=login).json()["role"] == "viewer"


def test_one_changes_one_s_own_password(prsm: Running) -> None:
    """Any role; this session goes on, another one is over; the present password is asked for."""
    body = {"name": "ann", "password": PASSWORD, "role": "viewer"}
    prsm.local.post("/api/v1/users", json=body)
    callers = []
    for _ in range(2):
        answer = prsm.anybody.post("/api/v1/login", json={"name": "ann", "password": PASSWORD})
        cookie = answer.headers["set-cookie"].partition(";")[0]
        token = answer.json()["csrf_token"]
        headers = {"Cookie": cookie, "X-CSRF-Token": token}
        callers.append(Caller(prsm.public, headers=headers))
    here, elsewhere = callers
    change = {"old": "a wrong password", "new": PASSWORD + "!"}
    assert here.post("/api/v1/password", json=change).status_code == 403
    change["old"] = PASSWORD
    assert here.post("/api/v1/password", json=change).status_code == 204
    assert [caller.get("/api/v1/agents").status_code for caller in callers] == [200, 401]
    login = {"name": "ann", "password": PASSWORD + "!"}
    assert prsm.anybody.post("/api/v1/login", json=login).status_code == 200
    assert elsewhere.post("/api/v1/password", json=change).status_code == 401
    assert prsm.local.post("/api/v1/password", json=change).status_code == 403


def test_tokens_end_with_a_password_where_that_is_asked_for(prsm: Running) -> None:
    """Else they go on, and are counted; tokens that are over, and those of others, do not count."""
    for name in ("ann", "bob"):
        body = {"name": name, "password": PASSWORD, "role": "viewer"}
        prsm.local.post("/api/v1/users", json=body)
    made = {
        (user, name): prsm.local.post(
            "/api/v1/tokens", json={"user": user, "name": name, "days": days}
        ).json()
        for user, name, days in (
            ("ann", "a", 30),
            ("ann", "b", 30),
            ("ann", "short", 1),
            ("ann", "gone", 30),
            ("bob", "a", 30),
        )
    }
    prsm.clock.advance(2 * 86_400)
    prsm.local.post(f"/api/v1/tokens/{made['ann', 'gone']['id']}/revoke")
    new = {"password": PASSWORD + "!"}
    kept = prsm.local.post("/api/v1/users/ann/password", json=new).json()
    assert kept == {"revoked": 0, "left": 2}
    ended = prsm.local.post("/api/v1/users/ann/password", json={**new, "tokens": True}).json()
    assert ended == {"revoked": 2, "left": 0}
    opens = {}
    for whose in (("ann", "a"), ("ann", "b"), ("bob", "a")):
        headers = {"Authorization": f"Bearer {made[whose]['token']}"}
        opens[whose] = prsm.anybody.get("/api/v1/agents", headers=headers).status_code
    assert opens == {("ann", "a"): 401, ("ann", "b"): 401, ("bob", "a"): 200}


def test_what_cannot_be_is_refused(prsm: Running) -> None:
    """Short passwords, odd names, unknown roles and users are answered in words."""
    good = {"name": "ann", "password": PASSWORD, "role": "viewer"}
    for wrong in ({"password": "short"}, {"name": "a b"}, {"role": "king"}, {"name": ""}):
        assert prsm.local.post("/api/v1/users", json={**good, **wrong}).status_code == 400
    missing = prsm.local.post("/api/v1/users/nobody/password", json={"password": PASSWORD})
    assert missing.status_code == 404


def test_sessions_are_listed_and_ended(prsm: Running) -> None:
    """One, or all; by an id with which nobody can log in."""
    body = {"name": "ann", "password": PASSWORD, "role": "viewer"}
    prsm.local.post("/api/v1/users", json=body)
    callers = []
    for _ in range(3):
        answer = prsm.anybody.post("/api/v1/login", json={"name": "ann", "password": PASSWORD})
        cookie = answer.headers["set-cookie"].partition(";")[0]
        callers.append(Caller(prsm.public, headers={"Cookie": cookie}))
        prsm.clock.advance(1)
    listed = prsm.local.get("/api/v1/users/ann/sessions").json()
    assert len(listed) == 3
    assert all(one["id"] not in str(caller.headers) for one in listed for caller in callers)
    end = "/api/v1/users/ann/sessions/end"
    assert prsm.local.post(end, json={"session": listed[0]["id"]}).json() == {"ended": 1}
    assert [caller.get("/api/v1/agents").status_code for caller in callers] == [200, 200, 401]
    assert prsm.local.post(end, json={"session": listed[0]["id"]}).status_code == 404
    assert prsm.local.post(end, json={}).json() == {"ended": 2}
    assert [caller.get("/api/v1/agents").status_code for caller in callers] == [401, 401, 401]
