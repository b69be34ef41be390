"""Secrets among the settings, and the places at which other users of the machine can read them."""

from __future__ import annotations

import stat
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from manager.settings.groups import Settings
from shared.frozen import frozen
from shared.settings import COMMAND_LINE

__all__ = ["ExposedSecret", "Exposure", "exposed_secrets"]


class Exposure(StrEnum):
    """A place where other users read a secret."""

    SETTINGS_FILE = "settings_readable"
    KEY_FILE = "key_readable"
    COMMAND_LINE = "secret_in_arguments"


@frozen
class ExposedSecret:
    """Secrets that others can read. place: a file; empty: the arguments. secrets: of settings."""

    exposure: Exposure
    place: str
    secrets: tuple[str, ...]


def exposed_secrets(settings: Settings, file: Path) -> list[ExposedSecret]:
    """Return the secrets that every user of the machine can read; looks at files' modes.

    file: from which the settings were read; it may be missing.
    """
    found = []
    given = dict(settings.given)
    secrets = _secrets(settings)
    in_file = tuple(name for name in secrets if given.get(name, COMMAND_LINE) != COMMAND_LINE)
    if in_file and _all_may_read(file):
        found.append(ExposedSecret(Exposure.SETTINGS_FILE, str(file), in_file))
    in_arguments = tuple(name for name in secrets if given.get(name) == COMMAND_LINE)
    if in_arguments:
        found.append(ExposedSecret(Exposure.COMMAND_LINE, "", in_arguments))
    key = settings.server.tls_key
    if key and _all_may_read(Path(key)):
        found.append(ExposedSecret(Exposure.KEY_FILE, key, ("server.tls_key",)))
    return found


def _secrets(settings: Settings) -> list[str]:
    """Return the names of the settings that hold a secret now."""
    return [
        name
        for name, field, value in settings.each()
        if field.metadata["secret"] and value and _is_secret(name, value)
    ]


def _is_secret(name: str, value: str) -> bool:
    """Return whether a value is a secret; the URL of a database is one if it has a password."""
    if name != "database.url":
        return True
    parts = urlsplit(value)
    return bool(parts.password) or "password" in parse_qs(parts.query)


def _all_may_read(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
