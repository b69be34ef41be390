"""DuckDB as the store asks it: with bounded memory, on one core, and never by the network."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb

from shared.frozen import record_maker

__all__ = ["connect", "kept_connection", "records"]

T = TypeVar("T")
ROWS_AT_ONCE: Final = 10_000


def connect(memory_bytes: int, spill: Path) -> duckdb.DuckDBPyConnection:
    """Return a separate DuckDB with a memory limit that spills into a folder."""
    config: dict[str, Any] = {
        "memory_limit": f"{memory_bytes}B",
        "temp_directory": str(spill),
        "threads": 1,  # the worker is one process of several, and one of them is the crawl's
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(config=config)


class _Kept(threading.local):
    """A thread's connection to the logs."""

    made_for: tuple[int, Path] | None = None
    connection: duckdb.DuckDBPyConnection | None = None

    def end(self) -> None:
        """Close it, if there is one."""
        if self.connection is not None:
            self.connection.close()
        self.connection = self.made_for = None


_kept = _Kept()


@contextmanager
def kept_connection(memory_bytes: int, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give what `connect` returns, the same one each time: for who reads one log after the other.

    To start one takes 15 ms, as long as to sum up thousands of lines. After an error it is ended.
    """
    if _kept.made_for != (memory_bytes, spill):
        _kept.end()
        _kept.connection, _kept.made_for = connect(memory_bytes, spill), (memory_bytes, spill)
    assert _kept.connection is not None
    try:
        with _kept.connection.cursor() as cursor:
            yield cursor
    except BaseException:
        _kept.end()
        raise


def records(found: duckdb.DuckDBPyConnection, kind: type[T]) -> Iterator[T]:
    """Yield the rows of a query as records, whose fields are its columns by name."""
    make = record_maker(kind, tuple(column[0] for column in found.description or ()))
    while rows := found.fetchmany(ROWS_AT_ONCE):
        yield from map(make, rows)
