"""Sentences about plans: assignment methods, and changes since a plan was made."""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, _, lazy, ngettext
from manager.operations.planning.plan_changes import Change

__all__ = ["METHOD_WORDS", "change_words"]

METHOD_WORDS: Final[dict[str, Lazy]] = {
    "default": lazy("the whole crawl ends soonest; hosts stay near their agents, and few move"),
    "prices": lazy(
        "the most even balance: searches all agents, ends near the lower bound, moves many units"
    ),
    "tree": lazy(
        "the method of the source: neighbours on the spanning tree pass cost on, step by step"
    ),
    "exchange": lazy("pairs of neighbours divide their units by distance"),
    "lp": lazy("a linear program: nearest to the lower bound, up to 20,000 hosts"),
    "keep": lazy("owners keep their units; only units without an owner are assigned"),
    "random": lazy("assigns units at random: for a first round, or as a baseline"),
}


def change_words(change: Change) -> str:
    """Return what changed and how often, as a sentence without its examples."""
    said = _sentence(change)
    return (
        _("%(said)s The count stopped there; there may be more.", said=said)
        if change.is_cut
        else said
    )


def _sentence(change: Change) -> str:
    number = change.number
    match change.kind:
        case "agents-gone":
            return ngettext(
                "%(num)s agent that gets units no longer takes part.",
                "%(num)s agents that get units no longer take part.",
                number,
            )
        case "units-excluded":
            return ngettext(
                "%(num)s unit that it moves was excluded.",
                "%(num)s units that it moves were excluded.",
                number,
            )
        case "units-elsewhere":
            return ngettext(
                "%(num)s unit that it moves now belongs to another agent.",
                "%(num)s units that it moves now belong to other agents.",
                number,
            )
        case "units-pinned":
            return ngettext(
                "%(num)s unit that it moves was pinned to another agent.",
                "%(num)s units that it moves were pinned to other agents.",
                number,
            )
        case "units-barred":
            return ngettext(
                "%(num)s unit is now banned from the agent that gets it.",
                "%(num)s units are now banned from the agents that get them.",
                number,
            )
        case "plans-applied":
            return ngettext(
                "%(num)s other plan was applied.", "%(num)s other plans were applied.", number
            )
        case "owners-changed":
            return ngettext(
                "%(num)s unit got another owner.", "%(num)s units got another owner.", number
            )
        case "hosts-added":
            return ngettext(
                "%(num)s host was added that is not in the plan.",
                "%(num)s hosts were added that are not in the plan.",
                number,
            )
        case "agents-joined":
            return ngettext(
                "%(num)s agent joined that gets no units by the plan.",
                "%(num)s agents joined that get no units by the plan.",
                number,
            )
