"""Users through the API."""

from __future__ import annotations

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
    assert prsm.local.post("/api/v1/users/ann/password", json=new).status_code == 204
    login = {"name": "ann", "password": PASSWORD}
    assert prsm.anybody.post("/api/v1/login", json=login).status_code == 401
    assert prsm.anybody.post("/api/v1/login", json={**login, **new}).json()["role"] == "viewer"


def test_what_cannot_be_is_refused(prsm: Running) -> None:
    """Short passwords, odd names, unknown roles and users are answered in words."""
    good = {"name": "ann", "password": PASSWORD, "role": "viewer"}
    for wrong in ({"password": "short"}, {"name": "a b"}, {"role": "king"}, {"name": ""}):
        assert prsm.local.post("/api/v1/users", json={**good, **wrong}).status_code == 400
    missing = prsm.local.post("/api/v1/users/nobody/password", json={"password": PASSWORD})
    assert missing.status_code == 404
