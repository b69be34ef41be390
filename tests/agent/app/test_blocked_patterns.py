"""Block lists as archivists keep them work here: all that RE2 can say, in linear time."""

from __future__ import annotations

import json
import re

import pytest

from agent.app.startup.settings_mapping import blocked_by
from shared.errors import SettingError
from tests.fixtures_dir import fixture_folder

BEYOND_RE2 = re.compile(r"\(\?[=!]|\\[1-9]")  # look-around, and what a group matched before


def patterns() -> list[str]:
    found = []
    for path in sorted(fixture_folder("crawler-traps").glob("*.json")):
        content = json.loads(path.read_text())
        if isinstance(content, dict):
            found += content["patterns"]
    return found


def test_what_re2_cannot_say_is_refused_by_name() -> None:
    """Of 941 patterns 22 look around or back; each is refused in words, the others work."""
    known = patterns()
    refused = []
    for pattern in known:
        try:
            blocked_by((pattern,))
        except SettingError as error:
            assert repr(pattern) in str(error)
            refused.append(pattern)
    assert refused == [pattern for pattern in known if BEYOND_RE2.search(pattern)]
    assert (len(known), len(refused)) == (941, 22)


@pytest.mark.timeout(60)
def test_all_together_in_linear_time() -> None:
    """The whole list is one automaton, and no long URL holds it up or overflows it."""
    blocked = blocked_by(tuple(one for one in patterns() if not BEYOND_RE2.search(one)))
    for start in ("http://a.example/", "http://www.reddit.com/r/", "http://x.tumblr.com/"):
        for piece in ("images/x/", "a", "?q=", "%25", "filtertype=1&", "amp;"):
            long = start + piece * (50_000 // len(piece))
            assert blocked(f"{long}/images/images/y/images/")
            blocked(long)
    assert not blocked("http://www.a.example/papers/2026/crawling.html")
