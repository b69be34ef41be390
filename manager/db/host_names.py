"""Cache of all host addresses in memory, for searches of a part of one, and the number of hosts.

A database reads a million rows for that; here they are text, which is searched in hundredths of a
second, once some searches have read it. Invariant: a host is never deleted, its number and address
never change, and numbers are given in the order of commits, because writes run one after the other.
So a cached entry is always valid, and only newer hosts are queried. Memory is bounded by
`BYTES_MOST`: hosts beyond it are searched in the database.
"""

from __future__ import annotations

import itertools
import threading
from array import array
from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import hosts
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.idn import PREFIX, folded, to_unicode

__all__ = ["HostNames", "holds"]

BLOCK: Final = 10_000
"""Hosts that are read at once."""

BLOCKS_AT_ONCE: Final = 25
"""That one search reads: reading all takes twice as long as the database takes to look."""

BYTES_MOST: Final = 128 * 1024**2
"""Of addresses and numbers; a million hosts with addresses of 30 letters are 38 MB."""

UNREAD_MOST: Final = 20_000
"""Hosts with an A-label that are not in memory yet and are decoded for one search."""

SHARP_S: Final = "ss"
"""The one text in ASCII that a letter of a Unicode name becomes without case: `straße`."""

_NUMBER_BYTES: Final = 8
_LETTER_BYTES: Final = 2  # of Unicode text below U+10000


def holds(tx: Transaction, text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a host's address holds a text, in either case of its letters."""
    # Keys are ASCII in lower case. SQLite's LIKE folds every letter; PostgreSQL knows of LIKE
    # that few match, and lets several processes look.
    if tx.dialect == "sqlite":
        return sa.func.instr(hosts.c.key, text.lower()) > 0
    return hosts.c.key.contains(text.lower(), autoescape=True)


@frozen
class _Lines:
    """Some addresses, a line each, and the number of each line's host."""

    text: str
    numbers: array[int]

    def find(self, text: str, most: int) -> list[int]:
        """Return the numbers of at most so many hosts whose line holds a text."""
        found: list[int] = []
        line = end = 0
        while len(found) < most and end >= 0:
            at = self.text.find(text, end)
            if at < 0:
                break
            line += self.text.count("\n", end, at)
            found.append(self.numbers[line])
            end = self.text.find("\n", at)
        return found


@frozen
class _Block:
    """Some hosts. readable: those with an A-label, in Unicode. last: the greatest number."""

    addresses: _Lines
    readable: _Lines
    last: int

    @property
    def size_bytes(self) -> int:
        """Return how much memory the names take."""
        numbers = len(self.addresses.numbers) + len(self.readable.numbers)
        letters = len(self.addresses.text) + len(self.readable.text) * _LETTER_BYTES
        return letters + numbers * _NUMBER_BYTES

    def find(self, text: str, most: int) -> list[int]:
        """Return the numbers of at most so many hosts whose address holds a text."""
        if not text.isascii():
            return self.readable.find(text, most)
        found = self.addresses.find(text, most)
        if SHARP_S in text:
            found = [*dict.fromkeys((*found, *self.readable.find(text, most)))][:most]
        return found


class HostNames:
    """Addresses of one database, read as far as searches need them; any thread may search."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._size_bytes = 0
        self._reading = threading.Lock()
        self._counted = (0, 0)  # up to which number how many hosts there are

    def find(self, tx: Transaction, text: str, most: int) -> list[int]:
        """Return the numbers of at most so many hosts whose address holds a text.

        A text beyond ASCII is looked for in the Unicode forms of names.
        """
        if "\n" in text:  # no address does
            return []
        text = text.lower() if text.isascii() else folded(text)
        found: list[int] = []
        until = 0
        for block in self._each(tx):
            found += block.find(text, most - len(found))
            if len(found) == most:
                return found
            until = block.last
        before = len(found)
        most -= before
        if not text.isascii():
            return found + _find_readable(tx, until, text, most)
        newer = sa.select(hosts.c.id).where(hosts.c.id > until, holds(tx, text))
        found += tx.values(newer.limit(most))
        if SHARP_S in text:
            found += _find_readable(tx, until, text, most)
        return [*dict.fromkeys(found)][: most + before]

    def count(self, tx: Transaction) -> int:
        """Return how many hosts there are; only those that came since are counted."""
        newest = _newest(tx)
        until, counted = self._counted
        if until > newest:  # who counted these began later
            until, counted = 0, 0
        newer = sa.select(sa.func.count()).select_from(hosts).where(hosts.c.id > until)
        counted += int(tx.value(newer))
        if newest > until:
            self._counted = (newest, counted)
        return counted

    def _each(self, tx: Transaction) -> Iterator[_Block]:
        """Yield the blocks of hosts that a transaction sees all of."""
        newest = _newest(tx)
        at = 0
        most = len(self._blocks) + BLOCKS_AT_ONCE
        while at < len(self._blocks) or (at < most and self._read(tx, at)):
            block = self._blocks[at]
            if block.last > newest:  # who read it began later
                return
            yield block
            at += 1

    def _read(self, tx: Transaction, at: int) -> bool:
        """Read the next block; tell whether there is one at this place now."""
        with self._reading:
            if at < len(self._blocks):
                return True
            if self._size_bytes >= BYTES_MOST:
                return False
            until = self._blocks[-1].last if self._blocks else 0
            following = sa.select(hosts.c.id).where(hosts.c.id > until).order_by(hosts.c.id)
            last = tx.value(following.limit(1).offset(BLOCK - 1))
            if last is None:
                return False
            block = _block(tx, until, last)
            self._blocks.append(block)
            self._size_bytes += block.size_bytes
            return True


def _newest(tx: Transaction) -> int:
    return int(tx.value(sa.select(sa.func.max(hosts.c.id))) or 0)


def _block(tx: Transaction, until: int, last: int) -> _Block:
    """Return the hosts after a number and up to another one.

    The database puts them together: ten thousand rows take longer to send than two long texts.
    """
    number: Any = hosts.c.id
    row = tx.execute(
        sa.select(
            sa.func.aggregate_strings(sa.cast(number, sa.Text()), " ").label("numbers"),
            sa.func.aggregate_strings(hosts.c.key, "\n").label("addresses"),
        ).where(number > until, number <= last)
    ).one()
    addresses = _Lines(row.addresses, array("q", map(int, row.numbers.split(" "))))
    return _Block(addresses, _readable(addresses), last)


def _readable(addresses: _Lines) -> _Lines:
    if PREFIX not in addresses.text:
        return _Lines("", array("q"))
    lines = zip(addresses.text.split("\n"), addresses.numbers, strict=True)
    some = [(folded(to_unicode(line)), number) for line, number in lines if PREFIX in line]
    return _Lines("\n".join(line for line, _ in some), array("q", (number for _, number in some)))


def _find_readable(tx: Transaction, until: int, text: str, most: int) -> list[int]:
    """Return hosts behind a number whose name in Unicode holds a text; decodes `UNREAD_MOST`."""
    newer = (
        sa.select(hosts.c.id, hosts.c.key)
        .where(hosts.c.id > until, holds(tx, PREFIX))
        .limit(UNREAD_MOST)
    )
    found = (row.id for row in tx.execute(newer) if text in folded(to_unicode(row.key)))
    return list(itertools.islice(found, most))
