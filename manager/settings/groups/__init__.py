"""Every setting of the manager, in the groups in which `prsm.toml` writes them.

Each group is declared in the file of its name.
Invariant: each field has a unit, a default, a range where one makes sense, and a reason: its
meaning, in a clause that stands alone, and why its default is so. A setting that no operator would
ever change is a constant in the module that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from manager.settings.groups.alerts import AlertSettings
from manager.settings.groups.archive import ArchiveSettings
from manager.settings.groups.collection import CollectionSettings
from manager.settings.groups.console import ConsoleSettings
from manager.settings.groups.database import DatabaseSettings
from manager.settings.groups.dns import DnsSettings
from manager.settings.groups.intake import IntakeSettings
from manager.settings.groups.limits import LimitSettings
from manager.settings.groups.policy import PolicySettings
from manager.settings.groups.releases import ReleaseSettings
from manager.settings.groups.server import ServerSettings
from shared.frozen import frozen

__all__ = ["Settings"]


@frozen
class Settings:
    """All settings of one manager, and the data directory that they hold for.

    given: which were said where, as (`limits.log_bytes`, `prsm.toml`).
    """

    data: Path
    given: tuple[tuple[str, str], ...] = ()
    server: ServerSettings = field(default_factory=ServerSettings)
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    intake: IntakeSettings = field(default_factory=IntakeSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    dns: DnsSettings = field(default_factory=DnsSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    releases: ReleaseSettings = field(default_factory=ReleaseSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)

    def each(self) -> Iterator[tuple[str, Field[Any], Any]]:
        """Yield the name of each setting, as `limits.log_bytes`, its declaration and its value."""
        for group in fields(self):
            values = getattr(self, group.name)
            if is_dataclass(values):
                for one in fields(values):
                    yield f"{group.name}.{one.name}", one, getattr(values, one.name)
