"""Values, ranges and meanings of settings as people read them, beside what TOML writes.

Durations, amounts of bytes and empty values are shown in words; other values are readable as
TOML writes them.
"""

from __future__ import annotations

from typing import Final

from manager.console.figures import GAP, amount, count, duration, speed
from manager.console.language import _, current
from manager.console.messages.sentences import word
from manager.settings import SettingLine
from shared.frozen import frozen
from shared.messages.catalogue import setting_meaning
from shared.settings import COMMAND_LINE

__all__ = ["ShownSetting", "ShownValue", "shown_meaning", "shown_setting"]

EMPTY: Final = ('""', "[]")
MEASURES: Final = ("s", "days", "bytes", "bytes/s")


@frozen
class ShownValue:
    """A value. said: in words; "": `written` says it. written: as TOML has it; "": it is secret."""

    said: str
    written: str


@frozen
class ShownSetting:
    """A setting. default: None: it is the value. allowed: from least to most; "": anything.

    source: where it is set; "": nowhere.
    """

    line: SettingLine
    value: ShownValue
    default: ShownValue | None
    allowed: str
    source: str
    meaning: str


def shown_setting(line: SettingLine) -> ShownSetting:
    """Return a setting in the language of this request."""
    if line.secret and not line.is_default:
        value = ShownValue(_("set, not shown"), "")
    else:
        value = _value(line.value, line.unit)
    default = None if line.is_default else _value(line.default, line.unit)
    allowed = ""
    if line.least is not None and line.most is not None:
        least, most = (_quantity(end, line.unit) for end in (line.least, line.most))
        allowed = _("%(least)s to %(most)s", least=least, most=most)
    source = _("the command line") if line.source == COMMAND_LINE else line.source
    return ShownSetting(line, value, default, allowed, source, shown_meaning(line))


def shown_meaning(line: SettingLine) -> str:
    """Return what a setting means, in the language of this request."""
    return setting_meaning(line.name, line.reason, current())


def _value(written: str, unit: str) -> ShownValue:
    if written in EMPTY:
        return ShownValue(_("none"), written)
    if unit in MEASURES:
        return ShownValue(_quantity(float(written), unit), written)
    return ShownValue("", written)


def _quantity(number: float, unit: str) -> str:
    is_whole = float(number).is_integer()
    match unit:
        case "bytes":
            return amount(number)
        case "bytes/s":
            return speed(number)
        case "days" if is_whole:
            return GAP.join((f"{number:.0f}", word("d")))
        case "s" if is_whole and number < 60:
            return GAP.join((f"{number:.0f}", word("s")))
        case "s" | "days":
            return duration(number * (1000 if unit == "s" else 86_400_000))
        case _:
            return count(number) if is_whole else str(number)
