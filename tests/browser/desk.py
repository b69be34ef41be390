"""Somebody who has logged in, at a desk, and is about to do something."""

from __future__ import annotations

from tests.manager.console.filled import HOSTS, PASSWORD
from tools.browser.driven import DESK, Browser

__all__ = ["NAMES", "sit_down"]

NAMES = {
    "agent": "kyoto.example.ac.jp", "host": f"http://{HOSTS[3]}:80/", "round": "1", "plan": "1",
    "client": "library", "user": "viewer", "coming": "nagoya.example.ac.jp", "joining": "0" * 64,
}  # fmt: skip
"""What the filled manager has, of each kind that `tools.screenshots.pages` asks for."""


def sit_down(browser: Browser, name: str = "admin") -> Browser:
    """Log a person of the filled manager in, and wait for the first page."""
    browser.open(DESK)
    browser.log_in(name, PASSWORD)
    browser.wait_for("h1:has-text('Overview')")
    return browser
