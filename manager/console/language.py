"""The language of a page: which one, and how sentences come into it.

English is the source: a message's id is the English sentence, and a language is a catalogue of
translations. Which language holds is a matter of the request (`speak`), so that neither pages
nor operations hand it on; before any request it is English, as in logs, `/api/v1` and `prsm`.
Values are named: `_("%(name)s is disabled.", name=name)`. A catalogue of ours is believed: that it
lacks nothing and that its placeholders agree is tested, not caught here.
"""

from __future__ import annotations

import gettext as library
from functools import cache
from pathlib import Path
from typing import Any, Final

from shared import messages
from shared.messages.language import choose
from shared.plurals import with_plurals

__all__ = [
    "LANGUAGES",
    "SOURCE",
    "Lazy",
    "Words",
    "_",
    "choose",
    "current",
    "in_all_languages",
    "lazy",
    "ngettext",
    "number",
    "pgettext",
    "plazy",
    "plural",
    "speak",
]

LANGUAGES: Final = {"en": "English", "ja": "日本語"}
"""Each by its name in itself."""

SOURCE: Final = messages.SOURCE
FOLDER: Final = Path(__file__).parent / "locale"
DOMAIN: Final = "console"


class Lazy:
    """A message that is translated when it is shown, for sentences made before any request."""

    __slots__ = ("context", "text")

    def __init__(self, text: str, context: str = "") -> None:
        self.text, self.context = text, context

    def __str__(self) -> str:
        return pgettext(self.context, self.text) if self.context else _(self.text)


Words = str | Lazy


def lazy(text: str) -> Lazy:
    """Return a message for constants of modules."""
    return Lazy(text)


def plazy(context: str, text: str) -> Lazy:
    """Return a word for constants of modules; context as in `pgettext`."""
    return Lazy(text, context)


def speak(language: str) -> None:
    """Set the language of this request (its context); English for unknown ones."""
    messages.speak(language)


def current() -> str:
    """Return the language of this request, as HTML names it."""
    return messages.spoken_language()


@cache
def _catalogue(language: str) -> library.NullTranslations:
    if language == SOURCE:
        return library.NullTranslations()
    return library.translation(DOMAIN, FOLDER, [language])


def _(text: str, **values: Any) -> str:
    """Return a sentence in the language of this request, with its values."""
    said = _catalogue(current()).gettext(text)
    if not values:
        return said
    # Sentences with several numbers have one form in the source.
    return with_plurals(said % values) if current() == SOURCE else said % values


def in_all_languages(words: Words) -> tuple[str, ...]:
    """Return words in each language, in English first."""
    if not isinstance(words, Lazy):
        words = Lazy(words)
    text, context = words.text, words.context
    found = [_catalogue(language) for language in LANGUAGES]
    return tuple(one.pgettext(context, text) if context else one.gettext(text) for one in found)


def pgettext(context: str, text: str) -> str:
    """Return a word that means different things in different places; context says which."""
    return _catalogue(current()).pgettext(context, text)


def ngettext(one: str, many: str, num: int, **values: Any) -> str:
    """Return a sentence about so many; `%(num)s` is the number in groups of three digits."""
    return plural(one, many, num) % {"num": number(num), **values}


def plural(one: str, many: str, num: int) -> str:
    """Return the form of a sentence for so many, its values not filled in."""
    return _catalogue(current()).ngettext(one, many, num)


def number(value: float, digits: int = 0) -> str:
    """Return a number with so many digits behind the point, as the language writes it."""
    plain = f"{value:,.{digits}f}"
    group, point = pgettext("sign between thousands", ","), pgettext("decimal point", ".")
    if (group, point) == (",", "."):
        return plain
    return plain.replace(",", "\0").replace(".", point).replace("\0", group)
