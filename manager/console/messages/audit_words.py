"""Audit rows in the language of the page: their actions, and the names of their fields.

Actions stand beside the names that scripts and filters use. In English fields are shown as stored.
A name that is missing here is shown unchanged: a manager of another release may have written it.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext
from manager.operations.audit_actions import label_code
from shared.messages import Message, render, template

__all__ = ["act", "acts_about", "field"]


def field(text: str) -> str:
    """Return the name of a field of a row in the language of this request."""
    return _fields(current()).get(text, text)


@cache
def _fields(_language: str) -> dict[str, str]:
    return {
        "backup": pgettext("told", "backup"),
        "captures": pgettext("told", "captures"),
        "compared": pgettext("told", "compared"),
        "contradicted": pgettext("told", "contradicted"),
        "failures": pgettext("told", "failures"),
        "held until": pgettext("told", "held until"),
        "limit": pgettext("told", "limit"),
        "moved": pgettext("told", "moved"),
        "reason": pgettext("told", "reason"),
        "refused": pgettext("told", "refused"),
        "result": pgettext("told", "result"),
        "segments": pgettext("told", "segments"),
        "sent bytes": pgettext("told", "sent bytes"),
        "since": pgettext("told", "since"),
        "strangers": pgettext("told", "strangers"),
        "withheld": pgettext("told", "withheld"),
    }


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
        "address.": pgettext("about", "addresses"),
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
        "scope.": pgettext("about", "the scope of the crawl"),
        "segment.": pgettext("about", "segments"),
        "selection.": pgettext("about", "selections"),
        "server-list.": pgettext("about", "server lists"),
        "token.": pgettext("about", "API tokens"),
        "transfer.": pgettext("about", "transfers"),
        "trash.": pgettext("about", "trash"),
        "unit.": pgettext("about", "units"),
        "user.": pgettext("about", "users"),
    }
