"""Runs the work on pages in this process, at once.

The loop waits for it: a page of 45 KB takes about a millisecond, and a page that was built to
stop its reader stops the crawl. So this is for machines that are too small for a second process.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.pipeline.messages.pages import Fetched, PageWork

__all__ = ["InlinePages"]


class InlinePages:
    """Fulfils `agent.pipeline.ports.PageWorker` without another process."""

    crowded = False  # nothing ever waits

    def __init__(
        self, work: Callable[[Fetched, str], PageWork], remark: Callable[[str, str], None]
    ) -> None:
        """work: pure; its text is why a page is only archived, "": it is read.

        remark: takes (what went wrong, the page's URL), for the status.
        """
        self._work = work
        self._remark = remark

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Do the work on a page; `done` is called before this returns."""
        try:
            work = self._work(page, "")
        except Exception as error:  # noqa: BLE001  # a defect of ours costs one page's links
            reason = f"parse-error: {type(error).__name__}"
            self._remark(f"pages not read: {reason}", page.url)
            work = self._work(page, reason)
        done(work)

    def close(self) -> None:
        """Nothing is kept."""
