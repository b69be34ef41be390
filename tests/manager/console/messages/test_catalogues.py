"""Catalogues are whole, and as what the console says now; people get the language they want."""

from __future__ import annotations

import re
from contextvars import copy_context
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from manager.console import figures, language
from manager.console.language import LANGUAGES, choose
from manager.console.messages.sentences import word
from manager.console.rendering import render_text
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.running import Running
from tools.messages import LOCALE, made

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")
MARK = re.compile(r"</?(\w+)[^>]*>")
LINK = re.compile(r'href="([^"]*)"')


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name)


def _texts(message: Message) -> list[tuple[str, str]]:
    """Return each form of a translation beside the source that it must agree with."""
    if isinstance(message.id, tuple):
        return [(str(message.id[-1]), str(said)) for said in message.string or ()]
    return [(str(message.id), str(message.string))]


def test_every_language_but_the_source_has_a_catalogue() -> None:
    """What the menu offers is there."""
    assert {path.parent.parent.name for path in CATALOGUES} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.parent.name)
def test_nothing_is_left_untranslated(path: Path) -> None:
    """No message is empty or only guessed."""
    catalogue = _read(path)
    assert not [message.id for message in catalogue if message.id and message.fuzzy]
    empty = [
        message.id
        for message in catalogue
        if message.id and not all(said for _, said in _texts(message))
    ]
    assert not empty


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.parent.name)
def test_placeholders_and_marks_agree(path: Path) -> None:
    """A translation has the same values, marks and links as its source, and no quote that would
    end an attribute."""
    for message in _read(path):
        for source, said in _texts(message) if message.id else []:
            assert sorted(PLACEHOLDER.findall(said)) == sorted(PLACEHOLDER.findall(source)), source
            assert sorted(MARK.findall(said)) == sorted(MARK.findall(source)), source
            assert sorted(LINK.findall(said)) == sorted(LINK.findall(source)), source


def test_catalogues_are_as_the_console_is() -> None:
    """`make messages` would change nothing: all is taken out, and compiled as it stands."""
    old = [path.name for path, data in made() if path.read_bytes() != data]
    assert not old, "run `make messages`"


@pytest.mark.parametrize(
    ("chosen", "accepted", "got"),
    [
        ("", "", "en"),
        ("", "ja", "ja"),
        ("", "ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("", "en-GB,en;q=0.9,ja;q=0.8", "en"),
        ("", "de, ja;q=0.3, en;q=0.2", "ja"),
        ("", "fr, *;q=0.1, ja;q=0.05", "en"),
        ("", "ja;q=0, en;q=0.1", "en"),
        ("", "ja;q=much", "en"),
        ("", ",;=,;q=,ja;q=1.0.0," * 500, "en"),
        ("ja", "en", "ja"),
        ("en", "ja", "en"),
        ("xx", "ja", "ja"),
    ],
)
def test_a_person_gets_the_language_they_want(chosen: str, accepted: str, got: str) -> None:
    """What was chosen in the menu counts, else what the browser wants most, else English."""
    assert choose(chosen, accepted) == got


def test_the_language_is_of_the_request(person: Visitor) -> None:
    """One page is Japanese because its browser wants that, the next English; pages say which."""
    browser = person("viewer")
    page = browser.page("/console/agents", accept_language="ja")
    assert page.all("html")[0].attributes["lang"] == "ja"
    assert page.all("h1")[0].text.strip() == "ロボット"
    assert browser.page("/console/agents").all("html")[0].attributes["lang"] == "en"


def test_the_menu_is_kept_for_a_year(person: Visitor) -> None:
    """The choice outlives the session and beats the browser's wish."""
    browser = person("viewer")
    answer = browser.act("/console/agents", "/console/look", {"language": "ja"})
    assert answer.headers["location"] == "/console/agents"
    page = browser.page("/console/agents", accept_language="en")
    assert page.all("html")[0].attributes["lang"] == "ja"
    pressed = [b for b in page.all("button") if b.attributes.get("aria-pressed") == "true"]
    assert "日本語" in [b.text for b in pressed]


def test_the_login_is_in_the_browsers_language(prsm: Running) -> None:
    """Before anybody is known the browser's wish counts, and refusals follow it."""
    browser = Browser(prsm.public, extra={"accept-language": "ja"})
    assert browser.page("/console/login").all("h1")[0].text == "ログイン"
    assert "利用者名またはパスワードが違います" in browser.log_in("viewer", "wrong").text


def test_hostile_values_stay_disarmed_in_sentences() -> None:
    """Values of translated sentences are escaped, and what hides in them is shown."""
    hostile = "<b>\u202egpj</b>"
    for source in (
        '{{ _("Disabled since %(time)s.", time=value) }}',
        "{% trans %}x {{ value }}{% endtrans %}",
        "{% trans num=2 %}{{ num }} {{ value }}{% pluralize %}{{ num }} {{ value }}s{% endtrans %}",
    ):
        text = render_text(source, value=hostile)
        assert "&lt;b&gt;⟨U+202E⟩gpj&lt;/b&gt;" in text, source


def test_hostile_values_stay_disarmed_in_marks() -> None:
    """So are values in marks that are made without a template; a menu shows what was chosen."""
    hostile = '"><b>\u202egpj'
    for source in (
        "{{ choices([value], '') }}",
        "{{ suggestions([value]) }}",
        "{{ host_name('https://' ~ value) }}",
        "{{ outward('http://' ~ value) }}",
        "{{ state(value) }}",
    ):
        text = render_text(source, value=hostile)
        assert "<b>" not in text, source
        assert "&#34;&gt;&lt;b&gt;⟨U+202E⟩gpj" in text, source
    assert render_text("{{ choices(['a', 'b'], 'b') }}") == (
        '<option value="a">a</option><option value="b" selected>b</option>'
    )


def test_numbers_and_times_follow_the_language() -> None:
    """Units of time and the order of a date are the language's."""

    def in_japanese() -> list[str]:
        language.speak("ja")
        said = [figures.duration(3_720_000), figures.ago(0, 120_000), figures.moment(0)]
        return [each.replace("\u00a0", " ") for each in [*said, word("late"), word("a name")]]

    assert copy_context().run(in_japanese) == [
        "1 時間 2 分",
        "2 分前",
        "1970/01/01 00:00:00 UTC",
        "遅延",
        "a name",
    ]
    assert figures.moment(0).startswith("1970-01-01")
