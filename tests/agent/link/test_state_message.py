"""A sync says why an agent fetches nothing as a sentence, and as code and parameters."""

from __future__ import annotations

import json

import pytest

from agent.link.actions import MOST_CHARS, View
from shared.messages import Message
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
        Message("agent_errors.no_key", home="/x"),
        Message("agent.disk_full", why="x" * MOST_CHARS),
        Message("agent.disk_full", why="\u3042" * 400),
    ],
)
def test_what_no_manager_takes_is_a_sentence_only(reason: Message) -> None:
    """Another subject, or JSON that is too long."""
    view = View("paused", 1, reason)
    assert view.state_message is None
    assert view.state_text == str(reason)[:1000]
