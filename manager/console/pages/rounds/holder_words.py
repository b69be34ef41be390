"""Reasons why a round waits, in words."""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy
from manager.operations.rounds.round_holders import HolderReason

__all__ = ["HOLDING_WORDS"]

HOLDING_WORDS: Final[dict[HolderReason, Lazy]] = {
    HolderReason.FETCHING: lazy("its agent is fetching it"),
    HolderReason.RESTING: lazy("the host asked for a back-off"),
    HolderReason.WAITING: lazy("waiting until its agent may take it"),
    HolderReason.PROBING: lazy("its distance is being measured"),
    HolderReason.LOG_AWAITED: lazy("waiting for the agent's log"),
    HolderReason.UNPLACED: lazy("no owner yet"),
    HolderReason.UNRESOLVED: lazy("its name is being looked up"),
    HolderReason.PLAN: lazy("waiting for the plan, or for an agent"),
}
