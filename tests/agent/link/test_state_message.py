"""A sync says why an agent fetches nothing as a sentence, and as code and parameters."""

from __future__ import annotations

import json

import pytest

from agent.link.actions import View
from shared.messages import Message
from shared.messages.received import MOST_CHARS
from shared.wire.sync import said
from tests.agent.link.pollers import make_poller


def request(reason: Message | None) -> dict[str, object]:
    """Return the sync of an agent with a reason, as JSON has it."""
    poller = make_poller("a")
    sent = said(poller.request(1, View("paused", 1, reason), 0.0))
    found: dict[str, object] = json.loads(json.dumps(sent))
    return found


def test_a_sync_says_both() -> None:
    """Managers of the version before read the sentence."""
    reason = Message("agent.no_permit", why=Message("agent.permit_of_new_epoch", epoch=7))
    found = request(reason)
    assert found["state_reason"] == "no permit: epoch 7 began: waiting for its server list"
    assert Message.of_json(found["state_message"]) == reason


def test_without_a_reason_there_is_none() -> None:
    """What is None is not said."""
    found = request(None)
    assert found["state_reason"] == ""
    assert "state_message" not in found


@pytest.mark.parametrize(
    "reason",
    [
        Message.of_text("a sentence of another program"),
        Message("fleet.new_agent"),
        Message("agent.disk_full", why="x" * MOST_CHARS),
        Message("agent.disk_full", why="\u3042" * 400),
    ],
)
def test_what_no_manager_takes_is_a_sentence_only(reason: Message) -> None:
    """Another subject, or JSON that is too long."""
    found = request(reason)
    assert "state_message" not in found
    assert found["state_reason"] == str(reason)[:1000]


def test_an_update_that_did_not_start_is_said_alike() -> None:
    """A sentence, and code and parameters."""
    result = Message("agent_errors.no_key", home="/x")
    sent = said(make_poller("a").request(1, View("working", 1, update_result=result), 0.0))
    assert sent["update_result"] == str(result)
    assert Message.of_json(sent["update_message"]) == result
