"""The JSON of a refusal: a problem of RFC 9457, with the code and parameters of its message."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from shared.messages import Message, render

__all__ = ["PROBLEM_JSON", "problem_of"]

PROBLEM_JSON: Final = "application/problem+json"
NAMES: Final = "urn:prsm:problem:"
"""Before a code, the `type` of a problem: a name, and no address to fetch."""
_TITLES: Final = {status.value: status.phrase for status in HTTPStatus}


def problem_of(
    status: int,
    message: Message,
    language: str,
    *,
    kind: str,
    code: str,
    facts: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return the members of a problem.

    kind: what sort of refusal it is. code: of the fault, or of the message. facts: more members.
    """
    return {
        "type": f"{NAMES}{code}",
        "title": _TITLES.get(status, "Refused"),
        "status": status,
        "detail": render(message, language),
        "code": code,
        "kind": kind,
        "params": message.as_json()["params"],
        **(facts or {}),
    }
