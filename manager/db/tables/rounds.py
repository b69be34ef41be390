"""Rounds, the units of a round, and plans."""

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
    partial_index,
    retired,
    text,
)

__all__ = ["plan_moves", "plans", "round_link_kinds", "round_schedules", "rounds", "unit_rounds"]

rounds: Final = sa.Table(
    "rounds",
    metadata,
    sa.Column("number", Whole, primary_key=True, autoincrement=False),
    text("method"),
    text("state"),
    flag("probe"),
    count("seed"),
    text("started_by"),
    moment("started_ms", required=True),
    # Steps in which more probes were ordered than at its start; when no other was worth its pages.
    count("probe_steps"),
    moment("verified_ms"),
    moment("crawling_ms"),
    moment("finished_ms"),
    message("reason"),
    sa.Column("plan_id", Whole),
    # Greatest sum over agents of measured milliseconds, and whose it was; and what a clock showed.
    sa.Column("makespan_ms", Whole),
    text("makespan_agent"),
    sa.Column("elapsed_ms", Whole),
    sa.Column("plan_moves", sa.Float()),  # share of the units that its plan may move; NULL: policy
    moment("refetch_ms"),  # it was decided which of its pages are fetched again
    one_of("method", "default", "random", "keep", "tree", "exchange", "prices", "lp"),
    one_of("state", "probing", "crawling", "finished", "cancelled"),
    # When what is left is carried over into the next round: a moment, or a share of the units that
    # are finished; and when it was.
    moment("until_ms"),
    sa.Column("until_share", sa.Float()),
    moment("carried_ms"),
    moment("predicted_ms"),  # a person told it to plan with predictions instead of more probes
    # Its predicted end and when that was predicted: at its start, and when its crawl began. error:
    # (end - made) / (predicted - made) - 1, once it is over; NULL: not known.
    moment("eta_ms"),
    moment("eta_made_ms"),
    sa.Column("eta_error", sa.Float()),
    # Its number while the round is open (1 in rounds from before 0.4), else NULL.
    sa.Column("open", Whole, unique=True),
    partial_index("uq_rounds_probing", "state", unique=True, where="state = 'probing'"),
    sa.CheckConstraint("(open IS NOT NULL) = (state IN ('probing', 'crawling'))", name="open"),
)

# waiting: its owner has no right yet. granted: is being crawled. failed: not a single page came.
# carried: the deadline came first, and the unit continues in the next round.
unit_rounds: Final = sa.Table(
    "unit_rounds",
    metadata,
    sa.Column("round", Whole, primary_key=True),
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=True),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    text("state"),
    count("pages"),
    count("bytes"),
    count("reopened"),  # how often it continued after its end, for start pages that came later
    retired("ms"),
    moment("finished_ms"),
    moment("quiet_ms"),  # granted, and nothing of it is left; but it is a piece of a split host
    message("reason"),
    text("failure"),  # by which it failed, a code (`shared.host_failures`)
    one_of("state", "waiting", "granted", "finished", "cancelled", "failed", "carried"),
    sa.Index(None, "round", "state"),
    partial_index("ix_unit_rounds_quiet", "round", "unit_id", where="quiet_ms IS NOT NULL"),
    sa.Index(None, "agent_id", "state", "round", "unit_id"),
    sa.Index(None, "unit_id"),
)

# What each kind of links brought: URLs, their pages, and those that are not there.
round_link_kinds: Final = sa.Table(
    "round_link_kinds",
    metadata,
    sa.Column("round", Whole, primary_key=True, autoincrement=False),
    sa.Column(
        "agent_id",
        Whole,
        sa.ForeignKey("agents.id"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("kind", sa.Text(), primary_key=True),
    count("links"),
    count("pages"),
    count("missing"),
)

plans: Final = sa.Table(
    "plans",
    metadata,
    identity(),
    count("round"),
    text("method"),
    count("seed"),
    text("made_by"),
    moment("made_ms", required=True),
    moment("applied_ms"),
    count("units"),
    count("moves"),
    sa.Column("before_ms", sa.Float()),
    sa.Column("makespan_ms", sa.Float()),
    sa.Column("bound_ms", sa.Float()),
    sa.Column("undoes", Whole),  # the plan that this one gives back
    text("detail"),  # JSON: cost and units of each agent before and after, the tree
    sa.Index(None, "undoes"),
)

plan_moves: Final = sa.Table(
    "plan_moves",
    metadata,
    sa.Column("plan_id", Whole, sa.ForeignKey("plans.id"), primary_key=True),
    sa.Column("unit_id", Whole, sa.ForeignKey("units.id"), primary_key=True),
    sa.Column("from_agent", Whole),
    sa.Column("to_agent", Whole, nullable=False),
    sa.Column("from_ms", sa.Float()),
    sa.Column("to_ms", sa.Float()),
)

# Rounds that begin by the clock.
round_schedules: Final = sa.Table(
    "round_schedules",
    metadata,
    identity(),
    text("crontab"),
    text("zone"),
    text("method"),
    flag("probe", start=True),
    sa.Column("plan_moves", sa.Float()),  # of its rounds
    sa.Column("until_s", Whole),  # its rounds have a deadline, so long after they begin
    sa.Column("until_share", sa.Float()),
    text("made_by"),
    moment("made_ms", required=True),
    moment("next_ms", required=True),
    moment("last_ms"),
    message("last_result"),  # the result of the last run
)
