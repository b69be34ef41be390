"""Counts of failed logins, by where they came from and a bucket of names.

Invariant: the rows are bounded: so many buckets for each source, and the oldest sources go.
What is counted how, and what follows, is left to `operations.people.login_throttle`.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import login_failures
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["Failures", "add_one", "find", "forget", "purge", "put"]


@frozen
class Failures:
    """Failed logins of one source for the names of one bucket; last_ms: of the last one."""

    name: str  # both
    failures: int
    last_ms: int


def find(tx: Transaction, source: str, bucket: int) -> Failures | None:
    """Return the failures of a source for a bucket."""
    return tx.row(Failures, sa.select(login_failures).where(_is(source, bucket)))


def add_one(tx: Transaction, source: str, bucket: int, now_ms: int) -> int:
    """Count one more and return how many there are, however many count side by side."""
    row = {"name": _key(source, bucket), "failures": 1, "last_ms": now_ms}
    tx.upsert(login_failures, [row], ["name"], add=["failures"])
    counted = sa.select(login_failures.c.failures).where(_is(source, bucket))
    return int(tx.value(counted))


def put(tx: Transaction, source: str, bucket: int, failures: int, now_ms: int) -> None:
    """Set a count."""
    row = {"name": _key(source, bucket), "failures": failures, "last_ms": now_ms}
    tx.upsert(login_failures, [row], ["name"])


def forget(tx: Transaction, source: str, bucket: int) -> None:
    """Count from zero again."""
    tx.execute(login_failures.delete().where(_is(source, bucket)))


def purge(tx: Transaction, before_ms: int, most: int) -> None:
    """Delete failures whose last one is older, and the oldest of more than so many rows."""
    tx.execute(login_failures.delete().where(login_failures.c.last_ms < before_ms))
    if tx.count(login_failures) <= most:
        return
    newest = sa.select(login_failures.c.last_ms).order_by(login_failures.c.last_ms.desc())
    since_ms = int(tx.value(newest.offset(most * 9 // 10).limit(1)))
    tx.execute(login_failures.delete().where(login_failures.c.last_ms <= since_ms))


def _key(source: str, bucket: int) -> str:
    return f"{source} {bucket}"


def _is(source: str, bucket: int) -> sa.ColumnElement[bool]:
    return login_failures.c.name == _key(source, bucket)
