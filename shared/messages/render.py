"""Renders a message as the sentence of a language.

A message never fails to be shown: an unknown code is written with its parameters, and a parameter
that is missing as its name in braces. Tests hold all codes of the source to their catalogues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from shared.messages.catalogue import SOURCE, Piece, pieces, template, word
from shared.messages.message import Message
from shared.plurals import with_plurals

__all__ = ["duration_text", "moment_text", "render", "size_text"]

LONGEST: Final = 4000
"""Characters of a sentence; parameters from outside are longer only by a fault or on purpose."""
DEEPEST: Final = 4
END_MS: Final = 253_402_300_799_000  # the end of the year 9999, where datetime ends
PARTS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))
SIZES: Final = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


def render(message: Message, language: str = SOURCE) -> str:
    """Return the sentence of a message, without a full stop unless its template ends in one."""
    text = _render(message, language, 0)
    text = with_plurals(text) if language == SOURCE else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _render(message: Message, language: str, depth: int) -> str:
    if depth > DEEPEST:
        return "…"
    found = template(message.code, language)
    if found is None:
        given = ", ".join(f"{name}={value}" for name, value in message.as_json()["params"].items())
        return f"{message.code} ({given})" if given else message.code
    return "".join(
        piece.text + (_value(piece, message, language, depth + 1) if piece.name else "")
        for piece in pieces(found)
    )


def _value(piece: Piece, message: Message, language: str, depth: int) -> str:
    if piece.name not in message.params:
        return f"{{{piece.name}}}"
    value = message.params[piece.name]
    if value is None:
        return ""
    try:
        return _formatted(piece, value, language, depth)
    except (TypeError, ValueError, OverflowError):
        return _plain(value, language, depth)  # what an agent sent under a code of ours


def _formatted(piece: Piece, value: Any, language: str, depth: int) -> str:
    if isinstance(value, Message):
        return _render(value, language, depth)
    match piece.form:
        case "duration":
            scale = 1 if piece.name.endswith("_ms") else 1000
            return duration_text(float(value) * scale, language)
        case "moment":
            return moment_text(int(value))
        case "size":
            return size_text(float(value))
        case "percent":
            return f"{_trimmed(100 * float(value))}%"
        case "word":
            return word(str(value), language)
        case "step":
            return word(f"step_{value}" if value == "sync" else str(value), language)
        case "list":
            return word("list_separator", language).join(_all(value, language, depth))
        case "alternatives":
            return word("alternative_separator", language).join(_all(value, language, depth))
        case "clauses":
            return _clauses(list(_all(value, language, depth)), language)
    if piece.conversion == "r":
        value = repr(value)
    elif piece.conversion == "a":
        value = ascii(value)
    elif not piece.form:
        return _plain(value, language, depth)
    return format(value, piece.form)


def _plain(value: Any, language: str, depth: int) -> str:
    if isinstance(value, Message):
        return _render(value, language, depth)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return word("list_separator", language).join(_all(value, language, depth))
    return str(value)


def _all(value: Any, language: str, depth: int) -> Iterable[str]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return (_plain(one, language, depth) for one in values if one is not None)


def _clauses(clauses: list[str], language: str) -> str:
    """Return clauses as one text. Some languages end a sentence where English has a semicolon."""
    ends = tuple(word("sentence_endings", language).split())
    text = ""
    for clause in clauses:
        if text:
            ended = text.endswith(ends) if ends else False
            text += word("full_stop" if ended else "clause_separator", language)
        text += clause
    return text


def duration_text(length_ms: float, language: str = SOURCE) -> str:
    """Return a length of time in its two largest parts: `3 h 20 min`, `4.5 s`, `20 ms`."""
    whole_ms = max(0, round(length_ms))
    if whole_ms < 1000:
        return f"{whole_ms} {word('ms', language)}"
    if whole_ms < 9950:
        return f"{whole_ms / 1000:.1f} {word('s', language)}"
    text: list[str] = []
    at = next(place for place, (size_ms, _) in enumerate(PARTS) if whole_ms >= size_ms)
    for size_ms, unit in PARTS[at : at + 2]:
        many, whole_ms = divmod(whole_ms, size_ms)
        if many or not text:
            text.append(f"{many} {word(unit, language)}")
    return " ".join(text)


def moment_text(at_ms: int) -> str:
    """Return a moment as `2026-11-21 06:30 UTC`; times beyond what a calendar holds are cut."""
    moment = datetime.fromtimestamp(min(max(0, at_ms), END_MS) / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def size_text(size_bytes: float) -> str:
    """Return a size in the largest unit of thousands: `1.4 GB`."""
    for unit_bytes, unit in SIZES:
        if size_bytes >= unit_bytes:
            return f"{_trimmed(size_bytes / unit_bytes)} {unit}"
    return with_plurals(f"{size_bytes:.0f} bytes")


def _trimmed(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")
