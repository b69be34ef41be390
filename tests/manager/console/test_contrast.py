"""What is filled in, chosen or read stands out from its ground, in light and dark: WCAG 2.2."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from manager import console

CSS: Final = Path(console.__file__).parent / "static/css"
GROUNDS: Final = ("ground", "surface", "sunken", "tblr-bg-forms")
TEXTS: Final = ("ink", "ink-soft", "accent", "good", "busy", "calm", "night", "warn", "bad")


def _colours() -> dict[str, tuple[str, str]]:
    """Return the tokens that are two colours: of light, of dark."""
    tokens = (CSS / "tokens.css").read_text()
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", tokens)
    return {name: (light, dark) for name, light, dark in found}


COLOURS: Final = _colours()


def _luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_edges_of_what_is_filled_in_are_seen(ground: str, theme: int) -> None:
    """A field, a menu and a box that is not chosen have an edge of 3:1 (criterion 1.4.11)."""
    assert _contrast(COLOURS["edge"][theme], COLOURS[ground][theme]) >= 3


def test_fields_menus_and_boxes_have_that_edge() -> None:
    """Each of the three kinds takes the token, and no other rule takes it away."""
    controls = (CSS / "controls.css").read_text()
    for kind in (r"\.form-control, \.form-select", r"\.form-check-input"):
        (rule,) = re.findall(rf"^{kind} {{([^}}]*)}}", controls, re.M)
        assert "border-color: var(--edge)" in rule


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_are_read_on_all_grounds(text: str, theme: int) -> None:
    """Words are 4.5:1 (criterion 1.4.3) wherever they stand."""
    for ground in ("ground", "surface"):
        assert _contrast(COLOURS[text][theme], COLOURS[ground][theme]) >= 4.5, ground
