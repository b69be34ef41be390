"""Values that must not stand in a command line, which every user of the machine can read."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from shared.errors import SettingError

__all__ = ["refuse_password", "refuse_secret"]

DATABASES = ("postgresql", "postgres", "sqlite")


def refuse_secret(value: object, name: str, *, secret: bool, file: str) -> None:
    """Refuse a value of `--set` that others must not see.

    secret: the setting is one by its kind; the URL of a database without a password is none.
    file: where it is to stand. Raises SettingError.
    """
    text = value if isinstance(value, str) else ""
    refuse_password(text, f"--set {name}", f"{name} in {file}")
    if secret and text and urlsplit(text).scheme.partition("+")[0] not in DATABASES:
        raise SettingError(_refusal(f"--set {name}", "is a secret", f"{name} in {file}"))


def refuse_password(text: str, what: str, instead: str) -> None:
    """Refuse a URL that holds a password. what: where it was typed; instead: where it belongs.

    Raises SettingError, which does not repeat it.
    """
    try:
        parts = urlsplit(text)
        found = bool(parts.password) or "password" in parse_qs(parts.query)
    except ValueError:
        return
    if found:
        raise SettingError(_refusal(what, "holds a password", instead))


def _refusal(what: str, why: str, instead: str) -> str:
    return f"{what}: {why}, and every user of this machine can read command lines; use {instead}"
