"""Checks of messages: JSON against what a route declares, syncs, and forms of browsers.

They run in the server for small messages and in a worker process for larger ones: a message that is
refused may cost seconds, since thousands of mistakes are each described. Invariant: the server
reads no large message that a worker process has not found to be right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl

from pydantic import TypeAdapter, ValidationError

from manager.intake.workers.body_job import BodyJob
from shared.errors import Fault, FormatError
from shared.frozen import frozen
from shared.wire.sync import SyncRequest
from shared.wire.sync_json import read_message

__all__ = [
    "MISTAKES_SHOWN",
    "UNKNOWN_KEY",
    "JsonJob",
    "MessageJob",
    "check_json",
    "check_sync",
    "form_fields",
    "mistakes_of",
    "read_form",
    "shown_mistakes",
]

MISTAKES_SHOWN: Final = 10
NAME_SHOWN: Final = 100
"""Characters of a key that a message shows; keys may be as long as bodies."""

UNKNOWN_KEY: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
FIELDS_MOST: Final = 20_000


@frozen
class MessageJob(BodyJob):
    """A message to check."""

    body: bytes

    cpu_setting = "intake.message_cpu_s"


@frozen
class JsonJob(MessageJob):
    """A message in JSON to check. model: its type, which another process imports."""

    model: Any


def read_form(job: MessageJob) -> dict[str, str]:
    """Return the fields of a form; raises FormatError."""
    return form_fields(job.body)


def form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a form by name, their lines ending with LF; raises FormatError."""
    try:
        fields = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELDS_MOST
        )
    except ValueError as error:
        raise FormatError("uploads.too_many_fields", limit=FIELDS_MOST) from error
    return {name: value.replace("\r\n", "\n") for name, value in fields}


def check_sync(job: MessageJob) -> list[dict[str, Any]]:
    """Return the first mistakes of a sync, as pydantic describes them; none: it is right."""
    try:
        read_message(SyncRequest, job.body, strict=True)
    except ValidationError as error:
        return shown_mistakes(error)
    return []


def check_json(job: JsonJob) -> list[dict[str, Any]]:
    """Return the first mistakes of a message; none: it is right. Raises FormatError."""
    return mistakes_of(_adapter(job.model), job.body)


def mistakes_of(adapter: TypeAdapter[Any], raw: bytes) -> list[dict[str, Any]]:
    """Return the first mistakes of a message, an unknown key before others. Raises FormatError."""
    _refuse_endless(raw)
    try:
        adapter.validate_json(raw, strict=True, extra="forbid")
    except ValidationError as error:
        return shown_mistakes(error)
    return []


def shown_mistakes(error: ValidationError) -> list[dict[str, Any]]:
    """Return the first mistakes that pydantic found, an unknown key before others."""
    found = error.errors(include_url=False, include_input=False)
    unknown = next((each for each in found if each["type"] in UNKNOWN_KEY), None)
    first = found[:MISTAKES_SHOWN] if unknown is None else [unknown]
    return [
        {**each, "loc": tuple(map(_shown, each["loc"])), "ctx": _context(each)} for each in first
    ]


def _context(found: Mapping[str, Any]) -> dict[str, str | int | float]:
    """Return the parameters of a mistake that another process can be sent."""
    given = found.get("ctx") or {}
    return {name: value for name, value in given.items() if isinstance(value, str | int | float)}


def _shown(part: int | str) -> int | str:
    return part if isinstance(part, int) else part[:NAME_SHOWN]


@lru_cache(maxsize=64)
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _refuse_endless(raw: bytes) -> None:
    """Raise FormatError for NaN and Infinity, which JSON has not and its readers take."""

    def refuse(word: str) -> None:
        raise FormatError("uploads.not_a_json_number", Fault.INVALID_VALUE, value=word)

    if b"NaN" in raw or b"Infinity" in raw:
        try:
            json.loads(raw, parse_constant=refuse)
        except (ValueError, RecursionError):
            return  # said by who reads it
