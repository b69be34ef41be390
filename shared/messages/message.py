"""A message: a code with parameters, and its form in rows and on the wire.

A row holds the code alone, or the code, a space and the parameters as JSON:
`hosts.unknown {"host":"a.example"}`. In JSON of `/api/v1` and of sync a message is an object of
`code` and `params`; a parameter that is a message is such an object, too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

__all__ = ["Message", "Value", "message_of_row", "row_of_message"]

Value = "str | int | float | bool | Message | Sequence[Value] | None"

_CODE: Final = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*")
_ROW: Final = re.compile(rf"({_CODE.pattern})(?: (\{{.*\}}))?", re.DOTALL)
_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
TEXT: Final = "general.text"
"""The code of a sentence from elsewhere: an agent of an older version, or an old row."""
DEEPEST: Final = 8
"""Messages within messages that are read; what is deeper is dropped."""


class Message:
    """A code of the catalogues with its parameters. Two are equal if both are.

    `str()` is the English sentence, for logs and for whatever takes text.
    """

    __slots__ = ("code", "params")

    code: str
    params: Mapping[str, Any]

    def __init__(self, code: str, /, **params: Any) -> None:
        """params: text, numbers, messages, sequences of these, or None."""
        self.code = code
        self.params = params

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the message of a sentence from elsewhere."""
        return cls(TEXT, text=text)

    @classmethod
    def of(cls, given: str | Message, params: Mapping[str, Any]) -> Message:
        """Return a message unchanged, or one of a code and parameters, or of another's sentence."""
        if isinstance(given, Message):
            return given
        return cls(given, **params) if _CODE.fullmatch(given) else cls.of_text(given)

    @classmethod
    def of_json(cls, value: Any, depth: int = 0) -> Self | None:
        """Return the message of its form in JSON; None where it is none."""
        if not isinstance(value, Mapping) or not isinstance(value.get("code"), str):
            return None
        given = value.get("params") or {}
        if not isinstance(given, Mapping) or depth > DEEPEST:
            return None
        made = cls(value["code"])
        made.params = {str(name): _read(each, depth + 1) for name, each in given.items()}
        return made

    def as_json(self) -> dict[str, Any]:
        """Return the form in JSON."""
        return {
            "code": self.code,
            "params": {name: _json(one) for name, one in self.params.items()},
        }

    def __str__(self) -> str:
        from shared.messages.render import render  # noqa: PLC0415 - `render` reads messages

        return render(self)

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.params.items())
        return f"Message({self.code!r}{given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self.code == other.code and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash(row_of_message(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.code, dict(self.params))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Describe a message in `/api/v1`: the sentence, in the language of the request."""
        from pydantic_core import core_schema  # noqa: PLC0415 - agents start without it

        from shared.messages.language import spoken_language  # noqa: PLC0415
        from shared.messages.render import render  # noqa: PLC0415

        return core_schema.is_instance_schema(
            cls,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda message: render(message, spoken_language()),
                return_schema=core_schema.str_schema(),
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the sentence."""
        return {"type": "string"}


def row_of_message(message: Message | None) -> str:
    """Return the form in rows; an empty text for no message."""
    if message is None:
        return ""
    if not message.params:
        return message.code
    params = message.as_json()["params"]
    text = json.dumps(params, ensure_ascii=False, separators=(",", ":"))
    text = _NUL.sub(r"\1", text)  # which PostgreSQL cannot store
    return f"{message.code} {text}"


def message_of_row(text: str | None) -> Message | None:
    """Return the message that a row holds; None for an empty text.

    A sentence of an old version that no migration knew is a message of `general.text`.
    """
    if not text:
        return None
    found = _ROW.fullmatch(text)
    if found is None:
        return Message.of_text(text)
    code, given = found.groups()
    try:
        params = json.loads(given) if given else {}
    except ValueError:
        return Message.of_text(text)
    return Message.of_json({"code": code, "params": params}) or Message.of_text(text)


def _made(code: str, params: dict[str, Any]) -> Message:
    message = Message(code)
    message.params = params
    return message


def _json(value: Any) -> Any:
    if isinstance(value, Message):
        return value.as_json()
    if isinstance(value, str):
        return str(value)  # a word of an enumeration is its text
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [_json(one) for one in value]
    return str(value)


def _read(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return Message.of_json(value, depth)
    if isinstance(value, list):
        return [_read(one, depth + 1) for one in value] if depth <= DEEPEST else []
    return value
