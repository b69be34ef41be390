"""The agent's settings, read and written: `prs.toml`, then the command line, each checked.

Whether they are enough to run (a contact) is asked by `check_can_run`, because commands such as
`prs doctor` must work before that.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from agent.settings.groups import Settings
from agent.settings.home import SETTINGS_FILE, write_whole
from agent.settings.renamed import RENAMED
from agent.settings.texts import check_texts
from shared.errors import SettingError
from shared.settings import Form, Renamed

__all__ = [
    "FORM",
    "check_can_run",
    "documented",
    "read_settings",
    "renamed_settings",
    "write_settings",
]

FORM: Final = Form(
    Settings, head="Settings of this agent.", example="windows.zone=Asia/Tokyo", renamed=RENAMED
)


def read_settings(home: Path, overrides: Iterable[str] = ()) -> Settings:
    """Return the settings of the agent whose home this is; a missing file means defaults.

    overrides: texts as `windows.zone=Asia/Tokyo`, stronger than the file. Raises SettingError.
    """
    settings = Settings(home=home.absolute(), **FORM.read(home / SETTINGS_FILE, overrides))
    check_texts(settings)
    return settings


def renamed_settings(home: Path, overrides: Iterable[str] = ()) -> tuple[Renamed, ...]:
    """Return the settings that `prs.toml` or the command line gives by old names.

    Raises SettingError, as `read_settings`.
    """
    return tuple(FORM.renamed_in(home / SETTINGS_FILE, overrides))


def check_can_run(settings: Settings) -> None:
    """Refuse to crawl without a contact: the owner of a site must be able to reach a person."""
    if not settings.robot.contact:
        raise SettingError("agent_errors.no_contact", path=str(settings.home / SETTINGS_FILE))


def documented(**given: dict[str, object]) -> str:
    """Return a `prs.toml` of all settings at their defaults, each with unit, range and reason.

    given: values by group that stand uncommented, as `robot={"contact": "a@b.org"}`.
    """
    return FORM.documented(given)


def write_settings(home: Path, given: Mapping[str, Mapping[str, object]]) -> Settings:
    """Write values, by group, into `prs.toml`, and return the settings that hold then.

    The rest of the file, comments too, stays unchanged; a missing file becomes one of all
    settings. Nothing is written that could not be used. Raises SettingError, DiskFullError.
    """
    path = (home / SETTINGS_FILE).resolve()
    text, groups = FORM.with_values(path, given)
    settings = Settings(home=home.absolute(), **groups)
    check_texts(settings)
    data = text.encode()
    mode = 0o600
    if path.exists():
        if path.read_bytes() == data:
            return settings
        mode = stat.S_IMODE(path.stat().st_mode)
    write_whole(path, [data], mode=mode)
    return settings
