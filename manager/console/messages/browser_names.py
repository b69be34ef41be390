"""Short names of browsers and systems, read from what a browser calls itself (User-Agent)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["browser_name"]

# The more particular come first: all of them claim to be others.
_PROGRAMS: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("Edge", r"Edg(?:e|A|iOS)?/(\d+)"),
        ("Opera", r"OPR/(\d+)"),
        ("Samsung Internet", r"SamsungBrowser/(\d+)"),
        ("Vivaldi", r"Vivaldi/(\d+)"),
        ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"),
        ("Chrome", r"(?:Chrome|CriOS|HeadlessChrome)/(\d+)"),
        ("Safari", r"Version/(\d+)[^ ]* (?:Mobile/[^ ]+ )?Safari/"),
    )
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_OTHER: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,30}(?:/[0-9.]{1,12})?")


def browser_name(user_agent: str) -> str:
    """Return as `Firefox 142, Linux` what browser it was; of a program its own first word."""
    for name, pattern in _PROGRAMS:
        match = pattern.search(user_agent)
        if match is not None:
            system = next((word for mark, word in _SYSTEMS if mark in user_agent), "")
            return f"{name} {match[1]}, {system}" if system else f"{name} {match[1]}"
    first = _OTHER.match(user_agent)
    return first[0] if first else user_agent[:30]
