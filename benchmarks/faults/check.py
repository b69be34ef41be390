"""Check of promises by the database and the acknowledged reports, and nothing else.

    python -m benchmarks.faults.check postgresql://USER@HOST/NAME [--acknowledged FILE] [--files
    DIR]

Independent: its own questions in SQL, no code of the manager. On any database of a manager it
looks whether owners and holders follow each other; where `history.install` has been at work also
whether rows were only added, and whether each tick was the leader's. FILE has a line of JSON for
each report, with `agent` and `sha256`: each must be in the database, and its rows in DIR. The exit
code is 1 where something is not as promised.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from benchmarks.faults.evidence.observations import Acknowledged, Mark, Request
from benchmarks.faults.evidence.owners import (
    Change,
    Interval,
    RightInterval,
    appended_only,
    foreign_requests,
    holders,
    led_only,
    one_leader,
    one_owner,
    overlaps,
)

__all__ = ["Verdict", "check", "main"]

SHOWN: Final = 20
TOLERANCE_MS: Final = 2_000
"""A writer takes the time when it begins; it may wait for its turn behind one that began later."""

_OWNERS: Final = """
SELECT u.key, a.name, s.since_ms, s.until_ms, s.epoch
FROM assignments s JOIN units u ON u.id = s.unit_id JOIN agents a ON a.id = s.agent_id
"""
_HOLDINGS: Final = """
SELECT u.key, a.name, h.since_ms, h.until_ms, 0
FROM holdings h JOIN units u ON u.id = h.unit_id JOIN agents a ON a.id = h.agent_id
UNION ALL
SELECT u.key, a.name, r.granted_ms, NULL, 0
FROM rights r JOIN units u ON u.id = r.unit_id JOIN agents a ON a.id = r.agent_id
"""
_REPORTS: Final = """
SELECT a.name, r.sha256, r.path FROM reports r JOIN agents a ON a.id = r.agent_id
"""
_HISTORY: Final = """
SELECT seq, what, op, leader_epoch, was, becomes, writer FROM faults_history ORDER BY seq
"""
_UNITS: Final = "SELECT u.id, u.key FROM units u WHERE u.path = '/'"


@dataclass
class Verdict:
    """Broken promises, in sentences."""

    lost: list[str] = field(default_factory=list)
    double: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Return whether all was kept."""
        return not (self.lost or self.double or self.other)

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        for name in ("lost", "double", "other"):
            found: list[str] = getattr(self, name)
            yield from (f"{name}: {one}" for one in found[:SHOWN])
            if len(found) > SHOWN:
                yield f"{name}: and {len(found) - SHOWN} more"


@dataclass(frozen=True)
class Outside:
    """Observations from outside while the history was recorded."""

    requests: Iterable[Request] = ()
    marks: Sequence[Mark] = ()


def check(
    url: str,
    acknowledged: Iterable[Acknowledged] = (),
    *,
    files: Path | None = None,
    clocks_right: bool = True,
    outside: Outside | None = None,
) -> Verdict:
    """Judge a database. clocks_right: False: times in it are those of clocks that were set."""
    verdict = Verdict()
    if url.startswith("postgresql:"):
        url = url.replace("postgresql:", "postgresql+psycopg:", 1)
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            _check_reports(connection, acknowledged, files, verdict)
            owned = [Interval(*row) for row in connection.execute(sa.text(_OWNERS))]
            held = [Interval(*row) for row in connection.execute(sa.text(_HOLDINGS))]
            verdict.counted |= {"owners": len(owned), "holders": len(held)}
            verdict.double += one_owner(owned)
            if sa.inspect(connection).has_table("faults_history"):
                _check_history(connection, outside or Outside(), verdict)
            if clocks_right:
                verdict.double += overlaps(owned, TOLERANCE_MS)
                verdict.double += overlaps(held, TOLERANCE_MS)
    finally:
        engine.dispose()
    return verdict


def _check_reports(
    connection: sa.Connection,
    acknowledged: Iterable[Acknowledged],
    files: Path | None,
    verdict: Verdict,
) -> None:
    kept = {(name, sha): path for name, sha, path in connection.execute(sa.text(_REPORTS))}
    verdict.counted["reports"] = len(kept)
    count = 0
    for one in acknowledged:
        count += 1
        path = kept.get((one.agent, one.sha256))
        if path is None:
            verdict.lost.append(f"{one.agent}: report {one.sha256} is not in the database")
        elif files is not None and path and not (files / path).exists():
            verdict.lost.append(f"{one.agent}: report {one.sha256}: its rows {path} are gone")
    verdict.counted["acknowledged"] = count


def _check_history(connection: sa.Connection, outside: Outside, verdict: Verdict) -> None:
    history = [
        Change(seq, what, op, epoch or 0, _row(was), _row(becomes), writer or "")
        for seq, what, op, epoch, was, becomes, writer in connection.execute(sa.text(_HISTORY))
    ]
    verdict.counted["changes"] = len(history)
    verdict.other += appended_only(history)
    verdict.other += one_leader(history)
    plain = connection.execute(sa.text("SELECT id FROM agents WHERE kind = 'plain'")).scalars()
    verdict.other += led_only(history, set(plain))
    held: list[RightInterval] = []
    verdict.double += holders(history, held)
    if outside.marks:
        units = {_host(key): unit_id for unit_id, key in connection.execute(sa.text(_UNITS))}
        agents = {name: i for i, name in connection.execute(sa.text("SELECT id, name FROM agents"))}
        found = foreign_requests(outside.requests, held, outside.marks, units, agents)
        verdict.double += islice(found, 10 * SHOWN)


def _row(value: Any) -> dict[str, Any] | None:
    row: dict[str, Any] | None = json.loads(value) if isinstance(value, str) else value
    return row


def _host(key: str) -> str:
    """Return the name in `http://name:port/`."""
    return key.partition("://")[2].partition("/")[0].rpartition(":")[0] or key


def _read(path: Path) -> Iterator[Acknowledged]:
    for line in path.read_text().splitlines():
        told = json.loads(line)
        yield Acknowledged(told["agent"], told["sha256"])


def main(words: Sequence[str] | None = None) -> None:
    """Judge a database and print the findings. words: None: those of the command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="benchmarks.faults.check", description=__doc__.split("\n")[0]
    )
    parser.add_argument("url", help="of the database, as in database.url")
    parser.add_argument("--acknowledged", type=Path, help="lines of JSON: agent, sha256")
    parser.add_argument("--files", type=Path, help="the folder in which `logs` of the manager lies")
    parser.add_argument("--clocks-were-set", action="store_true", help="do not compare times")
    options = parser.parse_args(words)
    acknowledged = _read(options.acknowledged) if options.acknowledged else ()
    verdict = check(
        options.url, acknowledged, files=options.files, clocks_right=not options.clocks_were_set
    )
    for line in verdict.lines():
        print(line)
    print(", ".join(f"{count} {name}" for name, count in verdict.counted.items()))
    if not verdict.ok:
        sys.exit(1)
    print("all promises are kept")


if __name__ == "__main__":
    main()
