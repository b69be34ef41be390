"""Catalogues of messages: `LANGUAGE/SUBJECT.toml`, read when the first message of it is shown.

A code is `subject.name`: the file, and the line in it. A template is the sentence with parameters
in braces, as `host {host}: not known`. A parameter may name how it is written:

    {time_ms:duration}  a length of time; the name ends in _ms or _s       3 h 20 min
    {until_ms:moment}   a moment in epoch milliseconds, UTC                2026-11-21 06:30 UTC
    {size_bytes:size}   bytes                                              1.4 GB
    {share:percent}     a share of 1                                       3.4%
    {state:word}        a word of a row, from `words.toml`                 went back
    {step:step}         a step of an update                                download
    {names:list}        several values                                     a, b
    {kinds:alternatives} several values, one of which is meant             a or b
    {parts:clauses}     several messages, of which some may be None        a; b
    {count:,}           any other: a format of Python's own                1,234
    {value!r}           quoted, as Python writes it                        'x'

A parameter that is a message is rendered in the same language; None is written as nothing.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

__all__ = [
    "FOLDER",
    "LANGUAGES",
    "SOURCE",
    "Piece",
    "codes",
    "parameters",
    "pieces",
    "read_subject",
    "setting_meaning",
    "subjects",
    "template",
    "word",
]

LANGUAGES: Final = ("en", "ja")
SOURCE: Final = "en"
FOLDER: Final = Path(__file__).parent
CODE: Final = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*")
WORDS: Final = "words"
"""The catalogue of single words, which is not one of messages."""
SETTINGS: Final = "settings"
"""The catalogue of meanings of settings, by `group.name`; English is in their declarations."""


class Piece(NamedTuple):
    """A part of a template: text, then a parameter. name: empty where only text is left."""

    text: str
    name: str
    form: str
    conversion: str


@cache
def read_subject(language: str, subject: str) -> dict[str, str]:
    """Return the templates of a subject by name; empty where there is no such catalogue."""
    import tomllib  # noqa: PLC0415 - most starts of an agent show no message

    path = FOLDER / language / f"{subject}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def subjects(language: str = SOURCE) -> list[str]:
    """Return the subjects that a language has catalogues of."""
    found = (path.stem for path in (FOLDER / language).glob("*.toml"))
    return sorted(name for name in found if name not in (WORDS, SETTINGS))


def codes(language: str = SOURCE) -> list[str]:
    """Return all codes of a language."""
    return [
        f"{subject}.{name}"
        for subject in subjects(language)
        for name in read_subject(language, subject)
    ]


def template(code: str, language: str = SOURCE) -> str | None:
    """Return the template of a code; the English one where the language lacks it; None: unknown."""
    if CODE.fullmatch(code) is None:
        return None
    subject, _, name = code.partition(".")
    found = read_subject(language, subject).get(name)
    return found if found is not None or language == SOURCE else template(code)


def word(text: str, language: str = SOURCE) -> str:
    """Return a word of a row as a language writes it; itself where the catalogue lacks it."""
    return read_subject(language, WORDS).get(text, text)


def setting_meaning(name: str, english: str, language: str = SOURCE) -> str:
    """Return what a setting means. name: as `group.name`; english: as its declaration says it."""
    return read_subject(language, SETTINGS).get(name, english)


@cache
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the parts of a template."""
    from string import Formatter  # noqa: PLC0415 - as above

    return tuple(
        Piece(before, name or "", form or "", conversion or "")
        for before, name, form, conversion in Formatter().parse(text)
    )


def parameters(text: str) -> set[str]:
    """Return the names of a template's parameters."""
    return {piece.name for piece in pieces(text) if piece.name}
