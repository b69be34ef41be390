"""An archive of many index rows that point into real segments.

A few hundred captures of real records are written again and again; hosts and URLs are made up, so
each row of an index is another page of another host, and its bytes are those of a real capture.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from manager.db import Database
from manager.db.engine import Transaction
from manager.db.migrate import migrate
from manager.db.tables import agents, arrivals, hosts, segment_hosts, segments
from manager.store import Layout
from shared.archive.capture import Capture
from shared.archive.encode import SegmentInfo, encode_capture, encode_warcinfo
from shared.urls import reversed_host_key

__all__ = ["NOW_MS", "Filled", "fill", "key_of"]

NOW_MS: Final = 1_790_000_000_000
SEGMENTS: Final = 100
SEGMENTS_OF_A_HOST: Final = 4
REAL_CAPTURES: Final = 400
BODY_BYTES: Final = 11_000


@dataclass(frozen=True, slots=True)
class Filled:
    """The amount of data made: rows in all indexes together, hosts, captures of each."""

    rows: int
    hosts: int
    captures_of_a_host: int
    large: str  # the name of the segment of many bytes


def fill(folder: Path, rows: int, hosts_count: int, large_bytes: int) -> Filled:
    """Make a data directory; rows is rounded to whole captures a host."""
    layout = Layout(folder)
    layout.create()
    db = Database(f"sqlite:///{layout.database}")
    migrate(db)
    each = max(1, rows // hosts_count // SEGMENTS_OF_A_HOST)
    real = _real_segment(folder)
    names = [f"w{number % 97}.d{number}.example" for number in range(hosts_count)]
    with db.write() as tx:
        tx.insert(agents, [{"name": "bench", "kind": "sync", "joined_ms": NOW_MS}])
        for at in range(0, hosts_count, 5000):
            tx.insert(
                hosts,
                [
                    {
                        "key": f"http://{name}:80/",
                        "reversed_key": reversed_host_key(f"http://{name}:80/"),
                        "first_seen_ms": NOW_MS,
                        "resolution": "new",
                    }
                    for name in names[at : at + 5000]
                ],
            )
        for number in range(SEGMENTS):
            _enter(tx, number, real.path, real.path.stat().st_size)
        shares = [
            (host, (host + step * 25) % SEGMENTS)
            for host in range(hosts_count)
            for step in range(SEGMENTS_OF_A_HOST)
        ]
        for at in range(0, len(shares), 5000):
            tx.insert(
                segment_hosts,
                [
                    {
                        "segment_id": segment + 1,
                        "host_id": host + 1,
                        "captures": each,
                        "bytes": each * BODY_BYTES,
                        "first_ms": NOW_MS,
                        "last_ms": NOW_MS,
                    }
                    for host, segment in shares[at : at + 5000]
                ],
            )
        large = folder / "large"
        _random_file(large, large_bytes)
        _enter(tx, SEGMENTS, large, large_bytes)
    for number in range(SEGMENTS):
        _link(real.path, layout.segments / "1" / f"{key_of(number)}.warc.gz")
    (layout.segments / "1").mkdir(exist_ok=True)
    large.rename(layout.segments / "1" / f"{key_of(SEGMENTS)}.warc.gz")
    _indexes(layout, real, names, each)
    db.close()
    total = hosts_count * SEGMENTS_OF_A_HOST * each
    return Filled(total, hosts_count, SEGMENTS_OF_A_HOST * each, f"s{SEGMENTS}.warc.gz")


@dataclass(frozen=True, slots=True)
class _Real:
    path: Path
    places: list[tuple[int, int, int, int]]  # capture, its length, the answer, its length


def _real_segment(folder: Path) -> _Real:
    chance = random.Random(5)
    words = [f"word{number}" for number in range(3000)]
    path = folder / "real.warc.gz"
    places: list[tuple[int, int, int, int]] = []
    with path.open("wb") as file:
        file.write(encode_warcinfo(SegmentInfo("prsm", "bench", "bench"), "real", NOW_MS))
        for number in range(REAL_CAPTURES):
            body = "<p>" + " ".join(chance.choices(words, k=BODY_BYTES // 9))
            link = f"<a href='http://other{number}.example/'>x</a>"
            data = (body + link).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(data)}\r\n"
            made = encode_capture(
                Capture(
                    f"http://real.example/{number}",
                    NOW_MS,
                    b"GET / HTTP/1.1\r\nHost: real.example\r\n\r\n",
                    f"{head}\r\n".encode(),
                    data,
                )
            )
            start = file.tell()
            file.write(made.data)
            places.append((start, len(made.data), start + made.entry.offset, made.entry.length))
    return _Real(path, places)


def _enter(tx: Transaction, number: int, path: Path, size_bytes: int) -> None:
    digest = hashlib.sha256(path.name.encode()).hexdigest()
    row = {"agent_id": 1, "name": f"s{number}.warc.gz", "sha256": key_of(number)}
    tx.insert(arrivals, [{**row, "received_ms": NOW_MS}])
    tx.insert(
        segments,
        [
            {
                **row,
                "arrival_id": number + 1,
                "key": f"1/{key_of(number)}.warc.gz",
                "kind": "public",
                "state": "current",
                "size_bytes": size_bytes,
                "md5": digest[:32],
                "sha1": digest[:40],
                "made_ms": NOW_MS,
                "first_ms": NOW_MS,
                "last_ms": NOW_MS,
            }
        ],
    )


def key_of(number: int) -> str:
    """Return the digest by which a segment is kept."""
    return hashlib.sha256(f"segment {number}".encode()).hexdigest()


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    target.hardlink_to(source)


def _random_file(path: Path, size_bytes: int) -> None:
    block = random.Random(6).randbytes(4_000_000)
    with path.open("wb") as file:
        while size_bytes > 0:
            size_bytes -= file.write(block[:size_bytes])


def _indexes(layout: Layout, real: _Real, names: list[str], each: int) -> None:
    """Write the index of each segment, as the intake sorts it."""
    folder = layout.indexes / "1"
    folder.mkdir(exist_ok=True)
    with duckdb.connect(config={"memory_limit": "700MB", "threads": 1}) as connection:
        connection.execute(
            "CREATE TABLE places (n INTEGER, a BIGINT, b BIGINT, c BIGINT, d BIGINT)"
        )
        connection.executemany(
            "INSERT INTO places VALUES (?, ?, ?, ?, ?)",
            [(number, *place) for number, place in enumerate(real.places)],
        )
        connection.execute("CREATE TABLE names (n INTEGER, name VARCHAR)")
        connection.execute(
            "INSERT INTO names SELECT range, 'w' || range % 97 || '.d' || range || '.example' "
            "FROM range(?)",
            [len(names)],
        )
        for number in range(SEGMENTS + 1):  # that of the large segment has no rows
            target = folder / f"{key_of(number)}.parquet"
            connection.execute(
                f"""
                COPY (
                  SELECT 'example,d' || n.n || ',w' || n.n % 97 || ')/page' || r.range AS urlkey,
                         'http://' || name || ':80/' AS host,
                         'http://' || name || '/{number}/page' || r.range AS url,
                         {NOW_MS} + r.range AS fetched_ms, 200::SMALLINT AS status,
                         'text/html' AS mime, 'sha256:' || md5(name || r.range) AS digest,
                         NULL::VARCHAR AS truncated, NULL::VARCHAR AS refers_to_url,
                         NULL::BIGINT AS refers_to_ms, 0::BIGINT AS modified_ms,
                         {BODY_BYTES}::BIGINT AS body_bytes, hash(name || r.range) AS simhash,
                         NULL::VARCHAR AS reason, p.c AS "offset", p.d AS length,
                         p.a AS capture_offset, p.b AS capture_length,
                         's{number}.warc.gz' AS filename
                  FROM names n, range({each}) r
                  JOIN places p ON p.n = (r.range * 7 + {number}) % {len(real.places)}
                  WHERE list_contains([(n.n + s * 25) % {SEGMENTS}
                                       FOR s IN range({SEGMENTS_OF_A_HOST})], {number})
                  ORDER BY urlkey, fetched_ms, capture_offset
                ) TO '{target}' (FORMAT parquet, CODEC 'zstd', ROW_GROUP_SIZE 20000)
                """
            )
