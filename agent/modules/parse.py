"""Has pages decoded, parsed and compressed, and hands on their links before their records.

Invariant: links leave before the page that holds them, so that a page is kept only when what it
leads to is entered in the queues.
Leaves to others: everything about a page's bytes (the page worker, which may be a process).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from agent.pipeline.messages import Fetched
from agent.pipeline.ports import PageWork, PageWorker
from agent.pipeline.spec import Output

__all__ = ["Parse"]


class Parse:
    """The module `parse`."""

    def __init__(self, worker: PageWorker, done: Callable[[PageWork], None]) -> None:
        """Take the door to the page workers.

        done: where their work goes, to arrive at the input `answer`.
        """
        self._worker = worker
        self._done = done
        self.at_work = 0

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take fetched pages, or what became of them."""
        if port == "answer":
            return self._answers(cast(Sequence[PageWork], batch))
        for page in cast(Sequence[Fetched], batch):
            self.at_work += 1
            self._worker.start(page, self._done)
        return ()

    def _answers(self, batch: Sequence[PageWork]) -> Iterator[Output]:
        for work in batch:
            self.at_work -= 1
            if work.links.urls:
                yield "links", work.links
            yield "processed", work.processed
