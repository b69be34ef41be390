"""Forks what page workers come from, before this process has more than they may know.

Called first of all, with nothing but the settings: what both processes need is imported before the
fork, what only workers need after it, over there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.adapters.pages.fork_server import ForkServer, Serve
from agent.settings import Settings

__all__ = ["fork_server"]


@contextmanager
def fork_server(settings: Settings) -> Iterator[ForkServer | None]:
    """Give a fork server while an agent runs; None where there are no workers, or no room."""
    opened = None
    if settings.pages.workers:
        try:
            opened = ForkServer.open(_prepare)
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
