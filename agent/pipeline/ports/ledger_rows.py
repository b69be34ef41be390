"""Rows of the ledger: queued URLs, jobs, rests."""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages.jobs import Job
from shared.frozen import frozen

__all__ = ["LEVELS", "LEVEL_BITS", "JobRow", "OpenJob", "QueuedUrl", "Rest"]

LEVELS: Final = 4
"""Queues that a job may have; the level is in a position's highest bits (`LEVEL_BITS`)."""

LEVEL_BITS: Final = 56


@frozen
class QueuedUrl:
    """A URL on disk, waiting for its turn. `position` orders the queue of its job and level.

    level: which of the job's queues; 0 is the first to be worked off. due_ms: when it may be tried
    again, by the wall clock; 0: at once. link_kind: how it was found, as `link_kinds` has it.
    """

    position: int
    url: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    attempts: int = 0
    level: int = 0
    due_ms: int = 0
    chain: str = ""  # cookies of the redirects that led here; neither tab nor line break
    link_kind: int = 0


@frozen
class JobRow:
    """A job as the ledger remembers it over restarts."""

    job: Job
    host: str
    address: str  # "" until its host was placed
    pages: int  # dispatched, robots.txt not counted
    kept: int
    response_bytes: int
    finished: bool


@frozen
class Rest:
    """Rest of an address that is longer than usual, kept over restarts."""

    address: str
    host: str  # that was asked last
    reason: str
    strikes: int  # errors, less the successes since
    until_ms: int  # since 1970


@frozen
class OpenJob:
    """Unfinished job, with the facts that decide on its turn."""

    number: int
    address: str  # "" until its host was placed
    queued: int
    interval_ms: int
