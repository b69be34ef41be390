"""Somebody who has logged in, at a desk, and is about to do something."""

from __future__ import annotations

from tests.manager.console.filled import PASSWORD
from tools.browser.driven import DESK, Browser

__all__ = ["sit_down"]


def sit_down(browser: Browser, name: str = "admin") -> Browser:
    """Log a person of the filled manager in, and wait for the first page."""
    browser.open(DESK)
    browser.log_in(name, PASSWORD)
    browser.wait_for("h1:has-text('Overview')")
    return browser
