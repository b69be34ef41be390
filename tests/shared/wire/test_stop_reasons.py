"""Reasons on the wire become messages, and their English sentences stay what they were."""

from __future__ import annotations

import pytest

from shared.messages import Message
from shared.wire.stop_reasons import REASONS, stop_reason_message


@pytest.mark.parametrize("text", REASONS)
def test_a_fixed_reason_has_a_code(text: str) -> None:
    """Its English sentence is the reason."""
    assert stop_reason_message(text) == Message(REASONS[text])
    assert str(stop_reason_message(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("status 503", Message("agent.status", status=503)),
        (
            "unreachable: timeout, 12 requests in a row",
            Message(
                "agent.unreachable_repeatedly", why=Message("agent.outcome_timeout"), requests=12
            ),
        ),
        (
            "unreachable: status 500, 1 request in a row",
            Message(
                "agent.unreachable_repeatedly", why=Message("agent.status", status=500), requests=1
            ),
        ),
        (
            "unreachable: robots.txt: status 503",
            Message("agent.unreachable_robots", why=Message("agent.status", status=503)),
        ),
        (
            "unreachable: robots.txt: timeout, and 40 s until the next request",
            Message(
                "agent.unreachable_robots_until", why=Message("agent.outcome_timeout"), rest_s=40
            ),
        ),
        (
            "unreachable: status 429, and 90 s until the next request",
            Message("agent.unreachable_until", why=Message("agent.status", status=429), rest_s=90),
        ),
        (
            "unreachable: no such name (NXDOMAIN)",
            Message("agent.unreachable_because", why="no such name (NXDOMAIN)"),
        ),
        (
            "asks for time: status 503, Retry-After 7200 s, 7199 s until the next request",
            Message(
                "agent.asks_for_time_retry_after",
                why=Message("agent.status", status=503),
                least_s=7200,
                rest_s=7199,
            ),
        ),
        (
            "asks for time: status 503, 7199 s until the next request",
            Message(
                "agent.asks_for_time_until", why=Message("agent.status", status=503), rest_s=7199
            ),
        ),
        (
            "asks for time: Crawl-delay of 7200 s",
            Message("agent.asks_for_time_crawl_delay", delay_s=7200),
        ),
        ("not probed: Crawl-delay of 2.5 s", Message("agent.not_probed_crawl_delay", delay_s=2.5)),
    ],
)
def test_a_shape_has_a_code_and_parameters(text: str, message: Message) -> None:
    """Numbers are numbers, and a reason within a reason is a message."""
    assert stop_reason_message(text) == message
    assert str(message) == text


@pytest.mark.parametrize("text", ["", "a reason of a newer agent", "unreachable", "x" * 5000])
def test_an_unknown_reason_stays_as_it_is(text: str) -> None:
    """What a newer agent says is shown."""
    assert str(stop_reason_message(text))[:3000] == text[:3000]
