"""Words that the manager's rows hold (states, kinds, roles), as a reader of the page says them.

In English they are shown as they are; other languages have them from the catalogue. A word that is
not here is shown as it is: it may be an agent's own.
"""

from __future__ import annotations

from functools import cache

from manager.console.language import current, pgettext

__all__ = ["word"]


def word(text: str) -> str:
    """Return a word of a row in the language of this request."""
    return _words(current()).get(text, text)


@cache
def _words(_language: str) -> dict[str, str]:
    """Return all of them. The context tells translators what they are: `open` is no verb here."""
    return {
        # Agents
        "new": pgettext("state", "new"),
        "working": pgettext("state", "working"),
        "idle": pgettext("state", "idle"),
        "asleep": pgettext("state", "asleep"),
        "late": pgettext("state", "late"),
        "lost": pgettext("state", "lost"),
        "retired": pgettext("state", "retired"),
        "paused": pgettext("state", "paused"),
        "draining": pgettext("state", "draining"),
        "drained": pgettext("state", "drained"),
        "suspect": pgettext("state", "suspect"),
        "ordered": pgettext("state", "ordered"),
        # Hosts, units, probes, rounds, plans
        "placed": pgettext("state", "placed"),
        "probing": pgettext("state", "probing"),
        "crawling": pgettext("state", "crawling"),
        "excluded": pgettext("state", "excluded"),
        "finished": pgettext("state", "finished"),
        "cancelled": pgettext("state", "cancelled"),
        "granted": pgettext("state", "granted"),
        "waiting": pgettext("state", "waiting"),
        "failed": pgettext("state", "failed"),
        "done": pgettext("state", "done"),
        "applied": pgettext("state", "applied"),
        "preview": pgettext("state", "preview"),
        "owner": pgettext("state", "owner"),
        "predicted": pgettext("state", "predicted"),
        "outlier": pgettext("state", "outlier"),
        "weak": pgettext("state", "weak"),
        "resolved": pgettext("state", "resolved"),
        "unresolved": pgettext("state", "unresolved"),
        "crawl": pgettext("kind", "crawl"),
        "probe": pgettext("kind", "probe"),
        # Transfers, downloads, jobs, tokens, users
        "open": pgettext("state", "open"),
        "receiving": pgettext("state", "receiving"),
        "received": pgettext("state", "received"),
        "accepted": pgettext("state", "accepted"),
        "quarantined": pgettext("state", "quarantined"),
        "refused": pgettext("state", "refused"),
        "expired": pgettext("state", "expired"),
        "going": pgettext("state", "going"),
        "cut": pgettext("state", "cut"),
        "queued": pgettext("state", "queued"),
        "running": pgettext("state", "running"),
        "complete": pgettext("state", "complete"),
        "gone": pgettext("state", "gone"),
        "revoked": pgettext("state", "revoked"),
        "enabled": pgettext("state", "enabled"),
        "disabled": pgettext("state", "disabled"),
        "alert": pgettext("state", "alert"),
        "yes": pgettext("answer", "yes"),
        "no": pgettext("answer", "no"),
        # What agents count since they started, and fields of forms
        "requests": pgettext("counter", "requests"),
        "pages": pgettext("counter", "pages"),
        "response_bytes": pgettext("counter", "response bytes"),
        "errors": pgettext("counter", "errors"),
        "denied": pgettext("counter", "denied"),
        "discovered_hosts": pgettext("counter", "discovered hosts"),
        "queue": pgettext("counter", "queue"),
        "active_hosts": pgettext("counter", "active hosts"),
        "reason": pgettext("field", "reason"),
        "lines": pgettext("field", "lines"),
        "host": pgettext("field", "host"),
        "name": pgettext("field", "name"),
        # Commands to agents
        "restart": pgettext("command", "restart"),
        "drain": pgettext("command", "drain"),
        "pause": pgettext("command", "pause"),
        "resume": pgettext("command", "resume"),
        "update": pgettext("command", "update"),
    }
