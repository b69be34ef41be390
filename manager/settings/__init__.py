"""The manager's settings: frozen groups of fields, each with unit, default, range and reason."""

from manager.settings.groups import Settings
from manager.settings.groups.alerts import AlertSettings
from manager.settings.groups.archive import ArchiveSettings
from manager.settings.groups.collection import CollectionSettings
from manager.settings.groups.dns import DnsSettings
from manager.settings.groups.intake import IntakeSettings
from manager.settings.groups.limits import LimitSettings
from manager.settings.groups.policy import PolicySettings
from manager.settings.groups.server import ServerSettings
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
