"""Audit actions in words, shown beside the names that scripts and filters use.

A name that is missing here is shown unchanged: a manager of another release may have written it.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext
from manager.operations.audit_actions import label_code
from shared.messages import Message, render, template

__all__ = ["act", "acts_about"]


def act(action: str) -> str:
    """Return an action in the language of this request; for `unit.pin`: "unit pinned"."""
    code = label_code(action)
    return action if template(code) is None else render(Message(code), current())


def acts_about() -> dict[str, str]:
    """Return the subjects of actions: by the beginning of their names, in words."""
    return _about(current())


@cache
def _about(_language: str) -> dict[str, str]:
    return {
        "agent.": pgettext("about", "agents"),
        "alert.": pgettext("about", "alerts and events"),
        "archive.": pgettext("about", "the archive"),
        "client.": pgettext("about", "third parties"),
        "clock.": pgettext("about", "clock jumps"),
        "collection.": pgettext("about", "collection and its schedules"),
        "delivery.": pgettext("about", "test messages of alerts"),
        "export.": pgettext("about", "exports"),
        "file.": pgettext("about", "kept files"),
        "fleet.": pgettext("about", "block list and politeness"),
        "host.": pgettext("about", "hosts"),
        "index.": pgettext("about", "indexes of segments"),
        "installation.": pgettext("about", "the installation"),
        "job.": pgettext("about", "jobs"),
        "log.": pgettext("about", "logs"),
        "maintenance.": pgettext("about", "maintenance windows"),
        "manager.": pgettext("about", "managers and backups"),
        "permit.": pgettext("about", "permits"),
        "plan.": pgettext("about", "plans"),
        "probe.": pgettext("about", "probes"),
        "release.": pgettext("about", "releases of agents"),
        "round.": pgettext("about", "rounds and their schedules"),
        "segment.": pgettext("about", "segments"),
        "selection.": pgettext("about", "selections"),
        "server-list.": pgettext("about", "server lists"),
        "token.": pgettext("about", "API tokens"),
        "transfer.": pgettext("about", "transfers"),
        "trash.": pgettext("about", "trash"),
        "unit.": pgettext("about", "units"),
        "user.": pgettext("about", "users"),
    }
