"""The language of the current request or command: a context variable, English by default.

Logs, and what `str()` makes of a message or an error, stay English: people search for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final

from shared.messages.catalogue import LANGUAGES, SOURCE

__all__ = ["choose", "speak", "spoken_language"]

ACCEPTED_MOST: Final = 20

_language: Final[ContextVar[str]] = ContextVar("message_language", default=SOURCE)


def speak(language: str) -> None:
    """Set the language of this context; English for one that has no catalogue."""
    _language.set(language if language in LANGUAGES else SOURCE)


def spoken_language() -> str:
    """Return the language of this context."""
    return _language.get()


def choose(chosen: str, accepted: str) -> str:
    """Return the language for a person. chosen: by the menu, or nothing. accepted: the browser's
    Accept-Language (RFC 9110, 12.5.4)."""
    if chosen in LANGUAGES:
        return chosen
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:1000].split(",")[:ACCEPTED_MOST]):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = _weight(parameters)
        if weight > 0:
            wanted.append((-weight, place, name.partition("-")[0]))
    for _weighed, _place, name in sorted(wanted):
        if name in LANGUAGES:
            return name
        if name == "*":
            break
    return SOURCE


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, mark, value = parameter.partition("=")
        if name.strip() == "q" and mark:
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0
