"""What a manager stores of the reasons that agents give: known codes, small, whatever they send."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import agent_detail
from manager.operations.fleet.sync_state import reason_of
from shared.messages import (
    LANGUAGES,
    Message,
    codes,
    message_of_row,
    received,
    render,
    row_of_message,
)
from shared.messages.received import MOST_CHARS
from shared.wire.sync import SyncRequest
from shared.wire.sync_json import read_message
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import World

KNOWN = "agent.test"
SENTENCE = "a sentence of the agent"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a code of agents, whatever the catalogue has."""
    monkeypatch.setattr(received, "_known", lambda: frozenset((*codes(), KNOWN)))


def request(message: Any, reason: str = SENTENCE) -> SyncRequest:
    """Return a sync as it comes over the line."""
    said = {
        "agent": "a", "boot_id": "b", "sequence": 1, "version": "1", "clock_ms": 0,
        "state": "idle", "state_reason": reason, "state_message": message,
    }  # fmt: skip
    return read_message(SyncRequest, json.dumps(said), strict=True)


def nested(depth: int) -> dict[str, Any]:
    """Return a message within so many others."""
    message: dict[str, Any] = {"code": KNOWN, "params": {}}
    for _ in range(depth):
        message = {"code": KNOWN, "params": {"why": message}}
    return message


def test_a_known_code_is_stored_with_its_parameters() -> None:
    """Numbers, texts, lists and messages within."""
    params = {"n": 1, "names": ["x"], "why": {"code": "fleet.new_agent", "params": {}}}
    found = reason_of(request({"code": KNOWN, "params": params}))
    assert found == Message(KNOWN, n=1, names=["x"], why=Message("fleet.new_agent"))
    assert reason_of(request({"code": KNOWN})) == Message(KNOWN)


def test_an_agent_of_the_version_before_sends_a_sentence() -> None:
    """It is stored as one; without it there is no reason."""
    assert reason_of(request(None)) == Message.of_text(SENTENCE)
    assert reason_of(request(None, "")) is None


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"code": 7},
        {"code": "agent.of_tomorrow"},
        {"code": "fleet.new_agent"},  # none of an agent's own
        {"code": "agent.../../words"},
        {"code": "AGENT.test"},
        {"code": KNOWN, "params": [1]},
        {"code": KNOWN, "params": {"text": "x" * MOST_CHARS}},
        {"code": KNOWN, "params": {"text": "é" * MOST_CHARS}},
        {"code": KNOWN, "params": {"why": {"code": "aaaa.b", "params": {}}}},
        {"code": KNOWN, "params": {"list": [[{"code": "x" * 900}]]}},
        {"code": "general.text", "params": {"text": "free text"}},
    ],
)
def test_anything_else_is_stored_as_the_sentence(message: Any) -> None:
    """Unknown codes, also within; too large; no message at all."""
    assert reason_of(request(message)) == Message.of_text(SENTENCE)


@pytest.mark.parametrize(
    "params",
    [
        {"a_ms": 10**400, "b_ms": -1e308, "c_bytes": "x", "d": True, "e": None},
        {"text": "\x1b[31m\r\nBcc: x <script> \\u0000 {name} %(name)s"},
        {"": "", "self": 1, "code": "x", "params": {"code": "y"}},
        {"list": [[[[[[[[[[["deep"]]]]]]]]]]]},
        nested(6)["params"],
    ],
)
def test_hostile_parameters_are_stored_and_shown(params: Any, database: Database) -> None:
    """In a row, in the answers of the API, and as a sentence of each language."""
    world = World(database)
    world.join("a")
    message = {"code": KNOWN, "params": params}
    said = request(message)
    asked = replace(
        world.request("a"), state_message=said.state_message, state_reason=said.state_reason
    )
    sync(database, world.agents["a"].identity, asked, world.now_ms, world.policy)
    found = agent_detail(database, "a", world.now_ms, world.policy).view
    stored = found.row.state_reason
    assert stored is not None
    assert stored == reason_of(said)
    assert message_of_row(row_of_message(stored)) == stored
    json.dumps(stored.as_json(), allow_nan=False)
    for language in LANGUAGES:
        assert len(render(stored, language)) <= 4000
        assert len(render(found.liveness.reason, language)) <= 4000


def test_numbers_that_json_lacks_are_not_stored() -> None:
    """Some readers of JSON accept them, and answers of the API could not hold them."""
    said = replace(request(None), state_message={"code": KNOWN, "params": {"n": float("inf")}})
    found = reason_of(said)
    assert found is not None
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.parametrize("text", ["general.cancelled_by", 'general.cancelled_by {"name":"root"}'])
def test_a_sentence_in_the_form_of_a_row_is_a_sentence(database: Database, text: str) -> None:
    """An agent of the version before sends what came of an update as text, and no code by it."""
    world = World(database)
    world.join("a")
    asked = replace(world.request("a"), update_result=text, state_reason=text)
    sync(database, world.agents["a"].identity, asked, world.now_ms, world.policy)
    row = agent_detail(database, "a", world.now_ms, world.policy).view.row
    assert row.update_result == Message.of_text(text)
    assert row.state_reason == Message.of_text(text)
    sync(database, world.agents["a"].identity, world.request("a"), world.now_ms, world.policy)
    row = agent_detail(database, "a", world.now_ms, world.policy).view.row
    assert row.update_result == Message.of_text(text), "it stays until the next one"


def test_what_came_of_an_update_is_stored_by_its_code(database: Database) -> None:
    """For the reader's language."""
    world = World(database)
    world.join("a")
    result = Message("agent_errors.no_key", home="/x")
    asked = replace(world.request("a"), update_result=str(result), update_message=result.as_json())
    sync(database, world.agents["a"].identity, asked, world.now_ms, world.policy)
    assert agent_detail(database, "a", world.now_ms, world.policy).view.row.update_result == result
