"""How an agent joins, changes its key and syncs."""

from __future__ import annotations

from typing import Any

import pytest

from shared.wire.names import hash_of_key, new_key
from shared.wire.sync import SyncAnswer
from shared.wire.sync_json import read_message
from tests.manager.running import START_MS, Running

ENROL = "/api/v1/enrol"


def token_for(prsm: Running, name: str) -> str:
    answer = prsm.local.post(f"/api/v1/agents/{name}/token")
    assert answer.status_code == 201
    return str(answer.json()["token"])


def enrolment(name: str, token: str, key: str, **more: str) -> dict[str, str]:
    return {"agent": name, "token": token, "key_hash": hash_of_key(key), **more}


def test_an_agent_joins_with_a_token(prsm: Running) -> None:
    """Token and key hash make an agent; the same again succeeds, because an answer may be lost."""
    key = new_key()
    body = enrolment("a.example", token_for(prsm, "a.example"), key, kind="plain")
    first = prsm.anybody.post(ENROL, json=body)
    assert (first.status_code, first.json()) == (200, {"agent": "a.example", "repeated": False})
    assert prsm.anybody.post(ENROL, json=body).json() == {"agent": "a.example", "repeated": True}
    headers = {"Authorization": f"Bearer {key}"}
    answer = prsm.anybody.get("/servlets/subscribe?host=a.example", headers=headers)
    assert answer.status_code == 200


def test_a_site_says_where_it_is(prsm: Running) -> None:
    """A position that came with the token is the agent's; the newest word holds; no word changes
    nothing; what is nowhere on Earth is refused, and the token still good."""
    kyoto = {"latitude": 35.0268, "longitude": 135.7808}

    def joined(position: object) -> tuple[int, object]:
        body = enrolment("a.example", token_for(prsm, "a.example"), new_key())
        status = prsm.anybody.post(ENROL, json=body | {"position": position}).status_code
        found = prsm.local.get("/api/v1/agents").json()
        return status, [(one["latitude"], one["longitude"]) for one in found]

    assert joined({"latitude": 91, "longitude": 0}) == (400, [])
    assert joined(kyoto) == (200, [(35.03, 135.78)])
    assert joined(None) == (200, [(35.03, 135.78)])
    assert joined({"latitude": -33.9, "longitude": 151.2}) == (200, [(-33.9, 151.2)])
    said = prsm.local.get("/api/v1/audit?action=agent.set-position").json()
    assert [row["actor_kind"] for row in said] == ["agent", "agent"]


def test_a_token_is_used_once(prsm: Running) -> None:
    """The same token with another key is 409 and an alert; the first key goes on."""
    token = token_for(prsm, "a.example")
    prsm.anybody.post(ENROL, json=enrolment("a.example", token, new_key()))
    stolen = prsm.anybody.post(ENROL, json=enrolment("a.example", token, new_key()))
    assert stolen.status_code == 409
    assert "tell the administrator" in stolen.json()["detail"]
    (alert,) = prsm.local.get("/api/v1/audit?alerts=true").json()
    assert alert["action"] == "agent.reuse-token"


def test_a_token_is_bound(prsm: Running) -> None:
    """A token of another name is 401, one that is too old 403, a malformed request 400."""
    token = token_for(prsm, "a.example")
    other = prsm.anybody.post(ENROL, json=enrolment("b.example", token, new_key()))
    assert other.status_code == 401
    prsm.clock.advance(73 * 3600)
    assert (
        prsm.anybody.post(ENROL, json=enrolment("a.example", token, new_key())).status_code == 403
    )
    for wrong in ({"agent": "A"}, {"key_hash": "short"}, {"kind": "other"}, {"extra": 1}):
        body: dict[str, Any] = {**enrolment("a.example", token, new_key()), **wrong}
        answer = prsm.anybody.post(ENROL, json=body)
        assert answer.status_code == 400
        assert next(iter(wrong)) in answer.json()["detail"]
    as_json = {"Content-Type": "application/json"}
    assert prsm.anybody.post(ENROL, b"{", headers=as_json).status_code == 400
    assert prsm.anybody.post(ENROL, b"{").status_code == 415


