"""Agents and how they join, rules for all of them, and the clock."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import (
    Whole,
    count,
    flag,
    identity,
    message,
    metadata,
    moment,
    one_of,
    only_row,
    partial_index,
    retired,
    text,
)

__all__ = ["agents", "blocked_urls", "clock", "fleet_limits", "join_tokens"]

join_tokens: Final = sa.Table(
    "join_tokens",
    metadata,
    identity(),
    text("token_hash", unique=True),
    text("agent"),  # the name it is bound to; the agent's row comes with enrolment
    text("issued_by"),
    moment("issued_ms", required=True),
    moment("expires_ms", required=True),
    moment("consumed_ms"),
    text("consumed_key_hash", required=False),
    sa.Index(None, "agent"),
)

agents: Final = sa.Table(
    "agents",
    metadata,
    identity(),
    text("name", unique=True),
    text("kind"),
    text("key_hash", required=False, unique=True),  # NULL: retired, or never enrolled
    moment("joined_ms", required=True),
    flag("subscribed", start=True),
    moment("retired_ms"),
    moment("lost_ms"),  # its work was given to others then; NULL again with the next contact
    # What it last said, and when.
    moment("last_contact_ms"),
    text("last_contact"),
    moment("last_work_ms"),
    moment("promised_ms"),  # when it means to call again, by the manager's clock
    text("boot_id"),
    count("sequence"),
    sa.Column("clone_ms", Whole),  # retired
    message("clone_reason"),
    text("version"),
    text("state"),
    message("state_reason"),
    count("skew_ms"),  # its clock minus the manager's
    sa.Column("disk_free_bytes", Whole),
    text("capacity"),  # JSON, as it came with the last sync that said it; empty: it never did
    count("reports_waiting"),
    text("counters"),  # JSON, as it came with the last sync
    message("update_result"),
    count("round_held"),
    # Its list: see rights.
    count("generation", start=1),
    count("generation_held"),
    count("fence_generation"),  # no permit for a list older than this
    flag("list_changed"),  # rights were given or withdrawn since the generation was raised
    flag("list_outrun"),  # units were finished since: the next M1 is a new generation
    moment("list_sent_ms"),
    count("list_sent_generation"),
    flag("log_since_list"),  # plain agents: a log came after the list
    flag("says_finished"),  # plain agents: a log had `#Finished=`
    sa.Column("list_limit", Whole),  # pages a unit of its next list, 0: all, NULL: no order
    sa.Column("shared_held", Whole),  # change of address rules it heard of; NULL: knows none
    # Its permit.
    count("permit_epoch"),
    flag("returned"),  # was lost or had left, and its units were not looked for yet
    flag("rejoined"),  # a new key, and the permit of the one before is not over yet
    moment("permit_set_ms"),
    count("permit_until_ms"),
    # What it is estimated to cost it to fetch what it owns, ms; exact after each plan.
    sa.Column("load_ms", sa.Float(), nullable=False, default=0.0, server_default="0"),
    # Sick, or a liar: since when and why; see `operations.measurement.agent_verdicts`.
    moment("suspect_since_ms"),
    message("suspect_reason"),
    text(
        "doubts"
    ),  # JSON: when its claims are not believed, and why; see `operations.measurement.claims`
    count("believed_age"),  # up to here a person believes its claims ...
    count("history_age"),  # ... and what it claimed before this is no measure of them
    # Where it may be fetched from, if it serves its segments (`prs serve`).
    text("serving_url"),
    text("serving_fingerprint"),  # SHA-256 of its certificate, hexadecimal
    text("renamed_settings"),  # JSON: settings that its site gives by old names
    # Its position in degrees, for the map; NULL: unknown.
    sa.Column("latitude", sa.Float()),
    sa.Column("longitude", sa.Float()),
    text("sending"),  # JSON: how fast and when it may send segments; empty: as its site says
    # Refetches: whether it supports them, and the results of its pages.
    flag("refetches"),
    flag("reopens"),  # it can continue a unit that it finished, in the same round
    flag("unit_rounds"),  # its list may name a round of each unit (`#UnitRound=`)
    count("refetch_round"),
    count("refetch_compared"),
    count("refetch_contradicted"),
    # What it is to do.
    moment("restart_ordered_ms"),
    moment("restart_handled_ms"),
    moment("restart_asked_ms"),
    text("command_id"),
    text("command"),
    text("command_argument"),
    moment("command_ordered_ms"),
    moment("command_done_ms"),
    # Discoveries of one day, counted against the limit.
    count("discovered_day"),
    count("discovered"),
    one_of("kind", "sync", "plain"),
    partial_index("ix_agents_doubts", "id", where="doubts <> ''"),
)

clock: Final = sa.Table(
    "clock",
    metadata,
    *only_row(),
    moment("last_tick_ms"),
    count("ticks"),
    count("epoch"),  # of the leader whose tick that was
    count("rounds_from"),  # after a restore new rounds have greater numbers
    count("held_until_ms"),  # after a restore no rights are given out before
    retired("quiet_until_ms"),
    count("watched_report"),  # the newest report by which agents were judged
)

# Lines of the block list, as history: one that was removed keeps its row.
blocked_urls: Final = sa.Table(
    "blocked_urls",
    metadata,
    identity(),
    text("pattern"),  # RE2, anywhere in a URL
    text("reason"),
    text("added_by"),
    moment("added_ms", required=True),
    text("removed_by"),
    moment("removed_ms"),
)

# One row at most; NULL: no wish, each site goes by its own settings.
fleet_limits: Final = sa.Table(
    "fleet_limits",
    metadata,
    *only_row(),
    sa.Column("interval_s", sa.Float()),
    sa.Column("parallel_hosts", Whole),
    sa.Column("bytes_per_s", Whole),
)
