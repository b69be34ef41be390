"""Reasons why a round waits, in words."""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy
from manager.operations.rounds.round_holders import HolderReason

__all__ = ["HOLDING_WORDS"]

HOLDING_WORDS: Final[dict[HolderReason, Lazy]] = {
    HolderReason.FETCHING: lazy("its agent fetches it"),
    HolderReason.RESTING: lazy("it asked for a rest"),
    HolderReason.WAITING: lazy("it waits until its agent has room for it"),
    HolderReason.PROBING: lazy("its distance is being measured"),
    HolderReason.LOG_AWAITED: lazy("the agent's log is awaited"),
    HolderReason.UNPLACED: lazy("it has no owner yet"),
    HolderReason.UNRESOLVED: lazy("its name is being looked up"),
    HolderReason.PLAN: lazy("the plan is being made, or no agent takes part"),
}
