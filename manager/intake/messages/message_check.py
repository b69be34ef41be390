"""Looks through large JSON messages before the server reads them. Runs in a worker process.

A message that is refused may cost seconds: thousands of mistakes are each described. What is right
is read by the server again, in milliseconds. Invariant: the server reads no large message that a
worker process has not found to be right.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from manager.intake.messages.json_check import shown_mistakes
from shared.frozen import frozen
from shared.wire.sync import SyncRequest
from shared.wire.sync_json import read_message

__all__ = ["MessageJob", "check_sync"]


@frozen
class MessageJob:
    """A message to look through. cpu_s: of a processor at most."""

    sender: int
    body: bytes
    cpu_s: float

    cpu_setting = "intake.message_cpu_s"
    is_long = False


def check_sync(job: MessageJob) -> list[dict[str, Any]]:
    """Return the first mistakes of a sync, as pydantic describes them; none: it is right."""
    try:
        read_message(SyncRequest, job.body, strict=True)
    except ValidationError as error:
        return shown_mistakes(error)
    return []
