"""Templates say nothing but through the catalogue: no bare text, in marks or in expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import manager.console as package

TEMPLATES = Path(package.__file__).parent / "templates"
SPOKEN = frozenset({"alt", "aria-label", "data-label", "label", "placeholder", "title"})
QUIET = frozenset({"code", "pre", "kbd"})
"""What people type is the same in every language."""

NAMES = frozenset(
    (
        *("PRSM", "CSV", "JSON", "KB", "UTC", "SHA", "SHA-256", "TOKEN", "SVG", "PNG", "ms"),
        # The source's two quantities, as its formulas have them.
        *("Give", "Move", "Give(A,B)", "Give(B,A)", "Move(A,B)"),
    )
)
EXAMPLE = re.compile(r"[\d*:./ -]+|\S+[.@]\S+\.\S+|\S+@\S+|[a-z]+|ms/KB")
"""Of placeholders: a crontab, hours, an address, one word that is to be typed as it is."""

WORDS = re.compile(r"[^\W\d_]{2,}")
GETTEXT = frozenset({"_", "gettext", "ngettext", "pgettext"})
SENTENCE = re.compile(r"[A-Z][a-z]+|[a-z]{2,} [a-z]{2,}")


class _Bare(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.quiet = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.quiet += tag in QUIET
        for name, value in attrs:
            example = name == "placeholder" and EXAMPLE.fullmatch(value or "")
            if name in SPOKEN and value and not example:
                self._look(value)

    def handle_endtag(self, tag: str) -> None:
        self.quiet -= tag in QUIET

    def handle_data(self, data: str) -> None:
        if not self.quiet:
            self._look(data)

    def _look(self, text: str) -> None:
        if [word for word in WORDS.findall(text) if word not in NAMES]:
            self.found.append(" ".join(text.split()))


def bare_marks(source: str) -> list[str]:
    """Return the texts and spoken attributes of a template that stand outside gettext."""
    marks: list[str] = []
    translated = block = False
    for _line, kind, value in Environment(extensions=["jinja2.ext.i18n"]).lex(source):
        if kind == "block_begin":
            block = True
        elif kind == "block_end":
            block = False
        elif block and kind == "name" and value in ("trans", "endtrans"):
            translated = value == "trans"
        elif kind == "data" and not translated:
            marks.append(value)
        elif kind == "variable_begin":
            marks.append("\x00")
    reader = _Bare()
    reader.feed("".join(marks))
    reader.close()
    return reader.found


def bare_constants(source: str) -> Iterator[str]:
    """Yield the strings of a template's expressions that look like sentences, outside gettext."""
    tree = Environment(extensions=["jinja2.ext.i18n"]).parse(source)
    inside = {
        id(each)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in GETTEXT
        for each in call.find_all(nodes.Const)
    }
    for each in tree.find_all(nodes.Const):
        text = each.value
        if not isinstance(text, str) or id(each) in inside or text in NAMES:
            continue
        if SENTENCE.search(text) and "/" not in text and not text.startswith("btn"):
            yield text


SAID = sorted(TEMPLATES.glob("*.html"))


@pytest.mark.parametrize("path", SAID, ids=lambda path: path.stem)
def test_a_template_has_no_bare_text(path: Path) -> None:
    """Every text, label, tip and placeholder of a template goes through gettext."""
    source = path.read_text()
    assert bare_marks(source) == []
    assert list(bare_constants(source)) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Hello there</p>", ["Hello there"]),
        ('<p>{{ _("Hello there") }} {{ name }}</p>', []),
        ("<p>{% trans %}Hello there{% endtrans %} and you</p>", ["and you"]),
        ('<a title="A tip" href="/console/">{{ x }}</a>', ["A tip"]),
        ('<input placeholder="0 3 * * *"><input placeholder="part of it">', ["part of it"]),
        ("<p><code>prs run</code> · {{ x }} UTC</p>", []),
    ],
)
def test_bare_texts_are_found(source: str, found: list[str]) -> None:
    """The test above would find what it is there for."""
    assert bare_marks(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('{{ parts.head(listing, "name", "Agent") }}', ["Agent"]),
        ('{{ parts.head(listing, "name", _("Agent")) }}', []),
        (
            '{{ parts.act("/console/x", "give it up", {}, "btn-primary", "player-play") }}',
            ["give it up"],
        ),
    ],
)
def test_bare_constants_are_found(source: str, found: list[str]) -> None:
    """The same for the strings of expressions."""
    assert list(bare_constants(source)) == found


def test_what_scrolls_to_the_side_can_be_reached_by_keyboard() -> None:
    """A box around a table that does not become cards on a telephone."""
    box = re.compile(r"""<div class="table-box[^"]*"(?P<rest>[^>]*)>(?P<inside>.{0,60})""", re.S)
    found = [
        (path.name, one["rest"], one["inside"])
        for path in sorted(TEMPLATES.glob("*.html"))
        for one in box.finditer(path.read_text())
    ]
    assert len(found) > 4
    assert [
        name
        for name, rest, inside in found
        if " cards" not in inside and not ('tabindex="0"' in rest and "aria-label" in rest)
    ] == []
