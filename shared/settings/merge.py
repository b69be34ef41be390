"""Write values into a file of settings that a person keeps: the rest stays unchanged.

Only lines are changed, as an editor would: an existing value, the commented default of a missing
one, or a new line. Invariant: read as TOML, the result means the same as the old text with
these values in it and nothing else; where lines cannot say that, it is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from shared.errors import SettingError
from shared.messages import Message
from shared.settings.fields import shown

__all__ = ["merged"]

_HEADER: Final = r"\s*\[{1,2}[^\[\]\"',]+\]{1,2}\s*(#.*)?"

Given = Mapping[str, Mapping[str, object]]


def merged(text: str, given: Given, place: str) -> str:
    """Return a TOML file with these values, by group, in it; comments stay.

    place: what to call the file in a refusal. Raises SettingError: not TOML, or written in a way
    that lines cannot change.
    """
    wanted = _read(text, place)
    written = text.rstrip("\n").split("\n")
    lines = list(written)
    for group, values in given.items():
        for name, value in values.items():
            held = wanted.setdefault(group, {})
            if isinstance(held, dict) and _same(held.get(name), value):
                continue
            _write(lines, group, name, value)
            if isinstance(held, dict):
                held[name] = _plain(value)
    if lines == written:
        return text
    changed = "\n".join([*lines, ""])
    try:
        good = tomllib.loads(changed) == wanted
    except tomllib.TOMLDecodeError:
        good = False
    if not good:
        lines_to_write = tuple(
            Message("settings_errors.line_of_group", line=f"{name} = {shown(value)}", group=group)
            for group, values in given.items()
            for name, value in values.items()
        )
        raise SettingError("settings_errors.cannot_be_merged", path=place, lines=lines_to_write)
    return changed


def _read(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError("settings_errors.not_toml", path=place, reason=str(error)) from error


def _write(lines: list[str], group: str, name: str, value: object) -> None:
    """Put one value where a person would: over the old one, or beside its commented default."""
    begin = _find(lines, rf"\s*\[\s*{re.escape(group)}\s*\]\s*(#.*)?", 0, len(lines))
    line = f"{name} = {shown(value)}"
    if begin is None:
        lines += ["", f"[{group}]", line]
        return
    end = _find(lines, _HEADER, begin + 1, len(lines)) or len(lines)
    old = _find(lines, rf"\s*{re.escape(name)}\s*=.*", begin + 1, end)
    if old is not None:
        last = _end_of_value(lines, old)
        comment = _comment_behind("\n".join(lines[old:last]))
        lines[old:last] = [f"{line}  {comment}" if comment else line]
        return
    default = _find(lines, rf"#\s*{re.escape(name)}\s*=.*", begin + 1, end)
    if default is not None:
        lines[default] = line
    else:
        lines.insert(begin + 1, line)


def _find(lines: list[str], pattern: str, begin: int, end: int) -> int | None:
    found = (at for at in range(begin, end) if re.fullmatch(pattern, lines[at]))
    return next(found, None)


def _end_of_value(lines: list[str], begin: int) -> int:
    """Return behind which line a value ends that may go over many."""
    for last in range(begin + 1, len(lines) + 1):
        if _value_of("\n".join(lines[begin:last])) is not None:
            return last
    return begin + 1


def _comment_behind(text: str) -> str:
    """Return the comment behind a value, with its #; empty: there is none."""
    whole = _value_of(text)
    marks = (found.start() for found in re.finditer("#", text))
    return next((text[at:] for at in marks if _value_of(text[:at]) == whole), "")


def _value_of(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _same(held: object, value: object) -> bool:
    return type(held) is type(_plain(value)) and held == _plain(value)


def _plain(value: object) -> object:
    """Return a value as TOML would read it."""
    return list(value) if isinstance(value, tuple) else value
