"""Which lines of a log are drawn to be fetched again."""

from __future__ import annotations

from manager.assignment.refetch_rules import DrawnPage
from manager.intake.logs.refetch_draw import Draw

MOST = 5


def enter(draw: Draw, rank: int, place: int, status: int | None = 200) -> None:
    draw.enter(rank, "http://a.example:80/", 1, f"http://a.example/{place}", status, 10)


def test_the_lowest_numbers_are_asked_for_and_no_more() -> None:
    """Of ten thousand lines together as of each by itself, without a look at all of them."""
    draw = Draw(MOST)
    ranks: list[int] = []
    for place, rank in draw.chosen(10_000):
        ranks.append(rank)
        enter(draw, rank, place)
    assert ranks == sorted(ranks)
    assert len(ranks) == MOST
    assert [one.rank for one in draw.result()] == ranks
    later: list[int] = []
    for place, rank in draw.chosen(10_000):
        later.append(rank)
        enter(draw, rank, place)
    assert [one.rank for one in draw.result()] == sorted([*ranks, *later])[:MOST]


def test_what_says_nothing_is_passed_over() -> None:
    """A line that cannot be compared gives its place to the next one."""
    draw = Draw(MOST)
    asked = 0
    for place, rank in draw.chosen(1000):
        asked += 1
        enter(draw, rank, place, status=503 if asked <= 3 else 200)
    assert asked == MOST + 3
    assert len(draw.result()) == MOST


def test_nothing_is_drawn_where_nothing_is_wanted() -> None:
    """`0` draws none, whatever comes."""
    draw = Draw(0)
    assert list(draw.chosen(100)) == []
    enter(draw, 1, 1)
    draw.offer("http://a.example:80/", 1, "http://a.example/1", 200, 10)
    assert draw.result() == ()


def test_lines_one_by_one_are_drawn_too() -> None:
    """Those that are read by themselves get their number then."""
    draw = Draw(MOST)
    for place in range(100):
        draw.offer("http://a.example:80/", 1, f"http://a.example/{place}", 200, 10)
    found = draw.result()
    assert len(found) == MOST
    assert all(isinstance(one, DrawnPage) for one in found)
    assert [one.rank for one in found] == sorted(one.rank for one in found)
