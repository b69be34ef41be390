"""Every setting of an agent, in the groups in which `prs.toml` writes them.

Invariant: each field has a unit, a default, a range where one makes sense, and a reason: what it
is, in a clause that stands alone, and why its default is so. All of it belongs to the site: the
manager may only ask for less (`agent.settings.manager_limits`).
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from agent.settings.crawl import (
    DnsSettings,
    LimitSettings,
    LinkSettings,
    MemorySettings,
    NetworkSettings,
    PageSettings,
    PolitenessSettings,
)
from agent.settings.site_settings import (
    CollectionSettings,
    DiskSettings,
    ManagerSettings,
    ReportSettings,
    RobotSettings,
    WindowSettings,
)
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
