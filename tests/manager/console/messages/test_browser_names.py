"""Browsers by their short names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console.messages.browser_names import browser_name

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
         "Firefox 142, Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36",
         "Chrome 140, Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36 Edg/140.0.1",
         "Edge 140, Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME} Mobile Safari/537.36",
         "Chrome 140, Android"),
        (("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML) "
         "Version/18.5 Safari/605.1.15"), "Safari 18, macOS"),
        (("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML) "
         "Version/18.5 Mobile/15E148 Safari/604.1"), "Safari 18, iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("python-httpx/0.28.1", "python-httpx/0.28.1"),
        ("Mozilla/5.0", "Mozilla/5.0"),
        ("", ""),
        ("???", "???"),
    ],
)  # fmt: skip
def test_a_browser_has_a_name(said: str, name: str) -> None:
    """Each claims to be others; its own name is the more particular."""
    assert browser_name(said) == name


@given(st.text(max_size=200))
def test_any_text_is_named_shortly(said: str) -> None:
    """Whatever somebody sends."""
    assert len(browser_name(said)) <= 60
