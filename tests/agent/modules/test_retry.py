"""When a URL gets another attempt."""

from __future__ import annotations

import pytest

from agent.modules.retry import gets_another_attempt
from agent.pipeline.messages.requests import Outcome


@pytest.mark.parametrize(
    ("outcome", "status", "attempt", "again"),
    [
        ("refused", 0, 1, True),
        ("timeout", 0, 2, True),
        ("disconnected", 0, 3, False),
        ("answered", 503, 1, True),
        ("answered", 429, 2, True),
        ("truncated", 503, 1, True),
        ("answered", 503, 3, False),
        ("answered", 200, 1, False),
        ("answered", 500, 1, True),
        ("answered", 502, 2, True),
        ("answered", 504, 3, False),
        ("answered", 524, 1, True),
        ("answered", 501, 1, False),
        ("answered", 505, 1, False),
        *(("answered", status, 1, True) for status in (408, 425, 507, 509, 599, *range(520, 531))),
        ("answered", 421, 1, False),
        ("answered", 413, 1, False),
        ("answered", 404, 1, False),
        ("tls", 0, 1, False),
        ("malformed", 0, 1, False),
        ("forbidden_address", 0, 1, False),
    ],
)
def test_what_may_pass_is_tried_again(
    outcome: Outcome, status: int, attempt: int, again: bool
) -> None:
    """No answer, 429 and errors of the host may pass; what will be the same later may not."""
    assert gets_another_attempt(outcome, status, attempt, retries=2) is again
