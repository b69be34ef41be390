"""The program of a page worker: `python -m agent.app.page_worker`, started by the agent only."""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.adapters.pages.child import Work, serve
from agent.modules.page.limits import PageLimits
from agent.modules.page.work import work_on

__all__ = ["main"]


def main() -> None:
    """Work on pages until the agent ends."""
    serve(_work)


def _work(limits: dict[str, Any]) -> Work:
    return partial(_work_on, PageLimits(**limits))


def _work_on(limits: PageLimits, page: Any, unread: str) -> Any:
    return work_on(page, limits, unread)


if __name__ == "__main__":
    main()
