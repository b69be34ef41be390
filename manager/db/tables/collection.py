"""Collection: uploads under way and done, when agents are to send, and the orders to do so."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import (
    Whole,
    count,
    identity,
    message,
    metadata,
    moment,
    one_of,
    text,
)

__all__ = ["collection_orders", "collection_schedules", "transfers"]

# A row for each file that an agent began to send, by whatever way; kept as the log of transfers.
transfers: Final = sa.Table(
    "transfers",
    metadata,
    identity(),
    text("key", unique=True),  # in the upload's URL; unguessable
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    text("filename"),
    text("sha256"),
    count("size_bytes"),
    sa.Column("blocks", sa.LargeBinary()),  # digests as sent; NULL: none
    text("way"),
    text("state"),
    text("gaps"),  # JSON: ranges [start, end) that are missing
    count("received_bytes"),  # with all that came twice
    count("checks"),  # how often the whole was verified
    count("breaks"),  # requests that ended before their body
    sa.Column("order_id", Whole),
    text("source"),  # JSON of a pull: where, until when, by which token; empty once it is over
    moment("next_try_ms"),  # of a pull
    count("tries"),
    moment("begun_ms", required=True),
    moment("changed_ms", required=True),
    moment("received_ms"),
    moment("ended_ms"),
    message("result"),
    one_of("way", "push", "pull"),
    one_of(
        "state",
        *("receiving", "received", "accepted", "quarantined", "refused", "cancelled", "expired"),
    ),
    sa.Index(None, "agent_id", "sha256"),
    sa.Index(None, "state", "changed_ms"),
    sa.Index(None, "begun_ms"),
)

collection_schedules: Final = sa.Table(
    "collection_schedules",
    metadata,
    identity(),
    # NULL: all agents without their own schedule.
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id")),
    text("crontab"),
    text("zone"),
    text("condition"),
    text("way"),
    moment("from_ms"),
    moment("until_ms"),
    text("made_by"),
    moment("made_ms", required=True),
    moment("next_ms", required=True),
    moment("last_ms"),
    message("last_result"),
    one_of("condition", "full", "difference", "since", "period"),
    one_of("way", "push", "pull"),
)

collection_orders: Final = sa.Table(
    "collection_orders",
    metadata,
    identity(),
    sa.Column("agent_id", Whole, sa.ForeignKey("agents.id"), nullable=False),
    sa.Column("schedule_id", Whole),  # NULL: a person asked
    text("condition"),
    text("way"),
    moment("from_ms"),
    moment("until_ms"),
    text("made_by"),
    moment("made_ms", required=True),
    text("state"),
    count("tries"),
    moment("next_try_ms"),
    count("segments"),  # as the agent counted them
    count("sent_bytes"),
    moment("reported_ms"),
    moment("ended_ms"),
    message("result"),
    one_of("condition", "full", "difference", "since", "period"),
    one_of("way", "push", "pull"),
    one_of("state", "open", "done", "failed", "cancelled"),
    sa.Index(None, "agent_id", "state"),
    sa.Index(None, "made_ms"),
)
