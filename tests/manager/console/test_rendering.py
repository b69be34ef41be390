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
    made = render_text("{{ text|dotted|timed }}", text=text)
    assert made == (
        '&lt;b&gt; expires <time datetime="2026-09-21T14:13:20Z" data-moment'
        ' title="2026-09-21 14:13:20\u00a0UTC">2026-09-21 14:13:20\u00a0UTC</time>, 2026-01-01 UTC'
    )


def test_japanese_moments_within_a_text_are_shown_as_all_others() -> None:
    """Their dates have slashes, at which a path may be broken and a date not."""

    def say() -> tuple[str, str]:
        speak("ja")
        said = moment(1_790_000_000_000)
        return said, render_text("{{ text|dotted|timed }}", text=f"{said} /a/b")

    said, made = copy_context().run(say)
    assert said == "2026/09/21 14:13:20\u00a0UTC"
    assert made == (
        f'<time datetime="2026-09-21T14:13:20Z" data-moment title="{said}">{said}</time>'
        " /<wbr>a/<wbr>b"
    )
