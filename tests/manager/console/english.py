"""What of a page in another language is English still.

Three signs: a text that is an English message of the catalogue whose translation is another; two
English words in a row outside of commands and of what says that it is English (`lang="en"`), which
is how pages show what agents, people and the audit wrote; and a state that is an English word.
"""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

from babel.messages.pofile import read_po

from tools.messages import LOCALE

__all__ = ["left_in"]

SAID = ("title", "aria-label", "placeholder", "alt", "data-label")
QUIET = frozenset({"code", "pre", "kbd", "script", "style"})
VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})
COMMAND = re.compile(r"`[^`]*`|\b(?:prsm|prs|make)(?: [a-z-]+)+")
MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
WORD = re.compile(r"[a-z-]{2,}")
TWO_WORDS = re.compile(r"(?<![\w./:@-])[A-Za-z]{2,} [a-z]{2,}(?![\w./:@-])")


class _Texts(HTMLParser):
    """Collects what is read: texts, and attributes that are spoken or shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.states: list[str] = []
        self.in_state = False

    @property
    def is_quiet(self) -> bool:
        return any(quiet for _, quiet in self.open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        quiet = tag in QUIET or given.get("lang") == "en"
        if not (quiet or self.is_quiet):
            self.texts += [given[name] or "" for name in SAID if name in given]
        if tag not in VOID:
            self.open.append((tag, quiet))
            self.in_state = "state" in (given.get("class") or "").split()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Shapes of drawings hold nothing."""

    def handle_endtag(self, tag: str) -> None:
        self.in_state = False
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.is_quiet:
            (self.states if self.in_state else self.texts).append(data)


def left_in(page: str, language: str = "ja") -> list[str]:
    """Return the texts of a page that are English still, each once."""
    reader = _Texts()
    reader.feed(page)
    reader.close()
    texts = dict.fromkeys(" ".join(text.split()) for text in reader.texts)
    found = [text for text in texts if _is_english(text, language)]
    return found + [text for text in dict.fromkeys(reader.states) if WORD.fullmatch(text)]


def _is_english(text: str, language: str) -> bool:
    plain = COMMAND.sub("", text)
    return text in _untranslated(language) or bool(TWO_WORDS.search(plain) or MONTH.search(plain))


@cache
def _untranslated(language: str) -> frozenset[str]:
    """Return the English of all messages that a language says otherwise."""
    path = LOCALE / language / "LC_MESSAGES" / "console.po"
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language)
    found = set()
    for message in catalogue:
        if message.context == "role":
            continue  # the people of the tests have these names
        sources = message.id if isinstance(message.id, tuple) else (message.id,)
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        found |= {str(source) for source in sources if source and source not in said}
    return frozenset(found)
