"""Words in the manager's rows (states, kinds, roles), in the language of the page.

The catalogues of words (`shared/messages/LANGUAGE/words.toml`) hold them. A word that is missing
there is shown unchanged: it may be an agent's own.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from manager.console.language import current
from shared.messages import Message, catalogue, render

__all__ = ["run", "step", "unit", "word"]


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
