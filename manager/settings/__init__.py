"""The manager's settings: frozen groups of fields, each with unit, default, range and reason."""

from manager.settings.alerts import AlertSettings
from manager.settings.groups import Settings
from manager.settings.network import DnsSettings, LimitSettings, ServerSettings
from manager.settings.policy import PolicySettings
from manager.settings.renamed import RENAMED
from manager.settings.secrecy import ExposedSecret, Exposure, exposed_secrets
from manager.settings.settings_file import FORM, SETTINGS_FILE, documented, read_settings
from manager.settings.shown import SettingLine, setting_lines
from manager.settings.storage import ArchiveSettings, CollectionSettings, IntakeSettings

__all__ = [
    "FORM",
    "RENAMED",
    "SETTINGS_FILE",
    "AlertSettings",
    "ArchiveSettings",
    "CollectionSettings",
    "DnsSettings",
    "ExposedSecret",
    "Exposure",
    "IntakeSettings",
    "LimitSettings",
    "PolicySettings",
    "ServerSettings",
    "SettingLine",
    "Settings",
    "documented",
    "exposed_secrets",
    "read_settings",
    "setting_lines",
]
