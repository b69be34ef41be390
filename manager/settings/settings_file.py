"""Read the manager's settings: `prsm.toml`, then the command line, each checked before anything."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from manager.settings.groups import Settings
from manager.settings.groups.policy import SPLITS
from manager.settings.renamed import RENAMED
from shared.errors import SettingError
from shared.messages import LANGUAGES
from shared.settings import Form, check_network, name_server

__all__ = ["FORM", "SETTINGS_FILE", "documented", "read_settings"]

SETTINGS_FILE: Final = "prsm.toml"
FORM: Final = Form(
    Settings,
    head="Settings of the manager.",
    example="limits.log_bytes=1000000",
    renamed=RENAMED,
)


def read_settings(
    data: Path, config: Path | None = None, overrides: Iterable[str] = ()
) -> Settings:
    """Return the settings of the manager whose data directory this is.

    config: a TOML file instead of `prsm.toml` in the data directory, which may be missing.
    overrides: texts as `limits.log_bytes=1000000`, stronger than the file. Raises SettingError.
    """
    named = config is not None
    path = config if config is not None else data / SETTINGS_FILE
    overrides = tuple(overrides)
    groups = FORM.read(path, overrides, must_exist=named)
    settings = Settings(
        data=data.absolute(), given=tuple(FORM.given(path, overrides).items()), **groups
    )
    _check_together(settings)
    return settings


def documented() -> str:
    """Return a `prsm.toml` of all settings at their defaults, each with unit, range and reason."""
    return FORM.documented()


def _check_together(settings: Settings) -> None:
    """Refuse what single ranges cannot see: values that contradict each other, bad addresses."""
    server, policy = settings.server, settings.policy
    if bool(server.tls_certificate) != bool(server.tls_key):
        raise SettingError("settings_errors.tls_pair")
    for name in ("tls_certificate", "tls_key"):
        value = cast("str", getattr(server, name))
        if value and not Path(value).is_file():
            raise SettingError("settings_errors.file_missing", name=f"server.{name}", value=value)
    if server.public_url:
        parts = urlsplit(server.public_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingError("settings_errors.public_url", value=server.public_url)
    if server.log_format not in {"text", "json"}:
        raise SettingError("settings_errors.log_format", value=server.log_format)
    if policy.splits not in SPLITS:
        raise SettingError("settings_errors.splits", value=policy.splits, choices=SPLITS)
    if settings.alerts.webhook_url:
        parts = urlsplit(settings.alerts.webhook_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingError("settings_errors.webhook_url")
    if settings.alerts.language not in LANGUAGES:
        raise SettingError(
            "alerts.unknown_language", language=settings.alerts.language, languages=LANGUAGES
        )
    for address in (settings.alerts.mail_from, *settings.alerts.mail_to):
        if "@" not in address or not address.isascii() or not address.isprintable():
            raise SettingError("settings_errors.alert_address", address=address)
    contact = settings.console.contact
    if contact and ("@" not in contact or not contact.isascii() or not contact.isprintable()):
        raise SettingError("settings_errors.contact", value=contact)
    if policy.permit_s < 2 * policy.sync_interval_s:
        raise SettingError(
            "settings_errors.permit_too_short",
            permit_s=policy.permit_s,
            sync_interval_s=policy.sync_interval_s,
        )
    country_file = settings.dns.country_file
    if country_file and not Path(country_file).is_file():
        raise SettingError(
            "settings_errors.file_missing", name="dns.country_file", value=country_file
        )
    for network in settings.dns.allowed_networks:
        check_network(network, "dns.allowed_networks")
    for network in settings.policy.shared_networks:
        check_network(network, "policy.shared_networks")
    for network in server.proxy_addresses:
        check_network(network, "server.proxy_addresses")
    if server.behind_tls_proxy and not server.proxy_addresses:
        raise SettingError("settings_errors.proxy_addresses")
    for server_text in settings.dns.servers:
        name_server(server_text, "dns.servers")
