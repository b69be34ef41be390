"""Every setting of an agent, in the groups in which `prs.toml` writes them.

Each group is declared in the file of its name.
Invariant: each field has a unit, a default, a range where one makes sense, and a reason: what it
is, in a clause that stands alone, and why its default is so. All of it belongs to the site: the
manager may only ask for less (`agent.settings.effective_settings`).
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from agent.settings.groups.collection import CollectionSettings
from agent.settings.groups.disk import DiskSettings
from agent.settings.groups.dns import DnsSettings
from agent.settings.groups.limits import LimitSettings
from agent.settings.groups.links import LinkSettings
from agent.settings.groups.manager import ManagerSettings
from agent.settings.groups.memory import MemorySettings
from agent.settings.groups.network import NetworkSettings
from agent.settings.groups.pages import PageSettings
from agent.settings.groups.politeness import PolitenessSettings
from agent.settings.groups.reports import ReportSettings
from agent.settings.groups.robot import RobotSettings
from agent.settings.groups.windows import WindowSettings
from shared.frozen import frozen

__all__ = ["Settings"]


@frozen
class Settings:
    """All settings of one agent. `home` is the folder that holds everything it keeps."""

    home: Path
    manager: ManagerSettings = field(default_factory=ManagerSettings)
    robot: RobotSettings = field(default_factory=RobotSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    pages: PageSettings = field(default_factory=PageSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    dns: DnsSettings = field(default_factory=DnsSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    windows: WindowSettings = field(default_factory=WindowSettings)
    disk: DiskSettings = field(default_factory=DiskSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
