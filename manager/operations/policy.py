"""The numbers that operations go by: the settings of `policy`, and limits of other groups.

Each number is declared in `manager.settings.groups.policy`, with its unit, range and
reason. Tests choose their own numbers.
"""

from __future__ import annotations

from typing import Final

from manager.settings import LimitSettings, PolicySettings, Settings
from shared.frozen import frozen, values_of

__all__ = ["DEFAULT_POLICY", "Policy"]


@frozen
class Policy(PolicySettings):
    """Policy of operations: lifetimes of rights, probe sizes, batch sizes."""

    discoveries_per_day: int = LimitSettings().discoveries_per_day

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """Return the policy that the settings give."""
        return cls(
            **values_of(settings.policy),
            discoveries_per_day=settings.limits.discoveries_per_day,
        )


DEFAULT_POLICY: Final = Policy()
