"""The settings as people look at them: value, default, where it was said, meaning; no secrets."""

from __future__ import annotations

from manager.settings.groups import Settings
from shared.frozen import frozen
from shared.settings import shown

__all__ = ["SettingLine", "setting_lines"]

HIDDEN = "set, not shown"


@frozen
class SettingLine:
    """One setting. value, default: as TOML writes them. source: empty: it was not set."""

    name: str
    value: str
    default: str
    unit: str
    least: float | None
    most: float | None
    reason: str
    source: str
    secret: bool

    @property
    def is_default(self) -> bool:
        """Return whether it is as it comes."""
        return self.value == self.default


def setting_lines(settings: Settings) -> list[SettingLine]:
    """Return all settings in the order of the documented file."""
    lines, given = [], dict(settings.given)
    for name, field, value in settings.each():
        about = field.metadata
        lines.append(
            SettingLine(
                name,
                HIDDEN if about["secret"] and value else shown(value),
                shown(field.default),
                about["unit"],
                about["least"],
                about["most"],
                about["reason"],
                given.get(name, ""),
                about["secret"],
            )
        )
    return lines
