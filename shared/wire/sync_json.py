"""JSON of sync messages by pydantic, for programs that load it anyway: the manager and tests.

The messages and all their bounds are declared in `shared.wire.sync`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

__all__ = ["json_of", "message_of", "read_message"]

T = TypeVar("T")


@cache
def _adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_message(kind: type[T], body: bytes | str, *, strict: bool = False) -> T:
    """Return the message that JSON says. strict: nothing is converted. Raises ValidationError."""
    message: T = _adapter_of(cast("Any", kind)).validate_json(body, strict=strict)
    return message


def message_of(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return the message of values by name, which are checked. Raises ValidationError."""
    message: T = _adapter_of(cast("Any", kind)).validate_python(values)
    return message


def json_of(message: Any) -> bytes:
    """Return a message as JSON, with all its fields."""
    return _adapter_of(cast("Any", type(message))).dump_json(message)
