"""Writes values that a person gave elsewhere into `prs.toml`, and leaves the rest unchanged."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from agent.settings.groups import Settings
from agent.settings.home import write_whole
from agent.settings.settings_file import FORM, SETTINGS_FILE
from agent.settings.texts import check_texts

__all__ = ["write_settings"]


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
