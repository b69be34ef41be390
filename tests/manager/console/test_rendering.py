"""Marks that templates make of plain text: code in sentences, options in lines for a shell."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from manager.console.figures import moment
from manager.console.language import speak
from manager.console.rendering import render_text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("run `prsm plans` first", "run <code>prsm plans</code> first"),
        ("`a` or `b`", "<code>a</code> or <code>b</code>"),
        ("`<b>` & ``", "<code>&lt;b&gt;</code> &amp; ``"),
        ("one ` alone", "one ` alone"),
        ("a\u202eb", "a⟨U+202E⟩b"),
    ],
)
def test_what_stands_between_backticks_is_code(said: str, shown: str) -> None:
    """Whatever stands there, it is escaped, and what is hidden is visible."""
    assert render_text("{{ said|coded }}", said=said) == shown


def test_an_option_stays_in_one_piece() -> None:
    """Its dashes are where a browser would break a line; what else has dashes is left alone."""
    source = '{% filter commands %}prs-get login {{ url }} --name a-b -o x-y "-z"{% endfilter %}'
    assert render_text(source, url="http://a-b/?x --y<") == (
        'prs-get login http://a-b/?x <span class="option">--y</span>&lt;'
        ' <span class="option">--name</span> a-b <span class="option">-o</span> x-y "-z"'
    )


def test_names_are_broken_behind_dots_and_versions_are_not() -> None:
    """A name may go on in the next line; of a version or an address each number counts."""
    made = render_text("{{ text|dotted }}", text="a.example is at 192.0.2.1 with 1.0.0")
    assert made == "a.<wbr>example is at 192.0.2.1 with 1.0.0"


def test_moments_within_a_text_are_shown_as_all_others() -> None:
    """The script turns them into the viewer's zone; what stands around them is escaped."""
    text = f"<b> expires {moment(1_790_000_000_000)}, 2026-01-01 UTC"
    made = render_text("{{ text|dotted }}", text=text)
    assert made == (
        '&lt;b&gt; expires <time datetime="2026-09-21T14:13:20Z" data-moment'
        ' title="2026-09-21 14:13:20\u00a0UTC">2026-09-21 14:13:20\u00a0UTC</time>, 2026-01-01 UTC'
    )


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("2026-11-26 14:20 UTC", "2026-11-26T14:20:00Z"),
        ("2026-11-26\u00a014:20:05\u00a0UTC", "2026-11-26T14:20:05Z"),
        ("2026/11/26 14:20\u00a0UTC", "2026-11-26T14:20:00Z"),
        ("2026-11-26T14:20Z", "2026-11-26T14:20:00Z"),
    ],
)
def test_each_way_to_write_a_moment_is_marked(said: str, iso: str) -> None:
    """To the minute as well as to the second, as `spoken` sentences, errors and rows have them."""
    made = render_text("<p>{{ text|coded }}</p>", text=f"it sleeps until {said}; then")
    assert f'<time datetime="{iso}" data-moment' in made
    assert made.count("<time") == 1
    form = "" if said.count(":") > 1 else '="minute"'
    assert f"data-moment{form} title" in made


@pytest.mark.parametrize(
    "template",
    [
        '<a title="{{ text }}">x</a>',
        "<option>{{ text }}</option>",
        "<textarea>\n{{ text }}</textarea>",
        "<title>{{ text }}</title>",
        "<pre><code>{{ text }}</code></pre>",
        '<svg><text x="1">{{ text }}</text></svg>',
    ],
)
def test_a_moment_where_no_mark_may_stand_stays(template: str) -> None:
    """Attributes and plain-text elements hold no elements."""
    made = render_text(template, text="2026-11-26 14:20 UTC")
    assert "<time" not in made


def test_japanese_moments_within_a_text_are_shown_as_all_others() -> None:
    """Their dates have slashes, at which a path may be broken and a date not."""

    def say() -> tuple[str, str]:
        speak("ja")
        said = moment(1_790_000_000_000)
        return said, render_text("{{ text|dotted }}", text=f"{said} /a/b")

    said, made = copy_context().run(say)
    assert said == "2026/09/21 14:13:20\u00a0UTC"
    assert made == (
        f'<time datetime="2026-09-21T14:13:20Z" data-moment title="{said}">{said}</time>'
        " /<wbr>a/<wbr>b"
    )
