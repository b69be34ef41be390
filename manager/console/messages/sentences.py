"""Sentences of messages in the language of the page, and the names of actors.

Text of an agent, a site or a person is no message of ours and stays unchanged; templates escape it
and make its hidden characters visible, as any text.
"""

from __future__ import annotations

from typing import Final

from manager.console.language import current
from shared.messages import LANGUAGES, Message, render

__all__ = ["actor", "actor_meant", "sentence_of"]

_ACTORS: Final = {
    "tick": Message("console.actor_manager"),
    "local": Message("console.actor_command_line"),
}
"""Actors that are no person, by their names in rows."""
_SCHEDULE: Final = "schedule "
"""The prefix of a schedule's name in rows; a user's name has no space."""


def sentence_of(message: Message | str | None) -> str:
    """Return a message as a sentence in the language of this request; other text unchanged."""
    return render(message, current()) if isinstance(message, Message) else message or ""


def actor(name: str | None) -> str:
    """Return the name of an actor in the language of this request."""
    if not name:
        return ""
    known = _ACTORS.get(name)
    if name.startswith(_SCHEDULE):
        known = Message("console.actor_schedule", number=name.removeprefix(_SCHEDULE))
    return name if known is None else render(known, current())


def actor_meant(text: str) -> str:
    """Return how rows name whom a page calls so, in any language."""
    shown = {
        render(words, language): name for name, words in _ACTORS.items() for language in LANGUAGES
    }
    return shown.get(text.strip(), text)
