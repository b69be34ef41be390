"""Text from outside is made fit to be looked at."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console.visible_text import typed, visible

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_nothing_hidden_is_left(text: str) -> None:
    """Whatever comes, no control, format, surrogate or unassigned character goes out."""
    shown = visible(text)
    assert all(each in "\n\t" or unicodedata.category(each) not in HIDDEN for each in shown), ascii(
        shown
    )
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("山田 é", "山田 é"),
        ("a\x00b", "a⟨U+0000⟩b"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("見\u3164\u00a0る", "見⟨U+3164⟩\u00a0る"),
        ("3\u00a0h\u2009\u3000前", "3\u00a0h\u2009\u3000前"),
        ("一\n\u2028", "一\n⟨U+2028⟩"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_hidden_characters_become_code_points(text: str, shown: str) -> None:
    """What nobody can see is named; what everybody can is left as it is."""
    assert visible(text) == shown


def test_what_is_seen_is_left_as_it_is() -> None:
    """Of every character alone: a letter, a sign, a space of any width, a line, a tab."""
    blank = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}
    for number in range(0x110000):
        each = chr(number)
        hidden = unicodedata.category(each) in HIDDEN and each not in "\n\t"
        assert (visible(each) == each) is not (hidden or each in blank), ascii(each)


def test_what_was_typed_stays_typed() -> None:
    """A field shows again what was typed, joiners and all; only NUL and CR cannot be kept."""
    assert typed("a\u200db\r\nc\x00") == "a\u200db\nc\ufffd"
    assert typed("\ud800").encode() == b"?"


def test_a_line_end_of_two_characters_is_no_hidden_character() -> None:
    """Headers end their lines so; a CR alone is shown, because it hides what stands before it."""
    assert visible("HTTP/1.1 200 OK\r\nServer: x\r\n") == "HTTP/1.1 200 OK\nServer: x\n"
    assert visible("a\rb") == "a⟨U+000D⟩b"
