"""A setting: value, unit, default, range, and the reason for them.

Invariant: a group that was made through `check_group` holds only values that its fields allow.
Where the values come from is `shared.settings.file`'s business.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

from shared.errors import SettingError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Range", "check_group", "nearest", "setting", "shown"]

_Value = TypeVar("_Value")
_Group = TypeVar("_Group")

_KINDS: Final = {
    int: "settings_errors.whole",
    float: "settings_errors.number",
    bool: "settings_errors.flag",
    str: "settings_errors.text",
}


@frozen
class Range:
    """The numbers that a setting may have, in a unit. None: no bound."""

    unit: str
    least: float | None = None
    most: float | None = None


def setting(default: _Value, unit: str | Range, reason: str, *, secret: bool = False) -> _Value:
    """Declare one field of a group.

    unit: of a number, with its range where it has one; of a text, its form.
    reason: what it is, in a clause that stands alone, then why the default is so and what to do;
    the documented file and the console print it.
    secret: its value is never shown.
    """
    within = unit if isinstance(unit, Range) else Range(unit)
    about = {"unit": within.unit, "least": within.least, "most": within.most}
    about |= {"reason": reason, "secret": secret}
    declared: _Value = dataclasses.field(default=default, metadata=about)
    return declared


def check_group(group: type[_Group], prefix: str, values: Mapping[str, object]) -> _Group:
    """Make a group of settings from read values; those not named keep their defaults.

    Raises SettingError: unknown name (the nearest is offered), wrong type, out of range.
    """
    kinds, fields = _declared(cast("Any", group))
    checked = {}
    for name, value in values.items():
        if name not in fields:
            raise SettingError(
                "settings_errors.unknown_setting",
                name=f"{prefix}.{name}",
                remedy=nearest(name, fields, prefix),
            )
        checked[name] = _checked(f"{prefix}.{name}", value, kinds[name], fields[name])
    return group(**checked)


@cache
def _declared(group: type) -> tuple[Mapping[str, Any], Mapping[str, dataclasses.Field[Any]]]:
    """Return the types and the fields of a group by name."""
    fields = {field.name: field for field in dataclasses.fields(cast("Any", group))}
    return typing.get_type_hints(group), fields


def nearest(name: str, known: Iterable[str], prefix: str = "") -> Message:
    """Return `did you mean x?` for a mistyped name, or the known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    dot = f"{prefix}." if prefix else ""
    if close:
        return Message("general.did_you_mean", name=f"{dot}{close[0]}")
    return Message("general.known", known=tuple(dot + each for each in names))


def shown(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return str(value)


def _checked(name: str, value: object, kind: object, field: dataclasses.Field[Any]) -> object:
    given = {"name": name, "value": shown(value), "default": shown(field.default)}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if kind == tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise SettingError("settings_errors.texts", **given)
        return tuple(value)
    wanted = cast("type", kind)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise SettingError(_KINDS[wanted], **given)
    if isinstance(value, int | float) and wanted is not bool:
        about = field.metadata
        least, most, unit = about["least"], about["most"], about["unit"]
        if least is not None and not value >= least:
            raise SettingError("settings_errors.too_small", least=least, unit=unit, **given)
        if most is not None and not value <= most:
            raise SettingError("settings_errors.too_large", most=most, unit=unit, **given)
    return value
