"""Kinds of values: how a column shows them on a page and writes them into files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from manager.console import figures
from manager.console.messages.sentences import actor, sentence_of, word
from manager.console.rendering import ago, dotted, host_name, marks, moment, state
from manager.console.tables.files import Cell, moment_cell
from manager.console.visible_text import visible
from shared.frozen import frozen

__all__ = [
    "ACTIONS",
    "ACTOR",
    "AGENT",
    "AGO",
    "BYTES",
    "DRAWN",
    "DURATION",
    "FIGURE",
    "FLAG",
    "HOST",
    "ID",
    "KBYTES",
    "MOMENT",
    "NUMBER",
    "PATH",
    "SENTENCE",
    "STATE",
    "TEXT",
    "WORD",
    "Kind",
]


@frozen
class Kind:
    """A kind of values. name: in the reference. shown: a known value as a page shows it, at a time.

    unit: behind a heading in CSV. style: the class of its cells; head: that of its heading.
    file: a value as files have it. is_mute: headings are for screen readers only.
    """

    name: str
    shown: Callable[[Any, int], object]
    unit: str = ""
    style: str = ""
    head: str = ""
    file: Callable[[Any], Cell] = lambda value: value
    is_mute: bool = False
    never: bool = False
    """Whether an unknown value is shown, too: it means that something never happened."""

    def cell(self, value: object, now_ms: int) -> object:
        """Return a value as a page shows it; an en dash where it is unknown."""
        return figures.NOTHING if value is None and not self.never else self.shown(value, now_ms)


def _numbers(name: str, shown: Callable[[Any], str], unit: str = "") -> Kind:
    return Kind(name, lambda value, _: shown(value), unit, "num", "num")


def _link(page: str, name: str, value: str, text: Markup | str) -> Markup:
    shown = text if isinstance(text, Markup) else visible(text)
    return marks('<a href="/console/%s?%s=%s">%s</a>', page, name, quote(value), shown)


def _agent(name: str, _: int) -> Markup | str:
    return _link("agent", "name", name, name) if name else figures.NOTHING


def _host(key: str, _: int) -> Markup | str:
    return _link("host", "host", key, host_name(key)) if key else figures.NOTHING


TEXT: Final = Kind("text", lambda value, _: value)
PATH: Final = Kind("text", lambda value, _: dotted(value), style="path")
ID: Final = Kind("number", lambda value, _: value)
"""A number that names something: without groups of digits."""

WORD: Final = Kind("word", lambda value, _: word(value))
STATE: Final = Kind("word", lambda value, _: state(value))
SENTENCE: Final = Kind("sentence", lambda value, _: sentence_of(value))
FLAG: Final = Kind("yes or no", lambda value, _: word("yes" if value else "no"))
ACTOR: Final = Kind("name", lambda value, _: actor(value))
AGENT: Final = Kind("name of an agent", _agent)
HOST: Final = Kind("host", _host, style="key")
NUMBER: Final = _numbers("number", figures.count)
FIGURE: Final = _numbers("number", figures.figure)
BYTES: Final = _numbers("bytes", figures.amount, " (bytes)")
KBYTES: Final = _numbers("KB (1,000 bytes)", figures.kbytes, " (KB)")
DURATION: Final = _numbers("milliseconds", figures.duration, " (ms)")
MOMENT: Final = Kind("moment", lambda at, _: moment(at), " (UTC)", file=moment_cell)
AGO: Final = Kind("moment", ago, " (UTC)", file=moment_cell, never=True)
ACTIONS: Final = Kind("buttons", lambda value, _: value, is_mute=True)
DRAWN: Final = Kind(
    "drawing", lambda value, _: value, style="bars-column", head="bars-column", is_mute=True
)
"""Both are on pages only."""
