"""Read the settings: `prsm.toml`, then the command line, each value checked before anything runs.

Invariant: what `read_settings` returns can be used; whatever cannot is refused with a sentence that
names the setting, its value, its limit and the remedy. Nothing is guessed and nothing ignored.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from manager.settings.fields import check_group, nearest
from manager.settings.groups import Settings
from shared.errors import SettingError

__all__ = ["SETTINGS_FILE", "documented", "read_settings"]

SETTINGS_FILE = "prsm.toml"
_GROUPS: dict[str, Any] = {
    field.name: field.default_factory
    for field in dataclasses.fields(Settings)
    if field.default_factory is not dataclasses.MISSING
}


def read_settings(
    data: Path, config: Path | None = None, overrides: Iterable[str] = ()
) -> Settings:
    """Return the settings of the manager whose data directory this is.

    config: a TOML file instead of `prsm.toml` in the data directory, which may be missing.
    overrides: texts as `limits.log_bytes=1000000`, stronger than the file; the value is TOML, and a
    text may stand without quotes. Raises SettingError.
    """
    named = config is not None
    path = config if config is not None else data / SETTINGS_FILE
    values = _read_file(path, must_exist=named)
    for override in overrides:
        _override(values, override)
    for group in values:
        if group not in _GROUPS:
            raise SettingError(f"{group}: unknown group of settings{nearest(group, _GROUPS)}")
    made = {name: check_group(kind, name, values.get(name, {})) for name, kind in _GROUPS.items()}
    settings = Settings(data=data.absolute(), **made)
    _check_together(settings)
    return settings


def documented() -> str:
    """Return a `prsm.toml` of all settings at their defaults, each with unit, range and reason."""
    lines = ["# Settings of the manager. Every line here is the default; change what you need.", ""]
    for name, kind in _GROUPS.items():
        lines += [f"[{name}]"]
        for field in dataclasses.fields(kind):
            about = field.metadata
            limits = "".join(
                f", {sign} {_number(about[key])}"
                for key, sign in (("least", ">="), ("most", "<="))
                if about[key] is not None
            )
            lines += [f"# {about['reason']} ({about['unit']}{limits})"]
            lines += [f"# {field.name} = {_toml(field.default)}"]
        lines += [""]
    return "\n".join(lines)


def _read_file(path: Path, *, must_exist: bool) -> dict[str, dict[str, object]]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if must_exist:
            raise SettingError(f"{path}: no such file; --config names a TOML file") from None
        return {}
    except (OSError, UnicodeError) as error:
        raise SettingError(f"{path}: cannot be read ({error})") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path}: is not TOML: {error}") from error
    for name, group in values.items():
        if not isinstance(group, dict):
            raise SettingError(
                f"{path}: {name} stands outside a group; settings stand under [server], "
                f"[limits] and so on{nearest(name, _GROUPS)}"
            )
    return values


def _override(values: dict[str, dict[str, object]], text: str) -> None:
    name, equals, value = text.partition("=")
    group, dot, key = name.strip().partition(".")
    if not (equals and dot and key):
        raise SettingError(f"--set {text}: must be group.name=value, as limits.log_bytes=1000000")
    try:
        parsed: object = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    values.setdefault(group, {})[key] = parsed


def _check_together(settings: Settings) -> None:
    """Refuse what single ranges cannot see: values that contradict each other, bad addresses."""
    server, policy = settings.server, settings.policy
    if bool(server.tls_certificate) != bool(server.tls_key):
        raise SettingError("server.tls_certificate and server.tls_key: give both, or neither")
    for name in ("tls_certificate", "tls_key"):
        value = cast("str", getattr(server, name))
        if value and not Path(value).is_file():
            raise SettingError(f'server.{name} = "{value}": no such file')
    if server.public_url:
        parts = urlsplit(server.public_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingError(
                f'server.public_url = "{server.public_url}": must be https://name[:port]/, '
                "as agents reach it"
            )
    if policy.permit_s < 2 * policy.next_poll_s:
        raise SettingError(
            f"policy.permit_s = {policy.permit_s}: must be >= twice policy.next_poll_s "
            f"({policy.next_poll_s} s), or permits end between two polls"
        )
    for network in settings.naming.allowed_networks:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise SettingError(
                f'naming.allowed_networks has "{network}": {error}; write it as 127.0.0.0/8'
            ) from error
    for name_server in settings.naming.servers:
        _check_name_server(name_server)


def _check_name_server(text: str) -> None:
    host, colon, port = text.rpartition(":")
    if not colon or (":" in host and not host.startswith("[")):  # a bare address
        host, port = text, "53"
    try:
        ipaddress.ip_address(host.strip("[]"))
        good = port.isascii() and port.isdigit() and 0 < int(port) < 65536
    except ValueError:
        good = False
    if not good:
        raise SettingError(
            f'naming.servers has "{text}": must be address:port, as 127.0.0.1:5353 or [::1]:53'
        )


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else _number(value)


def _number(value: object) -> str:
    return str(value)
