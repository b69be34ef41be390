"""What alerts of the audit are about, and the names of what they tell, in another language.

In English they are shown as the audit has them; one that is not here is shown as it is.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext

__all__ = ["alert_action", "field"]


def alert_action(text: str) -> str:
    """Return the action of an alert in the language of this request."""
    return _actions(current()).get(text, text)


@cache
def _actions(_language: str) -> dict[str, str]:
    return {
        "agent.clone": pgettext("alert", "agent.clone"),
        "agent.compare": pgettext("alert", "agent.compare"),
        "agent.discovered-too-much": pgettext("alert", "agent.discovered-too-much"),
        "agent.lost": pgettext("alert", "agent.lost"),
        "agent.suspect": pgettext("alert", "agent.suspect"),
        "agent.token-reused": pgettext("alert", "agent.token-reused"),
        "clock.gap": pgettext("alert", "clock.gap"),
        "collection.failed": pgettext("alert", "collection.failed"),
        "host.sick": pgettext("alert", "host.sick"),
        "host.unshared": pgettext("alert", "host.unshared"),
        "manager.restore": pgettext("alert", "manager.restore"),
        "round.skip": pgettext("alert", "round.skip"),
        "segment.accept": pgettext("alert", "segment.accept"),
        "segment.refuse": pgettext("alert", "segment.refuse"),
        "user.guessed": pgettext("alert", "user.guessed"),
    }


def field(text: str) -> str:
    """Return the name of what a row tells in the language of this request."""
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
