"""Look-ups of host names: their results by reason, and orders to repeat them.

A look-up is made by the clock (`manager.naming`); here hosts are only made due. A host is resolved
or unresolved by its last look-up, and waits before its first. Invariant: excluded hosts are neither
looked up nor counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from manager.db.engine import Database
from manager.db.hosts import addresses
from manager.db.hosts.addresses import NameRow
from manager.db.transaction import Transaction, chunks
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note
from manager.operations.hosts.idle_hosts import host_named
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = [
    "EXAMPLES",
    "Resolutions",
    "ResolveAsked",
    "UnresolvedHost",
    "UnresolvedHosts",
    "look_up_again",
    "resolutions",
    "resolutions_of_list",
]

EXAMPLES: Final = 10
BATCH: Final = 1_000


@message_fields
@frozen
class UnresolvedHost:
    """A host whose last look-up failed, with the details."""

    host: str
    detail: Message | None


@frozen
class UnresolvedHosts:
    """Hosts whose last look-up failed in one way. failure: a code of `HostFailure`."""

    failure: str
    hosts: int
    examples: list[UnresolvedHost]


@frozen
class Resolutions:
    """Results of the look-ups of some hosts. waiting: not looked up yet. unknown: other lines.

    failures: of those that are unresolved, most first.
    """

    resolved: int
    waiting: int
    unresolved: int
    failures: list[UnresolvedHosts]
    unknown: int = 0


@frozen
class ResolveAsked:
    """hosts: how many are looked up again."""

    hosts: int


def look_up_again(db: Database, key: str, actor: Actor, now_ms: int) -> ResolveAsked:
    """Schedule look-ups for the next tick: of one host, or of all that are unresolved.

    key: a host, or any URL on it; "": all. Raises NotFoundError, ConflictError for an excluded
    host, UrlError.
    """
    with db.write() as tx:
        if not key:
            asked, subject = addresses.make_due(tx, now_ms), ""
        else:
            host = host_named(tx, key)
            subject = host.key
            if host.excluded_ms is not None:
                raise ConflictError("hosts.excluded", host=subject)
            asked = addresses.make_due(tx, now_ms, [host.id])
        note(tx, now_ms, actor, "host.resolve", subject, hosts=asked)
    return ResolveAsked(asked)


def resolutions(db: Database) -> Resolutions:
    """Return how the look-ups of all hosts went; may be a cached figure."""
    return db.figure("resolutions", _resolutions)


def _resolutions(tx: Transaction) -> Resolutions:
    counts = addresses.name_counts(tx)
    failed: Counter[str] = Counter()
    for _, failure, count in counts:
        if failure:
            failed[failure] += count
    examples = {failure: addresses.unresolved(tx, failure, EXAMPLES) for failure in failed}
    return Resolutions(
        resolved=sum(n for how, failure, n in counts if how == "resolved" and not failure),
        waiting=sum(n for how, failure, n in counts if how == "new" and not failure),
        unresolved=failed.total(),
        failures=[
            UnresolvedHosts(failure, count, [_shown(row) for row in examples[failure]])
            for failure, count in failed.most_common()
        ],
    )


def resolutions_of_list(db: Database, lines: Iterable[tuple[int, str]]) -> Resolutions:
    """Return how the look-ups of the hosts went that a list names, as an import reads it.

    A host that is named twice counts once within a thousand lines.
    """
    resolved = waiting = unknown = 0
    failed: Counter[str] = Counter()
    examples: dict[str, list[UnresolvedHost]] = defaultdict(list)
    for batch in chunks(_keys(lines), BATCH):
        keys = {key for key in batch if key}
        with db.read() as tx:
            rows = addresses.names_of(tx, keys)
        unknown += batch.count("") + len(keys) - len(rows)
        for row in rows:
            if row.failure:
                failed[row.failure] += 1
                if len(examples[row.failure]) < EXAMPLES:
                    examples[row.failure].append(_shown(row))
            elif row.resolution == "new":
                waiting += 1
            else:
                resolved += 1
    return Resolutions(
        resolved,
        waiting,
        failed.total(),
        [UnresolvedHosts(code, n, examples[code]) for code, n in failed.most_common()],
        unknown,
    )


def _keys(lines: Iterable[tuple[int, str]]) -> Iterable[str]:
    """Yield the host of each line; "": it names none."""
    for _, text in lines:
        line = text.strip()
        if line and not line.startswith("#"):
            url = line.partition("\t")[0]
            try:
                yield host_key(url if "://" in url else complete_line(url))
            except PrsmError:
                yield ""


def _shown(row: NameRow) -> UnresolvedHost:
    return UnresolvedHost(row.key, row.problem)
