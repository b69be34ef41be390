"""Values that must not stand in a command line, which every user of the machine can read."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from shared.errors import SettingError
from shared.messages import Message

__all__ = ["refuse_password", "refuse_secret"]

DATABASES = ("postgresql", "postgres", "sqlite")


def refuse_secret(value: object, name: str, *, secret: bool, file: str) -> None:
    """Refuse a value of `--set` that others must not see.

    secret: the setting is one by its kind; the URL of a database without a password is none.
    file: where it is to stand. Raises SettingError.
    """
    text = value if isinstance(value, str) else ""
    place = Message("settings_errors.in_file", name=name, file=file)
    refuse_password(text, f"--set {name}", place)
    if secret and text and urlsplit(text).scheme.partition("+")[0] not in DATABASES:
        raise SettingError(
            "settings_errors.secret_in_arguments", option=f"--set {name}", instead=place
        )


def refuse_password(text: str, option: str, instead: str | Message) -> None:
    """Refuse a URL that holds a password. option: where it was typed; instead: where it belongs.

    Raises SettingError, which does not repeat it.
    """
    try:
        parts = urlsplit(text)
        found = bool(parts.password) or "password" in parse_qs(parts.query)
    except ValueError:
        return
    if found:
        raise SettingError("settings_errors.password_in_arguments", option=option, instead=instead)
