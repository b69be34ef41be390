"""Sentences that rows held up to schema 0047, with the codes that stand for them since.

A pattern is a sentence with `%(name)s` where a value stood; the name is that of the parameter. The
more particular of two patterns, with more text between its values, is tried first. RE2's time grows
with the length of a text only; agents wrote some of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import re2

__all__ = ["COLUMNS", "code_of", "sentence_of"]

COLUMNS: Final[tuple[tuple[str, str], ...]] = ()
SENTENCES: Final[tuple[tuple[str, str] | tuple[str, str, dict[str, str]], ...]] = ()

_ROW: Final = re.compile(r"([a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*)(?: (\{.*\}))?", re.DOTALL)
_VALUE: Final = re.compile(r"%\((\w+)\)s")
_UNITS: Final = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}
_TEXT: Final = "general.text"


class _Pattern(NamedTuple):
    shape: Any
    sentence: str
    code: str
    kinds: Mapping[str, str]


def code_of(text: str) -> str | None:
    """Return the code and parameters of a sentence, as rows hold them; None: leave it."""
    if _ROW.fullmatch(text):
        return None
    found = _read(text)
    if found is None:
        return None
    code, params = found
    given = json.dumps(params, ensure_ascii=False, separators=(",", ":"))
    return f"{code} {given}" if params else code


def sentence_of(text: str) -> str | None:
    """Return the sentence of a code, as rows of schema 0047 had it; None: leave it."""
    found = _ROW.fullmatch(text)
    return _written(found[1], json.loads(found[2]) if found[2] else {}) if found else None


def _read(text: str) -> tuple[str, dict[str, Any]] | None:
    for pattern in _patterns():
        found = pattern.shape.fullmatch(text)
        if found is None:
            continue
        try:
            params = {
                name: _KINDS[pattern.kinds.get(name, "text")](value)
                for name, value in found.groupdict().items()
            }
        except ValueError:
            continue
        return pattern.code, params
    return None


def _written(code: str, params: Mapping[str, Any]) -> str | None:
    if code == _TEXT:
        return str(params.get("text", ""))
    found = next((one for one in _patterns() if one.code == code), None)
    if found is None:
        return None
    try:
        values = {name: _said(value) for name, value in params.items()}
        return found.sentence % values
    except KeyError:
        return None


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return _written(str(value["code"]), value.get("params", {})) or str(value["code"])
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return str(value)


def _message(text: str) -> dict[str, Any]:
    code, params = _read(text) or (_TEXT, {"text": text})
    return {"code": code, "params": params}


def _duration_ms(text: str) -> int:
    words = text.split()
    if len(words) % 2 or not words:
        raise ValueError(text)
    return round(
        sum(
            float(number) * _UNITS[unit] if unit in _UNITS else _fail(text)
            for number, unit in zip(words[::2], words[1::2], strict=True)
        )
    )


def _fail(text: str) -> float:
    raise ValueError(text)


_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "text": str,
    "int": lambda text: int(text.replace(",", "")),
    "float": lambda text: float(text.replace(",", "")),
    "percent": lambda text: float(text.rstrip("%")) / 100,
    "duration": _duration_ms,
    "duration_s": lambda text: _duration_ms(text) / 1000,
    "list": lambda text: text.split(", "),
    "message": _message,
}


@cache
def _patterns() -> list[_Pattern]:
    made = []
    for given in SENTENCES:
        sentence, code = given[0], given[1]
        kinds = given[2] if len(given) > 2 else {}
        parts = _VALUE.split(sentence)
        shape = "".join(
            f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)
        )
        made.append(_Pattern(re2.compile(f"(?s){shape}"), sentence, code, kinds))
    made.sort(key=lambda one: -len(_VALUE.sub("", one.sentence)))
    return made
