"""Orders and their progress, over restarts and broken files."""

from __future__ import annotations

from pathlib import Path

from agent.collection.orders import (
    NOW,
    PROGRESS,
    Order,
    Progress,
    ask_now,
    due,
    failed,
    forget_now,
    keep_orders,
    keep_progress,
    read_orders,
    read_progress,
)

HOUR_S = 3600.0


def test_orders_of_the_manager_and_of_the_site(tmp_path: Path) -> None:
    """Both are there until the manager names others, or the site's is over."""
    keep_orders(tmp_path, [Order("1"), Order("2", "period", from_ms=1, until_ms=2)])
    mine = ask_now(tmp_path, 5)
    assert [order.id for order in read_orders(tmp_path)] == ["1", "2", "site-5"]
    assert mine.is_ours
    keep_orders(tmp_path, [])
    newer = ask_now(tmp_path, 6)
    forget_now(tmp_path, mine.id)
    assert read_orders(tmp_path) == [newer]
    forget_now(tmp_path, newer.id)
    assert not (tmp_path / NOW).exists()


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    """A file of another version, or half of one, asks for nothing and stops nothing."""
    for text in ("", "{", "[1, {}]", '[{"id": "1", "more": 2}]', "null"):
        (tmp_path / "orders.json").write_text(text)
        (tmp_path / PROGRESS).write_text(text)
        assert read_orders(tmp_path) == []
        assert read_progress(tmp_path) == {}


def test_a_try_comes_again_once(tmp_path: Path) -> None:
    """An hour later; the second failure ends the order; what was not told is still to be told."""
    order = Order("1")
    first = failed(Progress(), "no line", 1000, HOUR_S)
    assert (first.state, first.next_try_ms) == ("open", 1000 + 3_600_000)
    keep_progress(tmp_path, {"1": first})
    progress = read_progress(tmp_path)
    assert due([order], progress, 2000) == []
    assert due([order], progress, 1000 + 3_600_000) == [order]
    assert due([order], {"1": Progress(next_try_ms=10**15)}, 2000) == [order], "a clock set back"
    second = failed(first, "no line", 5_000_000, HOUR_S)
    assert (second.state, second.tries) == ("failed", 2)
    assert due([order], {"1": second}, 5_000_000) == [order]
    assert due([order], {"1": Progress("done", told=True)}, 5_000_000) == []
