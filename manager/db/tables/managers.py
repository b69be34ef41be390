"""The installation, the managers that serve it, their leader, and alerts."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables.columns import count, identity, message, metadata, moment, only_row, text

__all__ = ["alert_silences", "alerts_told", "installation", "leader", "lease_stamps", "managers"]

# The identity of this database: its files and its agents know it by the id.
installation: Final = sa.Table(
    "installation",
    metadata,
    *only_row(),
    text("uuid"),
    moment("created_ms", required=True),
)

managers: Final = sa.Table(
    "managers",
    metadata,
    identity(),
    text("name", unique=True),  # of one process: another start is another manager
    text("place"),  # its machine and process, for people
    text("version"),
    count("beats"),  # rises while it lives
    moment("started_ms", required=True),
    moment("seen_ms", required=True),
)

leader: Final = sa.Table(
    "leader",
    metadata,
    *only_row(),
    text("holder"),  # the name of a manager; empty: none
    count("epoch"),  # rises with each change of the holder, and never falls
    moment("since_ms"),
)

# Stamps of the last signs of life on the lease of the files; a copy of the database lacks newer.
lease_stamps: Final = sa.Table(
    "lease_stamps",
    metadata,
    sa.Column("stamp", sa.Text(), primary_key=True),
    moment("written_ms", required=True),
)

# Active alerts, with the time at which each was last sent to administrators.
alerts_told: Final = sa.Table(
    "alerts_told",
    metadata,
    sa.Column("key", sa.Text(), primary_key=True),
    message("text"),
    moment("since_ms", required=True),
    moment("told_ms", required=True),
)

# Silences; key: of one alert; empty: of all alerts, which is a maintenance window.
alert_silences: Final = sa.Table(
    "alert_silences",
    metadata,
    identity(),
    text("key"),
    moment("from_ms", required=True),
    moment("until_ms", required=True),
    text("reason"),
    text("made_by"),
    moment("made_ms", required=True),
    moment("ended_ms"),  # by a person, before its time
    sa.Index(None, "until_ms"),
)
