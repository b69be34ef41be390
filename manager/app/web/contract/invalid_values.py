"""Mistakes that pydantic finds in a request, as messages by code.

Its own sentences are English; a type of mistake that is missing here is shown in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.messages import Message

__all__ = ["invalid_value"]

PLACES: Final = ("body", "query", "path", "header")
_QUOTED: Final = re.compile(r"'([^']*)'")

_PLAIN: Final[dict[str, str]] = {
    "missing": "requests.value_missing",
    "missing_argument": "requests.value_missing",
    "missing_keyword_only_argument": "requests.value_missing",
    "extra_forbidden": "requests.value_unknown",
    "unexpected_keyword_argument": "requests.value_unknown",
    "none_required": "requests.value_not_null",
    "model_type": "requests.value_not_object",
    "model_attributes_type": "requests.value_not_object",
    "dataclass_type": "requests.value_not_object",
    "dict_type": "requests.value_not_object",
    "list_type": "requests.value_not_array",
    "tuple_type": "requests.value_not_array",
    "set_type": "requests.value_not_array",
    "frozen_set_type": "requests.value_not_array",
    "iterable_type": "requests.value_not_array",
    "string_type": "requests.value_not_string",
    "string_unicode": "requests.value_not_unicode",
    "bool_type": "requests.value_not_boolean",
    "bool_parsing": "requests.value_not_boolean",
    "int_type": "requests.value_not_whole",
    "int_parsing": "requests.value_not_whole",
    "int_from_float": "requests.value_not_whole",
    "int_parsing_size": "requests.value_too_many_digits",
    "float_type": "requests.value_not_number",
    "float_parsing": "requests.value_not_number",
    "finite_number": "requests.value_not_finite",
    "recursion_loop": "requests.value_too_deep",
    "recursion_depth_exceeded": "requests.value_too_deep",
}
_WITH_LIMIT: Final[dict[str, tuple[str, str]]] = {
    "greater_than": ("requests.value_above", "gt"),
    "greater_than_equal": ("requests.value_at_least", "ge"),
    "less_than": ("requests.value_below", "lt"),
    "less_than_equal": ("requests.value_at_most", "le"),
    "multiple_of": ("requests.value_multiple", "multiple_of"),
    "too_short": ("requests.value_items_at_least", "min_length"),
    "too_long": ("requests.value_items_at_most", "max_length"),
    "string_too_short": ("requests.value_characters_at_least", "min_length"),
    "string_too_long": ("requests.value_characters_at_most", "max_length"),
}
"""The code, and which parameter of pydantic's is the limit."""


def invalid_value(found: Mapping[str, Any]) -> Message:
    """Return the message of a mistake: where it is, and what is wrong.

    found: as `pydantic.ValidationError.errors` and FastAPI describe it.
    """
    where = ".".join(str(part) for part in found["loc"] if part not in PLACES)
    return Message("requests.invalid_value", name=where or "body", problem=_problem(found))


def _problem(found: Mapping[str, Any]) -> Message:
    kind, context = str(found["type"]), found.get("ctx") or {}
    if kind in _PLAIN:
        return Message(_PLAIN[kind])
    try:
        if kind in _WITH_LIMIT:
            code, name = _WITH_LIMIT[kind]
            return Message(code, limit=_whole(context[name]))
        if kind in _WITH_TEXT:
            return _WITH_TEXT[kind](context)
    except KeyError:
        pass
    return Message.of_text(str(found["msg"]))


def _whole(limit: Any) -> Any:
    """Return a limit without the decimal point of a whole number."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _choices(context: Mapping[str, Any]) -> Message:
    expected = str(context["expected"])
    choices = _QUOTED.findall(expected) or [expected]
    return Message("requests.value_choice", choices=tuple(choices))


_WITH_TEXT: Final[dict[str, Callable[[Mapping[str, Any]], Message]]] = {
    "literal_error": _choices,
    "enum": _choices,
    "json_invalid": lambda given: Message("requests.value_not_json", finding=str(given["error"])),
    "string_pattern_mismatch": lambda given: Message(
        "requests.value_pattern", pattern=str(given["pattern"])
    ),
}
