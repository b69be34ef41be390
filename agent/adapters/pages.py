"""Runs the work on pages in this process, at once.

The loop waits for it: a page of 45 KB takes about a millisecond. Worker processes with limits take
its place where that is too long.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.pipeline.messages import Fetched
from agent.pipeline.ports import PageWork

__all__ = ["InlinePages"]


class InlinePages:
    """Fulfils `agent.pipeline.ports.PageWorker` without another process."""

    def __init__(self, work: Callable[[Fetched], PageWork]) -> None:
        """work: pure, as `partial(work_on, limits=...)` of `agent.modules.page.work`."""
        self._work = work

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Do the work on a page; `done` is called before this returns."""
        done(self._work(page))
