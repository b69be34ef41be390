"""Read the settings: `prs.toml`, then the command line, each value checked before anything runs.

Invariant: what `read_settings` returns can be used; whatever cannot is refused with a sentence
that names the setting, its value, its limit and the remedy. Nothing is guessed and nothing
ignored. Whether they are enough to run (a contact) is asked by `check_can_run`, because commands
such as `prs doctor` must work before that.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from agent.settings.fields import check_group, nearest, shown
from agent.settings.groups import Settings
from agent.settings.texts import check_texts
from shared.errors import SettingError

__all__ = ["SETTINGS_FILE", "check_can_run", "documented", "read_settings"]

SETTINGS_FILE: Final = "prs.toml"
_GROUPS: Final[dict[str, Any]] = {
    field.name: field.default_factory
    for field in dataclasses.fields(Settings)
    if field.default_factory is not dataclasses.MISSING
}


def read_settings(home: Path, overrides: Iterable[str] = ()) -> Settings:
    """Return the settings of the agent whose home this is; a missing file means defaults.

    overrides: texts as `windows.zone=Asia/Tokyo`, stronger than the file; the value is TOML, and
    a text may stand without quotes. Raises SettingError.
    """
    values = _read_file(home / SETTINGS_FILE)
    for override in overrides:
        _override(values, override)
    for group in values:
        if group not in _GROUPS:
            raise SettingError(f"{group}: unknown group of settings{nearest(group, _GROUPS)}")
    made = {name: check_group(kind, name, values.get(name, {})) for name, kind in _GROUPS.items()}
    settings = Settings(home=home.absolute(), **made)
    check_texts(settings)
    return settings


def check_can_run(settings: Settings) -> None:
    """Refuse to crawl without a contact: the owner of a site must be able to reach somebody."""
    if not settings.robot.contact:
        raise SettingError(
            'robot.contact = "": must be a mail address at which owners of sites reach you; write '
            f'contact = "you@example.org" under [robot] in {settings.home / SETTINGS_FILE}'
        )


def documented(**given: dict[str, object]) -> str:
    """Return a `prs.toml` of all settings at their defaults, each with unit, range and reason.

    given: values by group that stand uncommented, as `robot={"contact": "a@b.org"}`.
    """
    lines = ["# Settings of this agent. Lines behind a # are the defaults; change what you need."]
    for name, kind in _GROUPS.items():
        lines += ["", f"[{name}]"]
        for field in dataclasses.fields(kind):
            about = field.metadata
            limits = "".join(
                f", {sign} {about[key]}"
                for key, sign in (("least", ">="), ("most", "<="))
                if about[key] is not None
            )
            lines += [f"# {about['reason']} ({about['unit']}{limits})"]
            if field.name in given.get(name, {}):
                lines += [f"{field.name} = {shown(given[name][field.name])}"]
            else:
                lines += [f"# {field.name} = {shown(field.default)}"]
    return "\n".join([*lines, ""])


def _read_file(path: Path) -> dict[str, dict[str, object]]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
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
                f"{path}: {name} stands outside a group; settings stand under [robot], "
                f"[windows] and so on{nearest(name, _GROUPS)}"
            )
    return values


def _override(values: dict[str, dict[str, object]], text: str) -> None:
    name, equals, value = text.partition("=")
    group, dot, key = name.strip().partition(".")
    if not (equals and dot and key):
        raise SettingError(f"--set {text}: must be group.name=value, as windows.zone=Asia/Tokyo")
    try:
        parsed: object = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    values.setdefault(group, {})[key] = parsed
