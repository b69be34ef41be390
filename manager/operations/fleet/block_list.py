"""The block list: RE2 expressions of URLs that no agent fetches.

A line is looked for anywhere in a URL as agents write it. Invariant: only lines that an agent
understands are stored, and few enough that every sync can carry them. See ADR 128.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import re2

from manager.db.engine import Database
from manager.db.fleet import fleet_rules
from manager.db.fleet.fleet_rules import BlockedRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from shared.errors import FormatError, about_field
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import canonical

__all__ = ["Tried", "add_blocked", "remove_blocked", "try_url"]

LINES_MOST: Final = 500
LINE_MOST: Final = 1000
TEXT_MOST: Final = 64_000
"""All lines together: each sync of each agent carries them."""

REASON_MOST: Final = 500


@frozen
class Tried:
    """A URL as agents write it, and the lines that block it."""

    url: str
    blocked_by: list[BlockedRow]


def add_blocked(db: Database, text: str, reason: str, actor: Actor, now_ms: int) -> int:
    """Add lines, one an expression; return how many are new. Either all are taken or none.

    Empty lines, and lines that begin with `#`, are passed over. Raises FormatError (no RE2, with
    its line and what is wrong; too long), ConflictError (too many).
    """
    with about_field("text"):
        asked = _read_lines(text)
    if len(reason) > REASON_MOST:
        too_long = FormatError("general.reason_too_long", length=len(reason), most=REASON_MOST)
        raise too_long.about("reason")
    with db.write() as tx:
        held = [row.pattern for row in fleet_rules.blocked(tx)]
        new = [pattern for pattern in dict.fromkeys(asked) if pattern not in held]
        if len(held) + len(new) > LINES_MOST:
            raise ConflictError(
                "fleet.block_list_too_long", present=len(held), new=len(new), most=LINES_MOST
            ).about("text")
        size = sum(len(pattern.encode()) for pattern in [*held, *new])
        if size > TEXT_MOST:
            too_large = ConflictError("fleet.block_list_too_large", size=size, most=TEXT_MOST)
            raise too_large.about("text")
        if new:
            fleet_rules.add_blocked(tx, new, reason.strip(), actor.name, now_ms)
            note(tx, now_ms, actor, "fleet.block", "", patterns=new[:20], lines=len(new),
                 reason=reason.strip())  # fmt: skip
    return len(new)


def remove_blocked(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Take a line out of the block list. Raises NotFoundError."""
    with db.write() as tx:
        row = fleet_rules.remove_blocked(tx, number, actor.name, now_ms)
        if row is None:
            raise NotFoundError("fleet.no_such_line", line=number, see="fleet")
        note(tx, now_ms, actor, "fleet.unblock", "", pattern=row.pattern)


def try_url(db: Database, text: str, pattern: str = "") -> Tried:
    """Return which lines block a URL or a host. Raises FormatError, UrlError.

    pattern: try this expression alone, which need not be on the list.
    """
    url = canonical(text.strip() if "://" in text else f"http://{text.strip()}")
    if pattern:
        row = BlockedRow(0, pattern, "", "", 0)
        return Tried(
            url,
            [row] if _compiled(pattern, Message("fleet.not_re2_expression")).search(url) else [],
        )
    with db.read() as tx:
        rows = fleet_rules.blocked(tx)
    where = Message("fleet.not_re2_stored_line")
    return Tried(url, [row for row in rows if _compiled(row.pattern, where).search(url)])


def _read_lines(text: str) -> Sequence[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        if len(pattern) > LINE_MOST:
            raise FormatError(
                "fleet.block_list_pattern_too_long",
                line=number,
                length=len(pattern),
                most=LINE_MOST,
            )
        if _compiled(pattern, Message("fleet.not_re2_line", line=number)).search(""):
            raise FormatError("fleet.blocks_everything", line=number, pattern=pattern[:80])
        found.append(pattern)
    if not found:
        raise FormatError("fleet.block_list_empty")
    return found


def _compiled(pattern: str, where: Message) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise FormatError(
            "fleet.not_re2",
            where=where,
            pattern=pattern[:80],
            problem=words[:200],
            remedy=_remedy(words),
        ).about("text") from error


def _remedy(words: str) -> Message:
    """Return the remedy for an expression that RE2 refuses."""
    if "perl operator" in words:
        return Message("fleet.re2_look_around")
    if "missing )" in words or "unexpected )" in words:
        return Message("fleet.re2_brackets")
    if "repetition" in words:
        return Message("fleet.re2_repetition")
    if "character class" in words or "missing ]" in words:
        return Message("fleet.re2_character_class")
    if "escape" in words or "trailing" in words:
        return Message("fleet.re2_escape")
    return Message("fleet.re2_syntax")
