"""Sentences of messages and words of rows in the language of the page, and the names of actors.

Text of an agent, a site or a person is no message of ours and stays unchanged; templates escape it
and make its hidden characters visible, as any text. The catalogues of words
(`shared/messages/LANGUAGE/words.toml`) hold states, kinds and roles; a word that is missing there
is shown unchanged: it may be an agent's own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from manager.console.language import current
from shared.messages import LANGUAGES, Message, catalogue, render

__all__ = ["actor", "actor_meant", "run", "sentence_of", "step", "unit", "word"]

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


def word(text: str) -> str:
    """Return a word of a row in the language of this request."""
    return catalogue.word(text, current())


def step(text: str) -> str:
    """Return a step of an update, as launchers name them, in the language of this request."""
    return word("step_sync" if text == "sync" else text)


def unit(text: str) -> str:
    """Return the unit of a setting in the language of this request."""
    key = f"unit_{text}"
    found = word(key)
    return text if found == key else found


def run(at_ms: int, zone: str) -> str:
    """Return the moment of a schedule's run by a clock in its zone, which is not the viewer's."""
    local = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone))
    moment = Message(
        "console.run",
        weekday=f"weekday_{local.isoweekday()}",
        day=local.day,
        month=f"month_{local.month}",
        year=local.year,
        time=f"{local:%H:%M}",
        zone=local.tzname(),
    )
    return render(moment, current())
