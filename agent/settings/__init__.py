"""The agent's settings: frozen groups of fields, each with unit, default, range and reason.

`crawl` and `site_settings` declare them, `groups` puts them together, `settings_file` reads
`prs.toml`, `renamed` lists old names, `settings_edit` writes into the file, `texts` checks those
with their own form, `manager_limits` lays the manager's wishes over them, `live` says which can
change while the agent runs, `home` names the files beside them.
"""

from agent.settings.crawl import (
    DnsSettings,
    LimitSettings,
    MemorySettings,
    NetworkSettings,
    PageSettings,
    PolitenessSettings,
)
from agent.settings.groups import Settings
from agent.settings.home import Home
from agent.settings.live import TakenUp, taken_up
from agent.settings.manager_limits import tightened
from agent.settings.renamed import RENAMED
from agent.settings.settings_edit import write_settings
from agent.settings.settings_file import (
    FORM,
    SETTINGS_FILE,
    check_can_run,
    documented,
    read_settings,
    renamed_settings,
)
from agent.settings.site_settings import (
    CollectionSettings,
    DiskSettings,
    ManagerSettings,
    ReportSettings,
    RobotSettings,
    WindowSettings,
)
from agent.settings.texts import (
    check_manager_url,
    day_minutes,
    day_windows,
    window_minutes,
)

__all__ = [
    "FORM",
    "RENAMED",
    "SETTINGS_FILE",
    "CollectionSettings",
    "DiskSettings",
    "DnsSettings",
    "Home",
    "LimitSettings",
    "ManagerSettings",
    "MemorySettings",
    "NetworkSettings",
    "PageSettings",
    "PolitenessSettings",
    "ReportSettings",
    "RobotSettings",
    "Settings",
    "TakenUp",
    "WindowSettings",
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
