"""Ways in which a file of SQLite is damaged, for tests that try each of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

__all__ = ["DAMAGES", "Damage", "fold_journal"]

Damage = Callable[[Path], None]
PAGE: Final = 4096


def fold_journal(path: Path) -> None:
    """Bring what the journal holds into the file, so that all damage meets it."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // PAGE * PAGE])


def _odd_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 - 1234])


def _first_page_only(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:PAGE])


def _zeroed_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    pages = len(data) // PAGE
    for page in range(pages // 4, 3 * pages // 4):
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def _zeroed_leaf(path: Path) -> None:
    """Zero one page of rows near the end, which nothing reads at a start."""
    data = bytearray(path.read_bytes())
    page = len(data) // PAGE * 9 // 10
    data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def _zeroed_start(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(bytes(PAGE) + data[PAGE:])


def _all_zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _header_overwritten(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(b"\xde\xad\xbe\xef" * 25 + data[100:])


def _header_half_overwritten(path: Path) -> None:
    """Leave the magic string, and damage the sizes behind it."""
    data = path.read_bytes()
    path.write_bytes(data[:16] + b"\xff" * 84 + data[100:])


def _schema_overwritten(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * 800 + data[900:])


def _noise(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for start in range(3 * PAGE, len(data), 2 * PAGE):
        data[start : start + 64] = b"\xa5" * 64
    path.write_bytes(data)


def _picture(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00\x01\x02" * 20_000)


def _text(path: Path) -> None:
    path.write_text("[server]\nlisten_port = 8000\n" * 400)


DAMAGES: Final[dict[str, Damage]] = {
    "half": _half,
    "half of a page more": _odd_half,
    "first page only": _first_page_only,
    "zeroed middle": _zeroed_middle,
    "one page zeroed": _zeroed_leaf,
    "zeroed start": _zeroed_start,
    "all zeros": _all_zeros,
    "header overwritten": _header_overwritten,
    "header half overwritten": _header_half_overwritten,
    "schema overwritten": _schema_overwritten,
    "noise": _noise,
    "a picture": _picture,
    "a text": _text,
}
