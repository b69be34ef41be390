"""Verification of the kept files: passes over all of them, and the problems that were found."""

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
    retired,
    text,
)

__all__ = ["file_problems", "scrubs"]

# Passes over all kept files. A restarted manager continues after the cursor.
scrubs: Final = sa.Table(
    "scrubs",
    metadata,
    identity(),
    moment("begun_ms", required=True),
    moment("ended_ms"),
    retired("asked_by", sa.Text()),
    text("cursor"),  # KIND:ID of the last row whose files were read
    count("total_files"),
    count("total_bytes"),
    count("files"),
    count("bytes"),
    count("problems"),
)

# Kept files that are missing or damaged, one row each; ended_ms: it is whole again, or not needed.
file_problems: Final = sa.Table(
    "file_problems",
    metadata,
    identity(),
    text("kind"),
    text("place"),  # its path below the kept files, or its key in the object store
    text("subject"),  # the name by which people know it
    text("problem"),
    message("detail"),
    sa.Column("segment_id", Whole, sa.ForeignKey("segments.id")),
    moment("found_ms", required=True),
    moment("seen_ms", required=True),
    sa.Column("order_id", Whole),  # by which its agent was asked for it
    moment("asked_ms"),
    text("answer"),  # a word: why the agent cannot be asked, or the result
    moment("ended_ms"),
    sa.UniqueConstraint("kind", "place"),
    sa.Index(None, "ended_ms"),
    sa.Index(None, "segment_id"),
)
