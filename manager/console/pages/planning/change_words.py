"""Changes since a plan was made, as sentences."""

from __future__ import annotations

from manager.console.language import _, ngettext
from manager.operations.planning.plan_changes import Change

__all__ = ["change_words"]


def change_words(change: Change) -> str:
    """Return what changed and how often, as a sentence without its examples."""
    said = _sentence(change)
    return _("%(said)s Or more: so far it was counted.", said=said) if change.is_cut else said


def _sentence(change: Change) -> str:
    number = change.number
    match change.kind:
        case "agents-gone":
            return ngettext(
                "%(num)s agent that gets units takes no part any more.",
                "%(num)s agents that get units take no part any more.",
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
                "%(num)s unit that it moves belongs to another agent by now.",
                "%(num)s units that it moves belong to other agents by now.",
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
                "%(num)s unit never goes to the agent that gets it any more.",
                "%(num)s units never go to the agents that get them any more.",
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
                "%(num)s host was added, of which the plan does not know.",
                "%(num)s hosts were added, of which the plan does not know.",
                number,
            )
        case "agents-joined":
            return ngettext(
                "%(num)s agent joined, which gets nothing by the plan.",
                "%(num)s agents joined, which get nothing by the plan.",
                number,
            )
