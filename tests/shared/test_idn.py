"""Names in Unicode, as people read and type them."""

from __future__ import annotations

import pytest

from shared.idn import folded, narrow, to_unicode


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("xn--wgv71a119e.jp", "日本語.jp"),
        ("http://www.xn--wgv71a119e.jp:80/", "http://www.日本語.jp:80/"),
        ("xn--wgv71a119e.xn--wgv71a.jp", "日本語.日本.jp"),
        ("www.example.jp", "www.example.jp"),
        ("xn--.jp", "xn--.jp"),
        ("xn--99999999999.jp", "xn--99999999999.jp"),
        ("axn--wgv71a119e.jp", "axn--wgv71a119e.jp"),
    ],
)
def test_labels_are_decoded(name: str, readable: str) -> None:
    """A label that is none stays, and so does a label in the middle of another."""
    assert to_unicode(name) == readable


def test_a_label_hides_nothing() -> None:
    """What decodes to signs that end a name, or to no letters, is not shown decoded."""
    for hidden in ("a/b\u00fc", "x\u202ey\u00fc", "a.b\u00fc"):
        label = "xn--" + hidden.encode("punycode").decode()
        assert hidden not in to_unicode(f"{label}.jp")


def test_width_case_and_dots_do_not_matter() -> None:
    """Full width, upper case, and the dots of Japanese keyboards compare as plain ones."""
    assert folded("ＷＷＷ．Example。ＪＰ") == "www.example.jp"
    assert narrow("１２") == "12"
    assert narrow("ストラッセ。jp") == "ストラッセ.jp"
    assert narrow("STRAßE.de") == "STRAßE.de"
