"""A page worker that gives back what it was given, as a result of usual size: it only crosses."""

from __future__ import annotations

from typing import Any

from agent.adapters.pages.child import Work, files_from_arguments, serve
from agent.modules.limits import PageLimits
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched, PageWork


def _make(told: dict[str, Any]) -> Work[PageWork]:
    known: dict[str, PageWork] = {}

    def read(page: Fetched, unread: str) -> PageWork:
        if page.url not in known:  # the first time only: the warming up before the measurement
            known[page.url] = work_on(page, PageLimits("PRS"))
        return known[page.url]

    return Work(read, lambda work: work)


if __name__ == "__main__":
    serve(_make, files_from_arguments())
