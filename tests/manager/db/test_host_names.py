"""A part of an address is found wherever the hosts are: in memory, or not read yet."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db import host_names
from manager.db.engine import Database, Transaction
from manager.db.hosts.hosts import NewHost, add_hosts
from manager.db.tables import hosts, units

TEXTS = ("h1", "d1.", "H2", "example", ":80/", "/", "h1.d1", "5.d2.example:80/", "9", "_", "%")
NONE = ("nothing", "example:80/\nhttp", "\n", "1 ", "ö", "\\")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks be of few hosts."""
    monkeypatch.setattr(host_names, "BLOCK", 7)
    monkeypatch.setattr(host_names, "BLOCKS_AT_ONCE", 3)


def _add(db: Database, first: int, last: int) -> None:
    with db.write() as tx:
        names = [(n, n % 3) for n in range(first, last + 1)]
        new = [
            NewHost(f"http://h{n}.d{d}.example:80/", f"example,d{d},h{n})/", None, None)
            for n, d in names
        ]
        add_hosts(tx, new, 1)


def _keys(tx: Transaction) -> dict[int, str]:
    return {row.id: row.key for row in tx.execute(sa.select(hosts.c.id, hosts.c.key))}


def test_the_same_hosts_are_found_while_addresses_are_read(database: Database) -> None:
    """Search after search, with hosts that come in between."""
    for turn in range(8):
        _add(database, turn * 11 + 1, turn * 11 + 11)
        with database.read() as tx:
            keys = _keys(tx)
            for text in TEXTS:
                expected = [n for n, key in sorted(keys.items()) if text.lower() in key]
                assert sorted(database.host_names.find(tx, text, 1000)) == expected, text
                assert len(database.host_names.find(tx, text, 3)) == min(3, len(expected))
            for text in NONE:
                assert database.host_names.find(tx, text, 1000) == [], text


def test_numbers_may_have_gaps(database: Database) -> None:
    """What was rolled back had numbers, too."""
    _add(database, 1, 10)
    with database.write() as tx:
        tx.insert(
            hosts,
            [
                {"id": n, "key": f"http://far{n}.example/", "reversed_key": f"example,far{n})/",
                 "first_seen_ms": 1, "resolution": "new"}
                for n in range(1_000, 90_000, 1_000)
            ],
        )  # fmt: skip
    for _ in range(9):
        with database.read() as tx:
            assert database.host_names.find(tx, "far4000.", 10) == [4_000]
            assert database.host_names.find(tx, "far89000.", 10) == [89_000]


def test_what_was_read_is_not_asked_for_again(database: Database) -> None:
    """An address that was changed behind its back is still found; a search reads three blocks."""
    _add(database, 1, 50)
    with database.read() as tx:
        database.host_names.find(tx, "nothing", 10)
    with database.write() as tx:
        for number in (2, 45):
            changed = hosts.update().where(hosts.c.id == number)
            tx.execute(changed.values(key=f"http://changed{number}.example/"))
    with database.read() as tx:
        assert database.host_names.find(tx, "changed", 10) == [45]
        assert database.host_names.find(tx, "/h2.", 10) == [2]


def test_memory_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it the database looks, and finds the same."""
    monkeypatch.setattr(host_names, "BYTES_MOST", 1)
    _add(database, 1, 50)
    with database.read() as tx:
        for _ in range(3):
            assert database.host_names.find(tx, "/h49.", 10) == [49]
    with database.write() as tx:
        for number in (7, 8):
            changed = hosts.update().where(hosts.c.id == number)
            tx.execute(changed.values(key=f"http://changed{number}.example/"))
    with database.read() as tx:
        assert database.host_names.find(tx, "changed", 10) == [8]


def test_who_began_before_a_block_was_read_sees_what_there_was_then(database: Database) -> None:
    """Hosts that came later are not found in memory either."""
    _add(database, 1, 10)
    with database.read() as before:
        assert len(_keys(before)) == 10
        _add(database, 11, 40)
        with database.read() as after:
            assert len(database.host_names.find(after, "example", 100)) == 40
        assert len(database.host_names.find(before, "example", 100)) == 10


def test_hosts_are_counted_as_they_come(database: Database) -> None:
    """Those that were counted once are not counted again, and who began before sees fewer."""
    with database.read() as tx:
        assert database.host_names.count(tx) == 0
    _add(database, 1, 10)
    with database.read() as before:
        assert database.host_names.count(before) == 10
        _add(database, 11, 40)
        with database.read() as after:
            assert database.host_names.count(after) == 40
        assert database.host_names.count(before) == 10
    with database.write() as tx:
        tx.execute(units.delete())
        tx.execute(hosts.delete().where(hosts.c.id.in_([3, 4])))  # behind its back
        assert database.host_names.count(tx) == 40
