"""Code and parameters of messages in answers of `/api/v1`, beside their sentences.

A view with a field `reason: Message | None` answers `reason`, the sentence in the language of the
request or an empty text, and `reason_message`, the message's `code` and `params` or null. A list of
messages has a list beside it. Without this a program would have to read sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from shared.messages import Message

__all__ = ["SUFFIX", "message_fields", "message_names"]

T = TypeVar("T")
SUFFIX: Final = "_message"
_MESSAGE: Final = re.compile(r"(?:\w+\[)?Message(?:, \.\.\.)?\]?(?: \| None)?")

_SCHEMA: Final[dict[str, Any]] = {
    "type": ["object", "null"],
    "required": ["code", "params"],
    "properties": {
        "code": {"type": "string", "description": "of the message, for programs"},
        "params": {"type": "object", "description": "its parameters, by name"},
    },
}


def message_names(view: type[Any]) -> dict[str, bool]:
    """Return the fields of a dataclass that hold messages; True for those that hold several.

    One of messages beside something else, as pairs, answers sentences only.
    """
    found = {}
    for one in fields(view):
        kind = str(one.type)
        if _MESSAGE.fullmatch(kind):
            found[one.name] = "[" in kind
    return found


def message_fields(view: type[T]) -> type[T]:
    """Add the codes and parameters of its messages to a dataclass. Put it above `frozen`."""
    view.__get_pydantic_core_schema__ = classmethod(_core_schema)  # type: ignore[attr-defined]
    view.__get_pydantic_json_schema__ = classmethod(_json_schema)  # type: ignore[attr-defined]
    return view


def _core_schema(view: type[Any], source: Any, handler: Any) -> Any:
    from pydantic_core import core_schema  # noqa: PLC0415 - only the manager's answers need it

    schema = handler(source)
    names = message_names(view)

    def answer(value: Any, serialize: Any) -> dict[str, Any]:
        """Return the members of a view, with those of its messages."""
        made: dict[str, Any] = serialize(value)
        for name in names:
            made[name] = made[name] if made[name] is not None else ""
            made[f"{name}{SUFFIX}"] = _answer(getattr(value, name))
        return made

    schema["serialization"] = core_schema.wrap_serializer_function_ser_schema(answer)
    return schema


def _answer(value: Message | Sequence[Message] | None) -> Any:
    if value is None or isinstance(value, Message):
        return None if value is None else value.as_json()
    return [one.as_json() for one in value]


def _json_schema(view: type[Any], schema: Any, handler: Any) -> dict[str, Any]:
    plain = {key: value for key, value in schema.items() if key != "serialization"}
    made: dict[str, Any] = handler(plain)
    described = handler.resolve_ref_schema(made)
    for name, several in message_names(view).items():
        one = {"type": "array", "items": _SCHEMA} if several else _SCHEMA
        if not several:
            described["properties"][name] = {"type": "string", "description": "empty: none"}
        described["properties"][f"{name}{SUFFIX}"] = one
        described.setdefault("required", []).append(f"{name}{SUFFIX}")
    return made
