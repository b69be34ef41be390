"""Rules are kept while there is room, and no site takes the room of others."""

from __future__ import annotations

import tracemalloc

import pytest

from agent.modules.robots.robots_cache import LONG, UNUSED_S, RulesKept
from agent.modules.robots.robots_parser import parse
from agent.modules.robots.robots_rules import Rules


def rules(count: int) -> Rules:
    lines = "".join(f"Disallow: /{number}\n" for number in range(count))
    made = parse(f"User-agent: *\n{lines}".encode(), "PRS")
    assert made.size == count
    return made


def test_of_short_ones_the_longest_unused_go() -> None:
    """By their number of rules as by their number of hosts."""
    kept = RulesKept(hosts=3, short_rules=100, long_rules=1000)
    for name in "abc":
        assert kept.put(name, rules(30), 0.0)
    assert kept.get("a", 1.0)
    assert kept.put("d", rules(1), 2.0)
    assert [name for name in "abcd" if kept.get(name, 3.0)] == ["a", "c", "d"]
    assert kept.put("e", rules(90), 4.0)
    assert [name for name in "abcde" if kept.get(name, 5.0)] == ["d", "e"]


def test_a_long_one_finds_room_or_waits() -> None:
    """Hosts in work do not push one another out; who was not asked for long makes room."""
    size = LONG + 1
    kept = RulesKept(hosts=100, short_rules=1000, long_rules=2 * size)
    assert kept.put("a", rules(size), 0.0)
    assert kept.put("b", rules(size), 0.0)
    assert not kept.put("c", rules(size), 1.0)
    assert kept.get("c", 1.0) is None
    assert kept.put("d", rules(10), 1.0)
    assert kept.get("b", UNUSED_S)
    assert kept.put("c", rules(size), UNUSED_S)
    assert [name for name in "abcd" if kept.get(name, UNUSED_S)] == ["b", "c", "d"]


def test_what_is_learned_anew_counts_once() -> None:
    """A host's new rules take the place of its old ones, long or short."""
    kept = RulesKept(hosts=100, short_rules=1000, long_rules=2 * LONG)
    for now_s in range(5):
        assert kept.put("a", rules(2 * LONG), float(now_s))
        assert kept.put("b", rules(5), float(now_s))
    assert kept.put("a", rules(5), 6.0)
    assert kept.put("c", rules(2 * LONG), 6.0)
    found = kept.get("a", 7.0)
    assert found is not None
    assert found.rules.size == 5


@pytest.mark.parametrize(
    "line",
    [
        "Disallow: /" + "a" * 2500 + "{number}",
        "Disallow: /" + "\U0001f577" * 600 + "{number}",
        "Disallow: /{number}" + "*ab" * 800,
        "Sitemap: http://a.example/" + "a" * 2500 + "{number}",
    ],
)
def test_few_rules_of_many_octets_take_the_room_of_many(line: str) -> None:
    """A site cannot write its rules so that they take more memory than they count for."""
    lines = "\n".join(line.format(number=number) for number in range(150))
    text = f"User-agent: *\n{lines}\n".encode()
    tracemalloc.start()
    made = parse(text, "PRS")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / made.size < 600
    assert made.size > LONG
