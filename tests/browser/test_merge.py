"""What `static/js/merge.js` makes of a page, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.manager_process import ManagerProcess
from tools.browser.driven import DESK, Browser

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def page(filled: ManagerProcess) -> Iterator[Browser]:
    """Show the page of the login, which has the script as all pages have it."""
    with Browser(filled.url) as browser:
        browser.open(DESK)
        browser.go("/console/login")
        yield browser
        assert browser.found() == []


def _merged(
    browser: Browser, old: str, fresh: str, before: str = "", after: str = "true"
) -> tuple[bool, str, Any]:
    """Merge HTML into HTML on a page; before and after are JavaScript with `part` in hand."""
    same, became, said = browser.script(
        f"""(() => {{
          const part = document.createElement("div");
          part.innerHTML = {json.dumps(old)};
          document.querySelector("main").append(part);
          {before};
          const fresh = document.createElement("div");
          fresh.innerHTML = {json.dumps(fresh)};
          const wanted = fresh.innerHTML;
          merge(part, fresh);
          const said = [part.innerHTML === wanted, part.innerHTML, {after}];
          part.remove();
          return said;
        }})()"""
    )
    return same, became, said


ROWS = "<table><tbody>{}</tbody></table>"


def _rows(*names: str) -> str:
    return ROWS.format(
        "".join(
            f'<tr><th><a href="/{n}">{n}</a></th><td>{i}</td></tr>' for i, n in enumerate(names)
        )
    )


@pytest.mark.parametrize(
    ("old", "fresh"),
    [
        (_rows("a", "b", "c"), _rows("c", "a", "d", "b")),
        (_rows("a"), "<p>none</p>"),
        ("<p>none</p>", _rows("a", "b")),
        ("<p class=x>1</p> <ul><li>a</li></ul>", "<p class=y>2</p><ul><li>b</li><li>a</li></ul>"),
        ("<section><h2>Ten 10</h2>x</section>", "<p>n</p><section><h2>Ten 11</h2>y</section>"),
        ("<svg><rect width='1'/></svg>", "<svg><rect width='2'/><text>a</text></svg>"),
        ("text <b>bold</b> tail", "<i>x</i> other text <b>bold</b>"),
        ("<input value=a>", "<input value=b>"),
        ("", "<details><summary>s</summary>t</details>"),
    ],
)  # fmt: skip
def test_the_page_becomes_what_was_sent(page: Browser, old: str, fresh: str) -> None:
    """Where nobody does anything the merged part is the new one, to the letter."""
    same, became, _ = _merged(page, old, fresh)
    assert same, became


def test_rows_move_and_stay_the_same_rows(page: Browser) -> None:
    """A row goes on being the row of its agent, and who stands on its link stays there."""
    _, _, after = _merged(
        page, _rows("a", "b", "c"), _rows("n", "c", "b", "a"),
        "const row = part.querySelector('tr:nth-child(2)'); row.querySelector('a').focus()",
        "[row.querySelector('a').textContent, row.rowIndex, document.activeElement.textContent]",
    )  # fmt: skip
    assert after == ["b", 2, "b"]


def _items(*texts: str) -> str:
    return "<ul>{}</ul>".format("".join(f"<li><b>!</b> {text}</li>" for text in texts))


def test_an_item_goes_on_when_a_time_in_it_passes(page: Browser) -> None:
    """It is the same item, and so is one whose words did not change; a new one is put between."""
    _, became, after = _merged(
        page,
        _items("late for 59 s", "full"),
        _items("new", "late for 1 min", "full"),
        "const [late, full] = part.querySelectorAll('li')",
        "[late.isConnected, full.isConnected, full.textContent,"
        " part.querySelectorAll('li').length]",
    )
    assert after == [True, True, "! full", 3], became
    same, became, after = _merged(
        page,
        _items("late for 59 s"),
        _items("late for 1 min"),
        "const all = [...part.querySelectorAll('*')]",
        "all.filter(one => !one.isConnected).length",
    )
    assert (same, after) == (True, 0), became


FORM = "<form><input value=1><textarea>x</textarea><select><option>p<option>q</select></form>"
HELD = "JSON.stringify([part.querySelector('input').value, part.querySelector('textarea').value,"
HELD += "part.querySelector('select').selectedIndex])"


@pytest.mark.parametrize(
    "deed",
    [
        "part.querySelector('input').value = 'typed'",
        "part.querySelector('textarea').value = 'typed'",
        "part.querySelector('select').selectedIndex = 1",
        "part.querySelector('input').focus()",
    ],
)
def test_what_is_typed_is_not_touched(page: Browser, deed: str) -> None:
    """A form that somebody is at stays as it is, even where the new page has it no more."""
    was = f"{deed}; const was = {HELD}"
    for fresh in (FORM.replace("=1", "=2").replace(">x<", ">y<"), "<p>gone</p>"):
        _, became, after = _merged(page, FORM, fresh, was, f"was === {HELD}")
        assert after, became


def test_selected_text_and_what_is_open_stay(page: Browser) -> None:
    """Selected text is still selected; what was folded open is open; places of scrolling stay."""
    _, became, after = _merged(
        page,
        "<p id=a>some words</p><details id=d><summary>s</summary>1</details>"
        "<div id=s><p>1<p>2<p>3<p>4</div>",
        "<p id=a>others</p><p id=b>new</p><details id=d><summary>s</summary>2</details>"
        "<div id=s><p>1<p>2<p>3<p>5</div>",
        "const sheet = new CSSStyleSheet();"
        "sheet.replaceSync('#s { height: 20px; overflow: auto }');"
        "document.adoptedStyleSheets = [sheet];"
        "part.querySelector('details').open = true; part.querySelector('#s').scrollTop = 30;"
        "getSelection().selectAllChildren(part.querySelector('#a'))",
        "[getSelection().toString(), part.querySelector('details').open,"
        " part.querySelector('#s').scrollTop, part.querySelector('#b').textContent]",
    )  # fmt: skip
    assert after == ["some words", True, 30, "new"], became
