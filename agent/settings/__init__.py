"""The agent's settings: frozen groups of fields, each with unit, default, range and reason.

`groups` declares them, `reading` reads `prs.toml`, `texts` checks those with a form of their own,
`asked` lays the manager's wishes over them, `live` says which can change while the agent runs,
`home` names the files beside them.
"""

from agent.settings.asked import tightened
from agent.settings.groups import (
    CollectionSettings,
    DiskSettings,
    LimitSettings,
    ManagerSettings,
    MemorySettings,
    NetworkSettings,
    PageSettings,
    PolitenessSettings,
    ReportSettings,
    RobotSettings,
    Settings,
    WindowSettings,
)
from agent.settings.home import Home
from agent.settings.live import TakenUp, taken_up
from agent.settings.reading import SETTINGS_FILE, check_can_run, documented, read_settings
from agent.settings.texts import (
    check_manager_url,
    day_minutes,
    window_minutes,
)

__all__ = [
    "SETTINGS_FILE",
    "CollectionSettings",
    "DiskSettings",
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
    "documented",
    "read_settings",
    "taken_up",
    "tightened",
    "window_minutes",
]
