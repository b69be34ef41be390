"""A page worker: as a program, `python -m agent.app.page_worker`, or forked by a nursery.

The agent starts it, nobody else.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.adapters.pages.child import Work, files_told, serve
from agent.adapters.pages.launching import Files
from agent.modules.page.limits import PageLimits
from agent.modules.page.work import work_on

__all__ = ["be_worker", "main"]


def main() -> None:
    """Work on pages until the agent ends."""
    be_worker(files_told())


def be_worker(files: Files) -> None:
    """Work on the pages that come by these files."""
    serve(_work, files)


def _work(limits: dict[str, Any]) -> Work:
    return partial(_work_on, PageLimits(**limits))


def _work_on(limits: PageLimits, page: Any, unread: str) -> Any:
    return work_on(page, limits, unread)


if __name__ == "__main__":
    main()
