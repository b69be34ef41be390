"""The manager's settings: frozen groups of fields, each with unit, default, range and reason."""

from manager.settings.groups import (
    AlertSettings,
    ArchiveSettings,
    CollectionSettings,
    ConsoleSettings,
    DatabaseSettings,
    DnsSettings,
    IntakeSettings,
    LimitSettings,
    PolicySettings,
    ReleaseSettings,
    ServerSettings,
    Settings,
)
from manager.settings.renamed import RENAMED
from manager.settings.secrecy import ExposedSecret, Exposure, exposed_secrets
from manager.settings.settings_file import FORM, SETTINGS_FILE, documented, read_settings
from manager.settings.shown import SettingLine, setting_lines

__all__ = [
    "FORM",
    "RENAMED",
    "SETTINGS_FILE",
    "AlertSettings",
    "ArchiveSettings",
    "CollectionSettings",
    "ConsoleSettings",
    "DatabaseSettings",
    "DnsSettings",
    "ExposedSecret",
    "Exposure",
    "IntakeSettings",
    "LimitSettings",
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
