"""Rules that are not in memory: what is put is found, and no failure does harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.adapters.rules_file import RulesFile
from agent.modules.robots.robots_cache import RulesKept
from agent.modules.robots.robots_parser import parse
from agent.modules.robots.robots_rules import packed, unpacked

TEXTS = (
    b"",
    b"User-agent: *\nDisallow: /\nSitemap: http://a.example/s.xml\nCrawl-delay: 2.5\n",
    b"User-agent: PRS\nAllow: /a/*/b$\nDisallow: /a/\nDisallow: /*?x=\nAllow: /\xe3\x81\x82\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_rules_are_the_same_after_packing(text: bytes) -> None:
    """Each verdict with its line, the delay, the sitemaps, and which jobs know them."""
    rules = parse(text, "PRS")
    again, told = unpacked(packed(rules, {3, 5}))
    assert again == rules
    assert told == {3, 5}


def test_of_more_hosts_the_rules_are_read_from_the_disk(tmp_path: Path) -> None:
    """None is forgotten, nor who knows of the sitemaps; new rules take the place of old ones."""
    file = RulesFile(tmp_path)
    kept = RulesKept(3, 1000, 1000, file)
    for number in range(50):
        assert kept.put(f"h{number}", parse(b"User-agent: *\nDisallow: /%d/\n" % number, "PRS"), 0)
    for _ in range(2):
        for number in range(50):
            found = kept.get(f"h{number}", 1.0)
            assert found is not None
            assert found.rules.allowed(f"/{number}/x").rule == f"Disallow: /{number}/"
            assert found.told == ({number} if _ else set())
            found.told.add(number)
    assert kept.put("h7", parse(b"", "PRS"), 2.0)
    for number in range(50):
        kept.get(f"h{number}", 3.0)
    found = kept.get("h7", 4.0)
    assert found is not None
    assert found.rules.allowed("/7/x").allowed
    file.close()
    assert kept.get("h1", 5.0) is None, "it is fetched again"


def test_a_process_begins_without_any(tmp_path: Path) -> None:
    """Rules hold for a day, and the file does not say since when."""
    first = RulesFile(tmp_path)
    first.put("a", b"x")
    assert first.get("a") == b"x"
    first.drop("a")
    assert first.get("a") is None
    first.put("a", b"x")
    first.close()
    first.put("a", b"y")  # no harm
    assert RulesFile(tmp_path).get("a") is None


def test_a_full_disk_does_no_harm(tmp_path: Path) -> None:
    """What cannot be written is not there, and rules are fetched again."""
    file = RulesFile(tmp_path)
    file._run("PRAGMA max_page_count = 3")
    for number in range(200):
        file.put(f"h{number}", bytes(2000))
    assert file.get("h199") is None
