"""A page worker: as a program, `python -m agent.app.startup.page_worker`, or a fork of one.

Only the agent starts it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.adapters.pages.child import Work, files_from_arguments, serve
from agent.adapters.pages.worker_start import Files
from agent.modules.limits import PageLimits
from agent.modules.page.work import PageRead, finished, read
from agent.pipeline.messages.pages import Fetched

__all__ = ["be_worker", "main"]


def main() -> None:
    """Work on pages until the agent ends."""
    be_worker(files_from_arguments())


def be_worker(files: Files) -> None:
    """Work on the pages that come by these files."""
    serve(_work, files)


def _work(limits: dict[str, Any]) -> Work[PageRead]:
    return Work(partial(_read, PageLimits(**limits)), finished)


def _read(limits: PageLimits, page: Fetched, unread: str) -> PageRead:
    return read(page, limits, unread)


if __name__ == "__main__":
    main()
