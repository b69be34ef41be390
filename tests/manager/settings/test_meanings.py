"""Each setting is explained in each language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from manager.settings import Settings, setting_lines
from shared.messages import LANGUAGES, SOURCE
from shared.messages.catalogue import SETTINGS, read_subject, setting_meaning, subjects

LINES: Final = setting_lines(Settings(data=Path("/")))
KANA: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@pytest.mark.parametrize("language", set(LANGUAGES) - {SOURCE})
def test_each_setting_has_a_meaning(language: str) -> None:
    """None lacks one, and none is left of a setting that was removed."""
    assert list(read_subject(language, SETTINGS)) == [line.name for line in LINES]


def test_english_meanings_stand_in_the_declarations() -> None:
    """They are in the documented file, too, and no catalogue has them a second time."""
    assert read_subject(SOURCE, SETTINGS) == {}
    assert all(setting_meaning(line.name, line.reason) == line.reason for line in LINES)
    assert SETTINGS not in {subject for language in LANGUAGES for subject in subjects(language)}


def test_meanings_are_translated() -> None:
    """Commands and names of settings in it stay."""
    wrong = []
    for line in LINES:
        meaning = setting_meaning(line.name, line.reason, "ja")
        quoted = re.findall(r"`[^`]+`|\b[a-z]+\.[a-z_]+_[a-z_]+\b", line.reason)
        if not KANA.search(meaning) or any(one not in meaning for one in quoted):
            wrong.append(line.name)
    assert wrong == []
