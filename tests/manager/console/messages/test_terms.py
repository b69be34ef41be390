"""One thing has one name in Japanese: the words of ADR 123, held against the catalogue."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from babel.messages.pofile import read_po

from shared.messages import codes, template
from shared.messages.catalogue import WORDS, read_subject
from tools.messages import LOCALE

ADR: Final = (
    Path(__file__).resolve().parents[4] / "docs/adr/0123-english-is-the-source-of-every-sentence.md"
)
CATALOGUE: Final = LOCALE / "ja" / "LC_MESSAGES" / "console.po"


class Row(NamedTuple):
    """What a thing is called. english: how its words begin, japanese: its names, wrong: no name."""

    english: tuple[str, ...]
    japanese: tuple[str, ...]
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        """Return the name that a test of this row has."""
        return self.english[0]

    def concerns(self, sentence: str) -> bool:
        """Return whether an English sentence speaks of this."""
        return any(re.search(rf"\b{re.escape(each)}", sentence, re.I) for each in self.english)

    def misnamed(self, sentence: str, said: str) -> list[str]:
        """Return the wrong words of a translation; one may be a part of the right name."""
        if not self.concerns(sentence):
            return []
        return [each for each in self.wrong if each in self._without_names(said, each)]

    def _without_names(self, said: str, part: str) -> str:
        for name in self.japanese:
            said = said.replace(name, " ") if part in name else said
        return said


def _words(cell: str) -> tuple[str, ...]:
    """Return the words of a cell, without what stands in brackets and the `to` of a verb."""
    plain = re.sub(r"\([^)]*\)", "", cell)
    return tuple(each.strip().removeprefix("to ") for each in plain.split(",") if each.strip())


def _glossary() -> list[Row]:
    lines = ADR.read_text().partition("\n## Words\n")[2].splitlines()
    cells = [line.split("|")[1:4] for line in lines if line.startswith("|")]
    return [Row(*map(_words, each)) for each in cells[2:]]


@cache
def _sentences() -> list[tuple[str, str]]:
    """Return each English sentence, its singular and plural in one, with its translation."""
    with CATALOGUE.open("rb") as file:
        catalogue = read_po(file, locale="ja")
    found = []
    for message in catalogue:
        forms = [message.id] if isinstance(message.id, str) else list(message.id)
        said = [message.string] if isinstance(message.string, str) else list(message.string or ())
        found.append((" ".join(forms), " ".join(said)))
    found += [(template(code) or "", template(code, "ja") or "") for code in codes()]
    english, japanese = (read_subject(language, WORDS) for language in ("en", "ja"))
    found += [(english[word], japanese[word]) for word in english]
    return [each for each in found if each[0]]


GLOSSARY: Final = _glossary()


@pytest.mark.parametrize("row", [row for row in GLOSSARY if row.wrong], ids=str)
def test_no_sentence_uses_another_word(row: Row) -> None:
    """Whoever learned a word on one page finds the thing by it on the next."""
    wrong = [
        f"{english!r}: {word} in {said!r}"
        for english, said in _sentences()
        for word in row.misnamed(english, said)
    ]
    assert not wrong, f"say {' or '.join(row.japanese)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("row", GLOSSARY, ids=str)
def test_every_word_of_the_glossary_is_said(row: Row) -> None:
    """A name that no sentence about the thing uses would be nobody's."""
    about = [said for english, said in _sentences() if row.concerns(english)]
    assert not [word for word in row.japanese if not any(word in said for said in about)]


def test_a_wrong_word_is_found_only_where_it_is_wrong() -> None:
    """A page of a list is a page; a capture is none."""
    row = Row(("capture",), ("キャプチャ",), ("ページ",))
    assert row.misnamed("%(number)s Captures", "%(number)s ページ") == ["ページ"]
    assert not row.misnamed("%(number)s pages", "%(number)s ページ")
    tree = Row(("tree",), ("全域木",), ("木",))
    assert tree.misnamed("the tree and the whole tree", "全域木と木") == ["木"]
    assert not tree.misnamed("the whole tree", "全域木")
    assert len([row for row in GLOSSARY if row.wrong]) > 20
