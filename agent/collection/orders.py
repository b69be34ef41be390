"""Orders to send, and how far each is: two small files in the folder `collection`.

`orders.json` is written by who hears the manager (`agent.app`), `progress.json` by who carries
orders out. So neither waits for the other, and a process that is killed leaves both whole.
An order of the site itself (`prs collect now`) is one whose id begins with `site-`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from agent.settings.home import write_whole
from shared.frozen import frozen
from shared.messages import Message
from shared.messages.received import sent_message
from shared.wire.sync import CollectionOrder

__all__ = [
    "Order", "OrderProgress", "add_site_order", "after_failed_try", "due_orders",
    "order_from_wire", "read_orders", "read_progress", "remove_site_order", "with_result",
    "write_orders", "write_progress",
]  # fmt: skip

ORDERS: Final = "orders.json"
PROGRESS: Final = "progress.json"
NOW: Final = "now.json"
RESULT_CHARS: Final = 900
TRIES: Final = 2  # the second one an hour after the first; then the next order. The source


@frozen
class Order:
    """An order to send; `shared.wire.sync.CollectionOrder` defines the fields."""

    id: str
    condition: str = "difference"
    way: str = "push"
    from_ms: int | None = None
    until_ms: int | None = None

    @property
    def is_ours(self) -> bool:
        """Return whether the site asked for it: then no report follows."""
        return self.id.startswith("site-")


@frozen
class OrderProgress:
    """Progress of an order.

    state: open, done or failed. told: the manager knows the state. result: in English. message: the
    same by its code, as JSON, where managers read it.
    """

    state: str = "open"
    tries: int = 0
    next_try_ms: int = 0
    segments: int = 0
    sent_bytes: int = 0
    result: str = ""
    message: dict[str, Any] | None = None
    told: bool = False

    @property
    def is_over(self) -> bool:
        """Return whether nothing is left to do but to tell of it."""
        return self.state != "open"


def order_from_wire(asked: CollectionOrder) -> Order:
    """Return an order of the manager in the form that is kept here."""
    return Order(str(asked.id), asked.condition, asked.way, asked.from_ms, asked.until_ms)


def write_orders(folder: Path, orders: Iterable[Order]) -> None:
    """Keep what the manager asks for now. Raises DiskFullError."""
    _write(folder / ORDERS, [asdict(order) for order in orders])


def read_orders(folder: Path) -> list[Order]:
    """Return what is asked for, by the manager and by the site; what cannot be read is nothing."""
    found = []
    for name in (ORDERS, NOW):
        for values in _read(folder / name, list):
            try:
                found.append(Order(**values))
            except TypeError:
                continue
    return found


def add_site_order(folder: Path, now_ms: int, condition: str = "difference") -> Order:
    """Order the sending of the site's own segments. Raises DiskFullError."""
    order = Order(f"site-{now_ms}", condition)
    _write(folder / NOW, [asdict(order)])
    return order


def remove_site_order(folder: Path, order_id: str) -> None:
    """Forget an order of the site that is over, unless a newer one took its place."""
    if any(values.get("id") == order_id for values in _read(folder / NOW, list)):
        (folder / NOW).unlink(missing_ok=True)


def read_progress(folder: Path) -> dict[str, OrderProgress]:
    """Return the progress of orders, by id; an unreadable one begins again, which is harmless."""
    found = {}
    for order_id, values in _read(folder / PROGRESS, dict).items():
        try:
            found[str(order_id)] = OrderProgress(**values)
        except TypeError:
            continue
    return found


def write_progress(folder: Path, progress: dict[str, OrderProgress]) -> None:
    """Keep how far orders are. Raises DiskFullError."""
    _write(folder / PROGRESS, {order_id: asdict(one) for order_id, one in progress.items()})


def due_orders(
    orders: Iterable[Order], progress: dict[str, OrderProgress], now_ms: int
) -> list[Order]:
    """Return the orders about which something is to be done now."""
    found = []
    for order in orders:
        one = progress.get(order.id, OrderProgress())
        waiting = not one.is_over or (not one.told and not order.is_ours)
        # A clock that was set back must not put a try off for longer than it ever is.
        if waiting and not now_ms < one.next_try_ms <= now_ms + 86_400_000:
            found.append(order)
    return found


def after_failed_try(
    progress: OrderProgress, why: Message, now_ms: int, retry_s: float
) -> OrderProgress:
    """Return an order after a try that failed: to be tried again, or given up."""
    tried = replace(with_result(progress, why), tries=progress.tries + 1)
    if tried.tries >= TRIES:
        return replace(tried, state="failed", next_try_ms=0)
    return replace(tried, next_try_ms=now_ms + round(retry_s * 1000))


def with_result(progress: OrderProgress, result: Message) -> OrderProgress:
    """Return progress with the result of a try, of which the manager is to be told."""
    sentence = str(result)[:RESULT_CHARS]
    return replace(progress, result=sentence, message=sent_message(result), told=False)


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, [json.dumps(value).encode()])


def _read(path: Path, kind: type[Any]) -> Any:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return kind()
    return value if isinstance(value, kind) else kind()
