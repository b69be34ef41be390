"""Failed logins: delays by the source of the guesses.

    name and source   after five failures 2 s, doubled with each, at most 300 s: that source only
    name alone        above a rate each login is delayed by some seconds, and never refused
    known device      has a separate count, and no delay (`operations.people.known_devices`)

A source is an IPv4 address, the /64 of an IPv6 address, or a known device. So a sender that knows a
name slows down no other sender, and the guesses of all senders together are slowed down for that
name. Names are counted in buckets, whether they exist or not: made-up names make no rows, look like
any other, and a typed name (often a password) is not kept.
"""

from __future__ import annotations

import hashlib
import ipaddress
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.people import audit_log, login_failures, users
from manager.db.people.login_failures import Failures
from manager.errors import SlowDownError
from manager.operations.actor import Actor, note
from manager.operations.audit_actions import other_names
from manager.operations.people.known_devices import known_device
from shared.frozen import frozen

__all__ = [
    "LoginWait",
    "count_failure",
    "forget_failures",
    "login_wait",
    "purge_failures",
    "require_no_pause",
    "source_of",
]

FREE_TRIES: Final = 5
SLOWEST_S: Final = 300
BUCKETS: Final = 32
"""Of names, for each source: one source makes no more rows. Two names in one bucket share a count,
which slows down only those who come from that source."""

EVERYWHERE: Final = "*"
NAMES: Final = 64
"""Buckets of names whose failures are counted wherever they come from: few, since names that are
made up fill them, and what a full one does to another name is a delay."""

FREE_RATE: Final = 20
FORGOTTEN_S: Final = 30
"""Seconds in which one failure of a name, wherever it came from, is forgotten."""

LONGEST_DELAY_S: Final = 4.0
DELAY_STEP_S: Final = 0.25
KEPT_MS: Final = 24 * 3600 * 1000
ROWS_MOST: Final = 10_000
LOCAL: Final = "local"
FAILED: Final = "user.fail-logins"


@frozen
class LoginWait:
    """Bucket in which a login is counted, and the delay before its password is checked."""

    source: str
    delay_s: float
    known: bool


def source_of(address: str) -> str:
    """Return what a client's address is counted as: itself, or the /64 of an IPv6 address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return LOCAL
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))


def require_no_pause(tx: Transaction, name: str, source: str, now_ms: int) -> None:
    """Raise SlowDownError while a source must wait with a name."""
    failed = login_failures.find(tx, source, _bucket(name, BUCKETS))
    if failed is None or failed.failures < FREE_TRIES:
        return
    pause_s = min(SLOWEST_S, 2 ** (failed.failures - FREE_TRIES + 1))
    left_ms = failed.last_ms + pause_s * 1000 - now_ms
    if 0 < left_ms <= SLOWEST_S * 1000:
        wait_s = -(-left_ms // 1000)
        raise SlowDownError(
            "people.wrong_passwords", wait_s, failures=failed.failures, wait_s=wait_s
        )


def login_wait(db: Database, name: str, address: str, device: str, now_ms: int) -> LoginWait:
    """Return how a login by a name waits for its turn. device: the cookie of a known one."""
    with db.read() as tx:
        known = known_device(users.by_name(tx, name), device, now_ms)
        failed = login_failures.find(tx, EVERYWHERE, _bucket(name, NAMES))
    late = min(LONGEST_DELAY_S, DELAY_STEP_S * max(0, _left(failed, now_ms) - FREE_RATE))
    return LoginWait(known or source_of(address), 0.0 if known else late, bool(known))


def count_failure(db: Database, name: str, source: str, actor: Actor, now_ms: int) -> None:
    """Count a wrong password; the fifth from a source is an alert, one a day for a user.

    Raises SlowDownError, and counts nothing, where others made the source wait meanwhile.
    """
    with db.write() as tx:
        require_no_pause(tx, name, source, now_ms)
        failures = login_failures.add_one(tx, source, _bucket(name, BUCKETS), now_ms)
        bucket = _bucket(name, NAMES)
        everywhere = _left(login_failures.find(tx, EVERYWHERE, bucket), now_ms) + 1
        login_failures.put(tx, EVERYWHERE, bucket, everywhere, now_ms)
        login_failures.purge(tx, now_ms - KEPT_MS, ROWS_MOST)
        if FREE_TRIES in (failures, everywhere):
            _alert(tx, name, failures, actor, now_ms)


def forget_failures(tx: Transaction, name: str, source: str) -> None:
    """Count the failures of a source for a name from zero again."""
    login_failures.forget(tx, source, _bucket(name, BUCKETS))


def purge_failures(db: Database, now_ms: int) -> None:
    """Delete sessions that are over, and failures that no longer cause a delay."""
    with db.write() as tx:
        users.purge(tx, now_ms)
        login_failures.purge(tx, now_ms - KEPT_MS, ROWS_MOST)


def _alert(tx: Transaction, name: str, failures: int, actor: Actor, now_ms: int) -> None:
    # A name that does not exist is no matter for anybody, and there are any number of them.
    last = audit_log.newest(tx, limit=1, action=FAILED, also=other_names(FAILED), subject=name)
    is_told = bool(last) and now_ms - last[0].at_ms < KEPT_MS
    if users.by_name(tx, name) is not None and not is_told:
        note(tx, now_ms, actor, FAILED, name, alert=True, failures=failures)


def _left(failed: Failures | None, now_ms: int) -> int:
    """Return how many failures of a name count still; a clock that went back forgets them."""
    if failed is None or failed.last_ms > now_ms + KEPT_MS:
        return 0
    forgotten = max(0, now_ms - failed.last_ms) // (FORGOTTEN_S * 1000)
    return max(0, failed.failures - forgotten)


def _bucket(name: str, buckets: int) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % buckets
