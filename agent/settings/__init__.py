"""The agent's settings: frozen groups of fields, each with unit, default, range and reason.

`groups` declares them, `settings_file` reads and writes `prs.toml`, `renamed` lists old
names, `texts` checks those with their own form, `effective_settings` says which can change while
the agent runs and lays the manager's wishes over them, `home` names the files beside them.
"""

from agent.settings.effective_settings import taken_up, tightened
from agent.settings.groups import Settings
from agent.settings.home import SETTINGS_FILE, Home
from agent.settings.renamed import RENAMED
from agent.settings.settings_file import (
    FORM,
    check_can_run,
    documented,
    read_settings,
    renamed_settings,
    write_settings,
)
from agent.settings.texts import check_manager_url, day_minutes, day_windows, window_minutes

__all__ = [
    "FORM",
    "RENAMED",
    "SETTINGS_FILE",
    "Home",
    "Settings",
    "check_can_run",
    "check_manager_url",
    "day_minutes",
    "day_windows",
    "documented",
    "read_settings",
    "renamed_settings",
    "taken_up",
    "tightened",
    "window_minutes",
    "write_settings",
]
