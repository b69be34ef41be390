"""Orders and their progress, over restarts and broken files."""

from __future__ import annotations

from pathlib import Path

from agent.collection.orders import (
    NOW,
    PROGRESS,
    Order,
    OrderProgress,
    add_site_order,
    after_failed_try,
    due_orders,
    read_orders,
    read_progress,
    remove_site_order,
    write_orders,
    write_progress,
)
from shared.messages import Message

HOUR_S = 3600.0


def test_orders_of_the_manager_and_of_the_site(tmp_path: Path) -> None:
    """Both are there until the manager names others, or the site's is over."""
    write_orders(tmp_path, [Order("1"), Order("2", "period", from_ms=1, until_ms=2)])
    mine = add_site_order(tmp_path, 5)
    assert [order.id for order in read_orders(tmp_path)] == ["1", "2", "site-5"]
    assert mine.is_ours
    write_orders(tmp_path, [])
    newer = add_site_order(tmp_path, 6)
    remove_site_order(tmp_path, mine.id)
    assert read_orders(tmp_path) == [newer]
    remove_site_order(tmp_path, newer.id)
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
    first = after_failed_try(OrderProgress(), Message.of_text("no line"), 1000, HOUR_S)
    assert (first.state, first.next_try_ms) == ("open", 1000 + 3_600_000)
    write_progress(tmp_path, {"1": first})
    progress = read_progress(tmp_path)
    assert due_orders([order], progress, 2000) == []
    assert due_orders([order], progress, 1000 + 3_600_000) == [order]
    assert due_orders([order], {"1": OrderProgress(next_try_ms=10**15)}, 2000) == [order], (
        "a clock set back"
    )
    second = after_failed_try(first, Message.of_text("no line"), 5_000_000, HOUR_S)
    assert (second.state, second.tries) == ("failed", 2)
    assert due_orders([order], {"1": second}, 5_000_000) == [order]
    assert due_orders([order], {"1": OrderProgress("done", told=True)}, 5_000_000) == []
