"""Rules for all agents beside their sites' settings: a block list, limits of politeness.

Agents hear of it by sync, within minutes, and go by the stricter of both (`shared.wire.sync`,
Settings). A line of the block list is an RE2 expression that is looked for anywhere in a URL as
agents write it. Invariant: only lines that an agent understands are kept, so it never passes one
over; and few enough that every sync can carry them. See ADR 128.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Final

import re2

from manager.db.engine import Database, Transaction
from manager.db.fleet import fleet_rules
from manager.db.fleet.fleet_rules import BlockedRow, LimitsRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from shared.errors import FormatError
from shared.frozen import frozen
from shared.urls import canonical
from shared.wire.sync import SendingLimits, Settings

__all__ = [
    "BlockedRow",
    "FleetRules",
    "LimitsRow",
    "Tried",
    "add_blocked",
    "as_shown",
    "check_limits",
    "fleet_rules_of",
    "remove_blocked",
    "set_limits",
    "settings_for",
    "try_url",
]

LINES_MOST: Final = 500
LINE_MOST: Final = 1000
TEXT_MOST: Final = 64_000
"""All lines together: each sync of each agent carries them."""

REASON_MOST: Final = 500
INTERVAL_MOST_S: Final = 3600.0
LEAST_BYTES_PER_S: Final = 10_000


@frozen
class FleetRules:
    """Limits for all agents."""

    blocked: list[BlockedRow]
    limits: LimitsRow


@frozen
class Tried:
    """A URL as agents write it, and the lines that block it."""

    url: str
    blocked_by: list[BlockedRow]


def fleet_rules_of(db: Database) -> FleetRules:
    """Return the block list and the limits."""
    with db.read() as tx:
        return FleetRules(fleet_rules.blocked(tx), fleet_rules.limits(tx))


def add_blocked(db: Database, text: str, reason: str, actor: Actor, now_ms: int) -> int:
    """Add lines, one an expression; return how many are new. Either all are taken or none.

    Empty lines, and lines that begin with `#`, are passed over. Raises FormatError (no RE2, with
    its line and what is wrong; too long), ConflictError (too many).
    """
    asked = _read_lines(text)
    if len(reason) > REASON_MOST:
        raise FormatError(f"reason of {len(reason)} characters: at most {REASON_MOST}").about(
            "reason"
        )
    with db.write() as tx:
        held = [row.pattern for row in fleet_rules.blocked(tx)]
        new = [pattern for pattern in dict.fromkeys(asked) if pattern not in held]
        if len(held) + len(new) > LINES_MOST:
            raise ConflictError(
                f"block list: {len(held)} lines and {len(new)} more; at most {LINES_MOST}. Join "
                "some by `|`, or put what concerns one site into its prs.toml (politeness.blocked)"
            ).about("text")
        size = sum(len(pattern.encode()) for pattern in [*held, *new])
        if size > TEXT_MOST:
            raise ConflictError(
                f"block list: {size:,} bytes; at most {TEXT_MOST:,}, because every sync carries it"
            ).about("text")
        if new:
            fleet_rules.add_blocked(tx, new, reason.strip(), actor.name, now_ms)
            note(tx, now_ms, actor, "block.add", "", patterns=new[:20], lines=len(new),
                 reason=reason.strip())  # fmt: skip
    return len(new)


def remove_blocked(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Take a line out of the block list. Raises NotFoundError."""
    with db.write() as tx:
        row = fleet_rules.remove_blocked(tx, number, actor.name, now_ms)
        if row is None:
            raise NotFoundError(
                f"line {number}: the block list has none of this number", see="fleet"
            )
        note(tx, now_ms, actor, "block.remove", "", pattern=row.pattern)


def try_url(db: Database, text: str, pattern: str = "") -> Tried:
    """Return which lines block a URL or a host. Raises FormatError, UrlError.

    pattern: try this expression alone, which need not be on the list.
    """
    url = canonical(text.strip() if "://" in text else f"http://{text.strip()}")
    if pattern:
        row = BlockedRow(0, pattern, "", "", 0)
        return Tried(url, [row] if _compiled(pattern, "expression").search(url) else [])
    with db.read() as tx:
        rows = fleet_rules.blocked(tx)
    return Tried(url, [row for row in rows if _compiled(row.pattern, "line").search(url)])


