"""A message is kept, sent and shown as what it is, whatever was put into it."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.messages import Message, message_of_row, render, row_of_message
from shared.messages.language import choose, speak, spoken_language
from shared.messages.render import LONGEST, duration_text, size_text

_plain = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="\0"))
_codes = st.sampled_from(("uploads.cpu_limit", "lists.line", "general.known", "nothing.like_it"))
_names = st.sampled_from(("limit", "line", "problem", "known", "other"))


def _messages(values: st.SearchStrategy[object]) -> st.SearchStrategy[Message]:
    return st.builds(
        lambda code, params: Message(code, **params), _codes, st.dictionaries(_names, values)
    )


_values = st.recursive(
    _plain, lambda inner: _messages(inner) | st.lists(inner, max_size=3), max_leaves=5
)


@given(_messages(_values))
def test_a_row_and_a_process_give_back_what_they_were_given(message: Message) -> None:
    """The form in rows, in JSON and in pickles is read as the message that it was made of."""
    assert message_of_row(row_of_message(message)) == message
    assert Message.of_json(message.as_json()) == message
    assert pickle.loads(pickle.dumps(message)) == message


@given(_messages(_values), st.sampled_from(("en", "ja", "xx")))
def test_whatever_it_holds_it_is_shown(message: Message, language: str) -> None:
    """No parameter breaks a page."""
    assert len(render(message, language)) <= LONGEST


@given(st.text())
def test_any_text_of_a_row_is_shown(text: str) -> None:
    """A row of an old version, or a damaged one, is shown as it is."""
    message = message_of_row(text)
    assert (message is None) == (text == "")
    assert isinstance(str(message), str)


@pytest.mark.parametrize(
    "row", ["a.b {", 'a.b {"x":', "a.b [1]", "evens the cost", 'a.b {"x":1} and more']
)
def test_what_is_no_message_stays_a_text(row: str) -> None:
    """Nothing of it is lost."""
    assert str(message_of_row(row)) == row


def test_messages_within_messages_are_followed_a_little_way() -> None:
    """However deep a sender nests them."""
    deep: dict[str, object] = {"code": "general.text", "params": {"text": "x"}}
    for _ in range(500):
        deep = {"code": "lists.line", "params": {"line": 1, "problem": deep}}
    message = Message.of_json(deep)
    assert message is not None
    assert render(message).count("line 1: ") < 10


def test_sentences_are_made_in_both_languages() -> None:
    """Numbers agree with their nouns in English; clauses are joined as the language does."""
    assert str(Message("uploads.body_longer", limit=1)) == (
        "request body is longer: the limit is 1 byte here; send less"
    )
    over = Message("uploads.smaller_parts")
    message = Message("lists.line", line=7, problem=over)
    assert render(message) == "line 7: send it in smaller parts"
    assert render(message, "ja") == "7 行目: 分割して送信してください"


def test_what_is_missing_is_seen() -> None:
    """A parameter that is not there is named; an unknown code is written with what it has."""
    assert str(Message("lists.line", line=1)) == "line 1: {problem}"
    assert str(Message("no.such_code", x=1)) == "no.such_code (x=1)"


def test_lengths_and_sizes() -> None:
    """Two parts of a length, one unit of a size."""
    texts = [duration_text(ms) for ms in (0, 999, 4500, 45_000, 3_600_000, 12_000_000, 9e10)]
    assert texts == ["0 ms", "999 ms", "4.5 s", "45 s", "1 h", "3 h 20 min", "1041 d 16 h"]
    assert duration_text(12_000_000, "ja") == "3 時間 20 分"
    assert [size_text(one) for one in (5, 1400, 2_000_000, 1.4e12)] == [
        "5 bytes", "1.4 KB", "2 MB", "1.4 TB",
    ]  # fmt: skip


def test_the_language_is_one_that_has_a_catalogue() -> None:
    """Another is English."""
    speak("ja")
    assert spoken_language() == "ja"
    speak("xx")
    assert spoken_language() == "en"
    assert choose("", "fr, ja;q=0.5, en;q=0.1") == "ja"
