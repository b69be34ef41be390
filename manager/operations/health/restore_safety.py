"""Safety after a restore: orders to agents since the backup are unknown, and must do no harm.

An agent may hold a list and a permit that the restored database has never heard of. So all rights
are free in it; lists, permits and rounds are numbered beyond whatever there may have been since;
and nothing is granted (`clock.held_until`) until the longest permit that may have been given is
over. Invariant: no right is granted while an agent may still be fetching by a list from before.
"""

from __future__ import annotations

from typing import Final

from manager.db.archive import archive_withdrawals, selection_jobs
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.identity import join_tokens, leadership
from manager.db.logs import reports
from manager.db.ownership import rights
from manager.db.people import api_tokens, users
from manager.db.rounds import rounds, tick_clock
from manager.db.segments import transfers
from manager.operations.actor import Actor, note
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["files_in_use", "longest_permit_ms", "make_safe"]

ROUNDS: Final = 1_000
"""How many rounds there may have been since a backup."""

LEAP: Final = 1_000_000
"""How many lists or permits of one agent there may have been since a backup: one a tick, for two
months."""


WEEKS_MS: Final = 32 * 24 * 3_600_000
"""Longer is none of ours: the settings allow 30 days."""


def files_in_use(tx: Transaction) -> list[str]:
    """Return the files that rows name, as paths below the folder of kept files."""
    keys = archive_withdrawals.keys_in_use(tx)
    return [
        *(path for path in reports.all_paths(tx) if path),
        *(f"archive/segments/{key}" for key in keys),
        *(f"archive/index/{key.removesuffix('.warc.gz')}.parquet" for key in keys),
        *(f"incoming/{key}.warc.gz" for key in transfers.received_keys(tx)),
    ]


def longest_permit_ms(tx: Transaction, policy: Policy) -> int:
    """Return how long the longest permit lasts that agents have or are given, at the manager."""
    everybody = [row for row in agents.all_agents(tx) if row.retired_ms is None]
    given = [row.permit_until_ms - (row.permit_set_ms or 0) for row in everybody]
    lasting_s = policy.permit_s
    if any(row.is_plain for row in everybody):
        lasting_s = max(lasting_s, policy.plain_permit_s)
    # As `Permit.renew` counts: a gap before it, and one behind it.
    counted_ms = round((lasting_s + 2 * policy.max_tick_gap_s) * 1000)
    return max([counted_ms, *(ms for ms in given if ms < WEEKS_MS)])


def make_safe(tx: Transaction, actor: Actor, made_ms: int, held_until_ms: int, now_ms: int) -> None:
    """Make a database that was just restored safe to continue with.

    made_ms: when the backup was made. held_until_ms: when all permits are over that were given
    since, by a manager that has ended.
    """
    for row in agents.all_agents(tx):
        rights.free(tx, now_ms, Message("general.manager_restored"), agent_id=row.id)
        agents.update(
            tx,
            row.id,
            generation=row.generation + LEAP,
            fence_generation=row.generation + LEAP,
            permit_epoch=row.permit_epoch + LEAP,
            permit_until_ms=0,
            rejoined=False,
            list_changed=False,
            list_outrun=False,
            log_since_list=False,
        )
    last_ms = tick_clock.last_tick(tx)
    if last_ms is not None:
        # As after an outage: no agent is late because the manager was away.
        tick_clock.move_deadlines(tx, now_ms - last_ms)
        tick_clock.set_last_tick(tx, now_ms, tick_clock.last_epoch(tx))
    _renumber_rounds(tx)
    tick_clock.hold(tx, held_until_ms)
    leadership.vacate(tx)
    users.end_sessions(tx)
    api_tokens.revoke_all(tx, now_ms)  # one that was revoked since would open again
    join_tokens.expire(tx, now_ms)
    transfers.expire_receiving(tx, now_ms, Message("general.manager_restored"))
    selection_jobs.lose_results(tx, Message("archive.manager_restored"))
    note(
        tx,
        now_ms,
        actor,
        "manager.restore",
        "",
        alert=True,
        backup_ms=made_ms,
        held_until_ms=held_until_ms,
    )


def _renumber_rounds(tx: Transaction) -> None:
    """Renumber the open round, and those to come, beyond any that agents may have worked in.

    An agent never fetches again what it has finished in a round.
    """
    beyond = max(rounds.last_number(tx), tick_clock.rounds_from(tx)) + ROUNDS
    tick_clock.number_rounds_from(tx, beyond)
    live = rounds.live_numbers(tx)
    for place, number in reversed(list(enumerate(live))):
        rounds.renumber(tx, number, beyond + place)
    rights.begin_anew(tx)
    tick_clock.number_rounds_from(tx, beyond + max(0, len(live) - 1))