def as_shown(limits: LimitsRow) -> str:
    """Return limits as a form carries them that was made while they held."""
    return json.dumps(astuple(limits))


def check_limits(asked: LimitsRow) -> None:
    """Refuse limits that nobody can mean. Raises FormatError."""
    if asked.interval_s is not None and not 0 <= asked.interval_s <= INTERVAL_MOST_S:
        raise FormatError(
            f"interval_s = {asked.interval_s:g}: must be 0 to {INTERVAL_MOST_S:g}; sites keep 20 s "
            "where nothing else is said"
        ).about("interval_s")
    if asked.parallel_hosts is not None and not 1 <= asked.parallel_hosts <= 1_000_000:
        raise FormatError(f"parallel_hosts = {asked.parallel_hosts}: must be 1 to 1,000,000").about(
            "parallel_hosts"
        )
    if asked.bytes_per_s is not None and not LEAST_BYTES_PER_S <= asked.bytes_per_s < 2**53:
        raise FormatError(
            f"bytes_per_s = {asked.bytes_per_s}: must be at least {LEAST_BYTES_PER_S:,}; to stop "
            "agents, pause them"
        ).about("kbytes_per_s")


def set_limits(
    db: Database, asked: LimitsRow, actor: Actor, now_ms: int, shown: str | None = None
) -> None:
    """Set what all agents keep to at least; None: as each site says.

    shown: what the person saw that holds, by `as_shown`. Raises FormatError, ConflictError
    (something else does).
    """
    check_limits(asked)
    with db.write() as tx:
        before = fleet_rules.limits(tx)
        if before == asked:
            return
        if shown not in (None, as_shown(before)):
            raise ConflictError(
                "the limits were changed since they were shown, so nothing was done; load the "
                "page again"
            )
        fleet_rules.set_limits(tx, asked)
        note(
            tx,
            now_ms,
            actor,
            "fleet.limits",
            "",
            interval_s=asked.interval_s,
            parallel_hosts=asked.parallel_hosts,
            bytes_per_s=asked.bytes_per_s,
        )


def settings_for(tx: Transaction, sending: SendingLimits | None) -> Settings:
    """Return what an agent is asked to keep to. sending: its own, of how it may send segments."""
    limits = fleet_rules.limits(tx)
    patterns = [row.pattern for row in fleet_rules.blocked(tx)]
    return Settings(
        interval_s=limits.interval_s,
        parallel_hosts=limits.parallel_hosts,
        bytes_per_s=limits.bytes_per_s,
        blocked=patterns or None,
        sending=sending,
    )


def _read_lines(text: str) -> Sequence[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        if len(pattern) > LINE_MOST:
            raise FormatError(
                f"line {number}: {len(pattern)} characters; at most {LINE_MOST}"
            ).about("text")
        if _compiled(pattern, f"line {number}").search(""):
            raise FormatError(
                f"line {number}: {pattern[:80]!a} matches every URL, so nothing would be fetched "
                "any more; say what is to be blocked"
            ).about("text")
        found.append(pattern)
    if not found:
        raise FormatError("block list: no expression was given; write one a line").about("text")
    return found


def _compiled(pattern: str, where: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise FormatError(f"{where}: {pattern[:80]!a} is no RE2: {words}; {_remedy(words)}").about(
            "text"
        ) from error


def _remedy(words: str) -> str:
    """Return what to do about what RE2 says."""
    if "perl operator" in words:
        return "RE2 has no look-ahead and no look-behind; write what is to match"
    if "missing )" in words or "unexpected )" in words:
        return r"brackets come in pairs; a bracket of the URL itself is \( or \)"
    if "repetition" in words:
        return (
            r"* + ? {n} stand behind what is repeated, at most 1,000 times; the sign itself is \?"
        )
    if "character class" in words or "missing ]" in words:
        return "[a-z] goes from the smaller to the greater sign, and ends with ]"
    if "escape" in words or "trailing" in words:
        return r"behind \ stands d, w, s, b or a sign that is meant as it is"
    return "github.com/google/re2/wiki/Syntax has all that RE2 knows"
