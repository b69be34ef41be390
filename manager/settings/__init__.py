"""The manager's settings: frozen groups of fields, each with unit, default, range and reason."""

from manager.settings.groups import (
    AlertSettings,
    ArchiveSettings,
    CollectionSettings,
    ConsoleSettings,
    DatabaseSettings,
    IntakeSettings,
    LimitSettings,
    NamingSettings,
    PolicySettings,
    ReleaseSettings,
    ServerSettings,
    Settings,
)
from manager.settings.secrecy import ExposedSecret, Exposure, exposed_secrets
from manager.settings.settings_file import FORM, SETTINGS_FILE, documented, read_settings
from manager.settings.shown import SettingLine, setting_lines

__all__ = [
    "FORM",
    "SETTINGS_FILE",
    "AlertSettings",
    "ArchiveSettings",
    "CollectionSettings",
    "ConsoleSettings",
    "DatabaseSettings",
    "ExposedSecret",
    "Exposure",
    "IntakeSettings",
    "LimitSettings",
    "NamingSettings",
    "PolicySettings",
    "ReleaseSettings",
    "ServerSettings",
    "SettingLine",
    "Settings",
    "documented",
    "exposed_secrets",
    "read_settings",
    "setting_lines",
]
