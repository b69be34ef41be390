"""Releases through the API: what a caller saw may be said with what it decides."""

from __future__ import annotations

from manager.db.releases import releases
from manager.operations.releases.rollouts import halt, roll_out
from tests.manager.running import LOCAL, Running


def test_a_call_may_say_what_it_was_decided_by(prsm: Running) -> None:
    """`shown` as the list has it: another state by now is 409, in words; without it, none asks."""
    db, now_ms = prsm.manager.db, prsm.clock()
    row = {
        "version": "1.0", "target": "prs-1.0.zip", "sha256": "0" * 64, "size_bytes": 1,
        "published_by": "koji", "published_ms": now_ms,
    }  # fmt: skip
    with db.write() as tx:
        releases.add(tx, row)
    roll_out(db, "1.0", "tenth", LOCAL, now_ms)
    (listed,) = prsm.local.get("/api/v1/releases").json()["releases"]
    shown = {name: listed[name] for name in ("ring", "rolled_out_ms", "halted_ms")}
    halt(db, "1.0", LOCAL, now_ms + 1)
    asked = {"ring": "all", "shown": shown}
    refused = prsm.local.post("/api/v1/releases/1.0/rollout", json=asked)
    assert refused.status_code == 409
    assert refused.json()["code"] == "releases.offer_halted"
    wrong = {"ring": "all", "shown": {"ring": "tenth", "halted_ms": "yesterday"}}
    assert prsm.local.post("/api/v1/releases/1.0/rollout", json=wrong).status_code == 400
    done = prsm.local.post("/api/v1/releases/1.0/rollout", json={"ring": "all"})
    assert done.status_code == 204
    minimum = {"version": "1.0", "shown": "0.9"}
    assert prsm.local.post("/api/v1/releases/minimum", json=minimum).status_code == 409
    assert prsm.local.post("/api/v1/releases/minimum", json={**minimum, "shown": ""}).is_success
    prsm.agent("a.example", kind="sync")
    pin = {"version": "1.0", "shown": "1.0"}
    path = "/api/v1/releases/agents/a.example/pin"
    assert prsm.local.post(path, json=pin).status_code == 409
    assert prsm.local.post(path, json={"version": "1.0"}).status_code == 204
