"""The names of the fields of audit rows, in another language.

In English they are shown as stored; a name that is missing here is shown unchanged.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext

__all__ = ["field"]


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