def test_tokens_do_not_travel_on_an_open_line(prsm: Running) -> None:
    """Joining over plain HTTP from elsewhere is 403."""
    body = enrolment("a.example", token_for(prsm, "a.example"), new_key())
    assert prsm.outside.post(ENROL, json=body).status_code == 403


def test_a_key_is_replaced(prsm: Running) -> None:
    """The new key counts from now on, the old one no more."""
    agent, key = prsm.agent(), new_key()
    answer = agent.call.post("/api/v1/key", json={"key_hash": hash_of_key(key)})
    assert answer.status_code == 200
    assert agent.call.get("/servlets/isrestart?host=a.example").status_code == 401
    agent.call.headers["Authorization"] = f"Bearer {key}"
    assert agent.call.get("/servlets/isrestart?host=a.example").status_code == 200


def sync_body(**changes: Any) -> dict[str, Any]:
    return {
        "agent": "a.example", "boot_id": "b1", "sequence": 1, "version": "1", "clock_ms": START_MS,
        "state": "starting", **changes,
    }  # fmt: skip


def test_sync_is_answered(prsm: Running) -> None:
    """An agent hears the time, when to call again and which list is its own."""
    agent = prsm.agent(kind="sync")
    answer = agent.call.post("/api/v1/sync", json=sync_body())
    assert answer.status_code == 200
    said = read_message(SyncAnswer, answer.content)
    assert said.server_time_ms == START_MS
    assert said.next_poll_s > 0
    assert said.generation >= 1


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"agent": "b.example"}, 403, "a.example"),
        ({"state": "dancing"}, 400, "state"),
        ({"sequence": -1}, 400, "sequence"),
        ({"finished": [{"unit": "x"}]}, 400, "finished.0.kind"),
        ({"generation_held": 2**62}, 409, "generation_held"),
        ({"protocol": True}, 400, "protocol"),
        ({"clock_ms": "1790000000000"}, 400, "clock_ms"),
        ({"round_held": 1.0}, 400, "round_held"),
        ({"refetches": 1}, 400, "refetches"),
        ({"counters": {"pages": True}}, 400, "counters.pages"),
        ({"capacity": {"most_load": "1"}}, 400, "capacity.most_load"),
        (
            {"disk_free_bytes": True, "state_reason": "x" * 900, "zz": "y" * 70_000},
            400,
            "disk_free",
        ),
    ],
)
def test_a_wrong_sync_is_refused(
    prsm: Running, changes: dict[str, Any], status: int, words: str
) -> None:
    """What does not fit is refused with the field's name."""
    answer = prsm.agent(kind="sync").call.post("/api/v1/sync", json=sync_body(**changes))
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_a_sync_over_the_limit_is_413(prsm: Running) -> None:
    """A body over the limit is refused by its length, not parsed; garbage is 400."""
    agent = prsm.agent(kind="sync")
    large = agent.call.post("/api/v1/sync", b"[" * 8_000_001)
    assert large.status_code == 413
    assert "the limit is 8000000 bytes" in large.json()["detail"]
    assert agent.call.post("/api/v1/sync", b"\xff\xfe").status_code == 400
    assert agent.call.post("/api/v1/sync", b"[" * 100_000).status_code == 400


@pytest.mark.parametrize(
    ("path", "most_bytes"), [("/api/v1/enrol", 16_384), ("/api/v1/key", 64_000)]
)
def test_a_message_of_a_few_fields_is_small(prsm: Running, path: str, most_bytes: int) -> None:
    """A hundred thousand mistakes are not described to who has shown no key: 413 before that."""
    answer = prsm.anybody.post(path, json={f"x{number}": 1 for number in range(10_000)})
    assert answer.status_code == 413
    assert f"{most_bytes} bytes" in answer.text
