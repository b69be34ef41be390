"""Agents of another installation are told to wait, and keep what they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.operations.identity.installation import installation_id
from shared.wire.installation import HEADER, read_installation
from shared.wire.names import hash_of_key, new_key
from tests.manager.running import Running, log_body, running

OTHER = "00000000-0000-4000-8000-000000000000"
M4 = "/servlets/isrestart?host=a.example"


def shown(key: str, installation: str | None = None) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {key}"}
    return headers if installation is None else {**headers, HEADER: installation}


def calls(prsm: Running, headers: dict[str, str]) -> list[tuple[int, str]]:
    """Return how each message of an agent is answered, and with which code."""
    call = prsm.anybody
    answers = [
        call.get(M4, headers=headers),
        call.get("/servlets/list?host=a.example", headers=headers),
        call.post("/servlets/record", b"x", headers=headers),
        call.post("/servlets/submitlog", log_body("a.example", []), headers=headers),
        call.post("/api/v1/sync", json={}, headers=headers),
        call.post("/api/v1/key", json={"key_hash": "a" * 64}, headers=headers),
        call.get("/api/v1/uploads/" + "a" * 32, headers=headers),
    ]
    assert all(int(one.headers["retry-after"]) == 3600 for one in answers)
    return [(one.status_code, one.headers["x-error-code"]) for one in answers]


def test_an_agent_of_another_installation_is_told_to_wait(tmp_path: Path) -> None:
    """Whatever its key: known, unknown; whatever it says."""
    with running(tmp_path) as prsm:
        prsm.agent()
        known = prsm.agent("b.example")
        foreign = {(503, "foreign_installation")}
        assert set(calls(prsm, shown(new_key(), OTHER))) == foreign
        assert set(calls(prsm, shown(new_key(), "nonsense"))) == foreign
        answer = known.call.get("/servlets/isrestart?host=b.example", headers={HEADER: OTHER})
        assert (answer.status_code, answer.headers["x-error-code"]) == foreign.pop()


def test_an_agent_without_an_id_waits_where_no_agent_is_known(tmp_path: Path) -> None:
    """As one of the version before, or a plain one, at an empty database."""
    with running(tmp_path) as prsm:
        assert set(calls(prsm, shown(new_key()))) == {(503, "foreign_installation")}
        prsm.agent()
        refused = prsm.anybody.get(M4, headers=shown(new_key()))
        assert refused.status_code == 401
        own = installation_id(prsm.manager.db)
        assert refused.headers[HEADER] == own
        refused = prsm.anybody.get(M4, headers=shown(new_key(), own))
        assert refused.status_code == 401


def test_without_a_key_it_is_a_matter_of_the_key(tmp_path: Path) -> None:
    """`subscribe` without a key is 401, also at an empty database."""
    with running(tmp_path) as prsm:
        assert prsm.anybody.get("/servlets/subscribe?host=a.example").status_code == 401


@pytest.mark.parametrize("kind", ["sync", "plain"])
def test_the_id_is_told_at_the_join_and_with_each_answer(tmp_path: Path, kind: str) -> None:
    """One and the same, over restarts."""
    with running(tmp_path) as prsm:
        token = prsm.local.post("/api/v1/agents/a.example/token", json={}).json()["token"]
        body = {
            "agent": "a.example", "token": token, "key_hash": hash_of_key("k" * 40), "kind": kind,
        }  # fmt: skip
        own = prsm.anybody.post("/api/v1/enrol", json=body).headers[HEADER]
        assert read_installation(own) == own == installation_id(prsm.manager.db)
        answer = prsm.anybody.get(M4, headers=shown("k" * 40, own))
        assert (answer.status_code, answer.headers[HEADER]) == (200, own)
    with running(tmp_path) as prsm:
        assert installation_id(prsm.manager.db) == own
