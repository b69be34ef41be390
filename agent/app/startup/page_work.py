"""Page work: in worker processes, or in this one where the settings say so."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Final

from agent.adapters.body_memory import BodyMemory
from agent.adapters.pages.fork_server import ForkServer
from agent.adapters.pages.inline import InlinePages
from agent.adapters.pages.pool import WorkerPages
from agent.adapters.pages.worker_start import Files, Launch, Launched, by_command
from agent.app.startup.settings_mapping import page_limits, worker_options
from agent.pipeline.messages.pages import Fetched, PageWork
from agent.pipeline.ports import PageWorker
from agent.settings import Settings

__all__ = ["page_worker"]

_PROGRAM: Final = "agent.app.startup.page_worker"


def page_worker(
    settings: Settings,
    remark: Callable[[str, str], None],
    fork_server: ForkServer | None = None,
    held: BodyMemory | None = None,
) -> PageWorker:
    """Return what works on pages; made inside a running event loop.

    remark: takes (what went wrong, an example), for the status. fork_server: forks workers, as
    long as it can; without it they are started as programs. held: where waiting pages are counted.
    """
    limits, options = page_limits(settings), worker_options(settings)

    def work(page: Fetched, unread: str) -> PageWork:
        # The parser and all that belongs to it: with worker processes it is never needed here.
        from agent.modules.page.work import work_on  # noqa: PLC0415

        return work_on(page, limits, unread)

    if options.workers == 0:
        return InlinePages(work, remark)
    told = dataclasses.asdict(limits)
    return WorkerPages(options, _launch(fork_server, remark), told, work, remark, held)


def _launch(fork_server: ForkServer | None, remark: Callable[[str, str], None]) -> Launch:
    program = by_command([sys.executable, "-P", "-m", _PROGRAM])  # whatever folder it starts in

    def launch(files: Files) -> Launched:
        if fork_server is not None and fork_server.is_open:
            try:
                return fork_server.launch(files)
            except OSError as error:
                remark("page workers that could not be forked", str(error))
        return program(files)

    return launch
