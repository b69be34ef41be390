"""Tokens for scripts: never stronger than their maker, over at once when they must be."""

from __future__ import annotations

import pytest

from manager.operations.people.audit_log import audit_page
from manager.operations.people.users import add_user, set_role, set_user_disabled
from tests.manager.api.test_access import PASSWORD, Session, login
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, Running

DAY_S = 86_400


def made(session: Session, role: str, name: str = "backup", days: int = 90) -> dict[str, object]:
    """Make a token by the API and return the answer."""
    body = {"name": name, "role": role, "days": days}
    answer = session.call.post("/api/v1/tokens", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return found


def script(prsm: Running, token: object) -> Caller:
    """Return a script that has a token, and no cookie."""
    return Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})


def test_a_script_acts_as_its_user_and_the_audit_names_the_token(prsm: Running) -> None:
    """Without cookie and CSRF token; it is shown once, and its last use is listed."""
    token = made(login(prsm, "operator"), "operator")
    calls = script(prsm, token["token"])
    assert str(token["token"]).startswith("prsm_")
    assert calls.get("/api/v1/session").json() == {"kind": "user", "name": "operator/backup"}
    assert calls.post("/api/v1/alerts/quiet", json={"seconds": 60}).status_code == 200
    assert audit_page(prsm.manager.db, limit=1)[0].actor_name == "operator/backup"
    listed = prsm.local.get("/api/v1/tokens")
    assert str(token["token"]) not in listed.text
    (row,) = listed.json()
    assert (row["user"], row["name"], row["last_used_ms"]) == ("operator", "backup", prsm.clock())
    with prsm.manager.db.read() as tx:
        kept = tx.connection.exec_driver_sql("SELECT * FROM api_tokens").fetchall()
    assert str(token["token"]) not in repr(kept)


def test_nobody_makes_a_token_stronger_than_himself(prsm: Running) -> None:
    """Not by a session, not for another user, and not by a token at all."""
    operator = login(prsm, "operator")
    for role in ("admin",):
        body = {"name": "x", "role": role}
        refused = operator.call.post("/api/v1/tokens", json=body)
        assert refused.status_code == 403
        assert "no more than its user" in refused.json()["detail"]
    add_user(prsm.manager.db, "boss", PASSWORD, "admin", LOCAL, prsm.clock())
    body = {"name": "x", "role": "viewer", "user": "boss"}
    assert operator.call.post("/api/v1/tokens", json=body).status_code == 403
    calls = script(prsm, made(operator, "operator")["token"])
    for role in ("viewer", "operator", "admin"):
        refused = calls.post("/api/v1/tokens", json={"name": role, "role": role})
        assert refused.status_code == 403
        assert refused.json()["code"] == "people.token_creates_no_token"


def test_a_weak_token_of_a_strong_user_is_weak(prsm: Running) -> None:
    """An administrator's token of the role viewer sees, and changes nothing."""
    calls = script(prsm, made(login(prsm, "admin"), "viewer")["token"])
    assert calls.get("/api/v1/agents").status_code == 200
    assert calls.get("/api/v1/users").status_code == 403
    refused = calls.post("/api/v1/alerts/quiet", json={"seconds": 60})
    assert refused.status_code == 403
    assert "admin/backup is viewer" in refused.json()["detail"]


def test_a_token_falls_and_ends_with_its_user(prsm: Running) -> None:
    """Another role counts from the next request on; disabled, none of his tokens opens anything."""
    login(prsm, "viewer")
    calls = script(prsm, made(login(prsm, "admin"), "admin")["token"])
    assert calls.get("/api/v1/users").status_code == 200
    add_user(prsm.manager.db, "other", PASSWORD, "admin", LOCAL, prsm.clock())
    set_role(prsm.manager.db, "admin", "viewer", LOCAL, prsm.clock())
    assert calls.get("/api/v1/users").status_code == 403
    assert calls.get("/api/v1/agents").status_code == 200
    set_user_disabled(prsm.manager.db, "admin", LOCAL, prsm.clock(), disabled=True)
    refused = calls.get("/api/v1/agents")
    assert refused.status_code == 403
    assert "is disabled" in refused.json()["detail"]


def test_a_token_ends_when_it_is_over_or_revoked(prsm: Running) -> None:
    """At once; its maker and administrators revoke it, nobody else."""
    operator, viewer, admin = (login(prsm, role) for role in ("operator", "viewer", "admin"))
    short, long = made(operator, "viewer", "short", 1), made(operator, "viewer", "long", 30)
    assert viewer.call.get("/api/v1/tokens").json() == []
    assert viewer.call.post(f"/api/v1/tokens/{long['id']}/revoke").status_code == 404
    prsm.clock.advance(DAY_S)
    assert script(prsm, short["token"]).get("/api/v1/agents").status_code == 401
    calls = script(prsm, long["token"])
    assert calls.get("/api/v1/agents").status_code == 200
    assert prsm.local.post(f"/api/v1/tokens/{long['id']}/revoke").status_code == 204
    assert calls.get("/api/v1/agents").status_code == 401
    assert calls.get("/api/v1/agents").headers["www-authenticate"].startswith("Bearer")
    assert admin.answer.status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"name": "a b"}, {"name": ""}, {"role": "king"}, {"days": 0}, {"days": 401}],
)
def test_what_is_no_token_is_refused(prsm: Running, wrong: dict[str, object]) -> None:
    """And a name is used once among those that are good."""
    session = login(prsm, "viewer")
    body = {"name": "a", "role": "viewer", "days": 10} | wrong
    assert session.call.post("/api/v1/tokens", json=body).status_code == 400
    made(session, "viewer", "once")
    again = session.call.post("/api/v1/tokens", json={"name": "once"})
    assert again.status_code == 409


def test_a_token_goes_over_private_lines_only_and_is_documented(prsm: Running) -> None:
    """As passwords do; OpenAPI names both ways in."""
    token = made(login(prsm, "viewer"), "viewer")["token"]
    outside = Caller(prsm.public, address="192.0.2.7", headers={"Authorization": f"Bearer {token}"})
    assert outside.get("/api/v1/agents").status_code == 403
    described = prsm.anybody.get("/api/v1/openapi.json").json()
    schemes = described["components"]["securitySchemes"]
    assert schemes["token"] == {
        "type": "http", "scheme": "bearer", "description": schemes["token"]["description"],
    }  # fmt: skip
    assert {"token": []} in described["paths"]["/api/v1/agents"]["get"]["security"]
    assert "post" in described["paths"]["/api/v1/tokens"]


def test_this_machine_makes_tokens_for_users(prsm: Running) -> None:
    """`prsm tokens add` names whose it is."""
    add_user(prsm.manager.db, "ann", PASSWORD, "operator", LOCAL, prsm.clock())
    assert prsm.local.post("/api/v1/tokens", json={"name": "x"}).status_code == 400
    body = {"name": "x", "user": "ann", "role": "admin"}
    assert prsm.local.post("/api/v1/tokens", json=body).status_code == 403
    body = {"name": "x", "user": "nobody"}
    assert prsm.local.post("/api/v1/tokens", json=body).status_code == 404
    answer = prsm.local.post("/api/v1/tokens", json={"name": "x", "user": "ann"})
    assert script(prsm, answer.json()["token"]).get("/api/v1/session").json()["name"] == "ann/x"
