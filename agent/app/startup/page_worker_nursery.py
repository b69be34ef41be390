"""Forks what page workers come from, before this process has more than they may know.

Called first of all, with nothing but the settings: what both processes need is imported before the
fork, what only workers need after it, over there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.adapters.pages.nursery import Nursery, Serve
from agent.settings import Settings

__all__ = ["nursery"]


@contextmanager
def nursery(settings: Settings) -> Iterator[Nursery | None]:
    """Give a nursery for as long as an agent runs; None where there are no workers, or no room."""
    opened = None
    if settings.pages.workers:
        try:
            opened = Nursery.open(_prepare)
        except OSError:  # then workers are started as programs, or wait until they can be
            opened = None
    try:
        yield opened
    finally:
        if opened is not None:
            opened.close()


def _prepare() -> Serve:
    from agent.app.startup.page_worker import be_worker  # noqa: PLC0415  # over there only

    return be_worker
