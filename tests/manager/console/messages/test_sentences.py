"""Messages are sentences in the language of the page; what others wrote stays as they wrote it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

import pytest

from manager.console.language import speak
from manager.console.messages.sentences import actor, actor_meant, sentence_of
from manager.console.rendering import render_text
from shared.messages import Message
from tests.manager.console.conftest import Visitor
from tests.manager.console.english import left_in

T = TypeVar("T")


def _in(language: str, said: Callable[[], T]) -> T:
    def run() -> T:
        speak(language)
        return said()

    return copy_context().run(run)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "size '7': must be one of 25, 50"),
        ("ja", "size '7': 25、50 のいずれかを指定してください"),
    ],
)
def test_a_message_is_a_sentence_of_the_page(language: str, sentence: str) -> None:
    """In the language that the request chose."""
    message = Message("general.unknown_choice", name="size", value="7", known=(25, 50))
    assert _in(language, lambda: sentence_of(message)) == sentence


def test_words_of_rows_within_a_message_are_translated() -> None:
    """A role is a word of a row, and a name is not, though it be spelled as one."""
    message = Message("people.role_too_low", caller="admin", role="viewer", needed="operator")
    assert _in("ja", lambda: sentence_of(message)).startswith("admin の権限は 閲覧者(viewer) です")


def test_a_message_within_a_message_is_of_the_same_language() -> None:
    """However deep it stands."""
    outer = Message("requests.invalid_value", name="x", problem=Message("requests.value_missing"))
    assert _in("en", lambda: sentence_of(outer)) == "x: required"
    assert _in("ja", lambda: sentence_of(outer)) == "x: 必須です"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("nothing", [None, ""])
def test_no_message_is_no_text(language: str, nothing: str | None) -> None:
    """Templates need not ask whether there is one."""
    assert _in(language, lambda: sentence_of(nothing)) == ""


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("text", ["fetched <b>7</b> pages", "{name} and %(what)s", "私の言葉"])
def test_what_others_wrote_stays_as_it_is(language: str, text: str) -> None:
    """As a text or as a message of one, in each language."""
    assert _in(language, lambda: sentence_of(text)) == text
    assert _in(language, lambda: sentence_of(Message.of_text(text))) == text


def test_what_an_agent_wrote_is_escaped_and_visible() -> None:
    """Marks are shown as text, and hidden characters by their code points."""
    message = Message.of_text("<b>\u202elog</b>")
    shown = "&lt;b&gt;⟨U+202E⟩log&lt;/b&gt;"
    assert render_text("{{ said|sentence_of }}", said=message) == shown
    assert render_text("{{ said|sentence_of|coded }}", said=message) == shown
    value = Message("requests.invalid_value", name="<i>", problem=message)
    assert render_text("{{ said|sentence_of }}", said=value) == f"&lt;i&gt;: {shown}"


def test_commands_within_a_sentence_are_code() -> None:
    """The template's `coded` marks what stands between backticks."""
    message = Message("general.see_command", what="x", command="prsm agents")
    shown = render_text("{{ said|sentence_of|coded }}", said=message)
    assert shown == "x; see <code>prsm agents</code>"


@pytest.mark.parametrize(
    ("name", "english", "japanese"),
    [
        ("tick", "the manager", "管理サーバ"),
        ("local", "the command line", "コマンドライン"),
        ("schedule 7", "schedule 7", "予定 7"),
        ("koji", "koji", "koji"),
        ("", "", ""),
        (None, "", ""),
    ],
)
def test_who_did_something_has_a_name(name: str | None, english: str, japanese: str) -> None:
    """Who is no person is named by what it is; a user's name is no word."""
    assert _in("en", lambda: actor(name)) == english
    assert _in("ja", lambda: actor(name)) == japanese


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_name_that_a_page_shows_is_understood(language: str) -> None:
    """So is that of a row, and each name in the other language."""
    names = ("the manager", "管理サーバ ", "tick", "the command line", "koji")
    found = [_in(language, lambda name=name: actor_meant(name)) for name in names]  # type: ignore[misc]
    assert found == ["tick", "tick", "tick", "local", "koji"]


def test_what_others_wrote_is_marked_as_english(person: Visitor) -> None:
    """A Japanese page says of the audit's own words in which language they are."""
    browser = person("admin")
    page = browser.get("/console/audit", accept_language="ja").text
    assert '<span class="second" lang="en">' in page
    assert 'class="path wide" lang="en"' in page
    assert left_in(page) == []
