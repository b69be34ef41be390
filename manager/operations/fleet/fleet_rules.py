"""Rules for all agents beside their sites' settings: limits of politeness, and `block_list`.

Agents hear of it by sync, within minutes, and go by the stricter of both (`shared.wire.sync`,
Settings). See ADR 128.
"""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import fleet_rules
from manager.db.fleet.fleet_rules import BlockedRow, LimitsRow
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from shared.errors import FormatError
from shared.frozen import frozen
from shared.wire.sync import SendingLimits, Settings

__all__ = [
    "BlockedRow",
    "FleetRules",
    "LimitsRow",
    "as_shown",
    "check_limits",
    "fleet_rules_of",
    "set_limits",
    "settings_for",
]

INTERVAL_MOST_S: Final = 3600.0

HOSTS_MOST: Final = 1_000_000

LEAST_BYTES_PER_S: Final = 10_000


@frozen
class FleetRules:
    """Limits for all agents."""

    blocked: list[BlockedRow]
    limits: LimitsRow


def fleet_rules_of(db: Database) -> FleetRules:
    """Return the block list and the limits."""
    with db.read() as tx:
        return FleetRules(fleet_rules.blocked(tx), fleet_rules.limits(tx))


def as_shown(limits: LimitsRow) -> str:
    """Return limits as a form carries them that was made while they held."""
    return json.dumps(astuple(limits))


def check_limits(asked: LimitsRow) -> None:
    """Refuse limits that make no sense. Raises FormatError."""
    if asked.interval_s is not None and not 0 <= asked.interval_s <= INTERVAL_MOST_S:
        raise FormatError(
            "fleet.interval_range", value=asked.interval_s, most=INTERVAL_MOST_S
        ).about("interval_s")
    if asked.parallel_hosts is not None and not 1 <= asked.parallel_hosts <= HOSTS_MOST:
        raise FormatError(
            "fleet.parallel_hosts_range", value=asked.parallel_hosts, most=HOSTS_MOST
        ).about("parallel_hosts")
    if asked.bytes_per_s is not None and not LEAST_BYTES_PER_S <= asked.bytes_per_s < 2**53:
        raise FormatError(
            "fleet.bytes_per_s_too_low", value=asked.bytes_per_s, least=LEAST_BYTES_PER_S
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
            raise ConflictError("fleet.limits_changed")
        fleet_rules.set_limits(tx, asked)
        note(
            tx,
            now_ms,
            actor,
            "fleet.set-limits",
            "",
            interval_s=asked.interval_s,
            parallel_hosts=asked.parallel_hosts,
            bytes_per_s=asked.bytes_per_s,
        )


def settings_for(tx: Transaction, sending: SendingLimits | None) -> Settings:
    """Return what an agent is asked to keep to. sending: its own, of how it may send segments."""
    limits = fleet_rules.limits(tx)
    patterns = tuple(row.pattern for row in fleet_rules.blocked(tx))
    return Settings(
        interval_s=limits.interval_s,
        parallel_hosts=limits.parallel_hosts,
        bytes_per_s=limits.bytes_per_s,
        blocked=patterns or None,
        sending=sending,
    )
