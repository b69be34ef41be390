"""Has pages decoded, parsed and compressed, and hands on their links before their records.

Invariant: links leave before the page that holds them, so that a page is kept only when what it
leads to is entered in the queues. The links of a page that has very many leave in portions, each
in a separate round, so that no page holds up the others. A page that leads nowhere still says by
its digest that it was seen: equal pages without links are a trap as well.
Leaves to others: everything about a page's bytes (the page worker, which may be a process).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.messages.pages import Fetched, Links, PageWork
from agent.pipeline.ports import PageWorker

__all__ = ["Parse"]


PORTION: Final = 1000  # links


class Parse:
    """The module `parse`."""

    def __init__(self, worker: PageWorker, done: Callable[[PageWork], None]) -> None:
        """Take the port of the page workers.

        done: where their work goes, and what is left of it, to arrive at the input `answer`.
        """
        self._worker = worker
        self._done = done
        self.at_work = 0

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "pages": Input(Fetched, self.handle_pages),
            "answer": Input(PageWork, self.handle_answer),
        }

    def handle_pages(self, batch: Sequence[Fetched]) -> Iterable[Output]:
        """Give fetched pages to the page workers."""
        for page in batch:
            self.at_work += 1
            self._worker.start(page, self._done)
        return ()

    def handle_answer(self, batch: Sequence[PageWork]) -> Iterator[Output]:
        """Send the links of pages, some at a time, and then the pages."""
        for work in batch:
            links = work.links
            if len(links.urls) > PORTION:
                yield "links", _portion(links, 0, PORTION)
                self._done(replace(work, links=_portion(links, PORTION, None)))
                continue
            self.at_work -= 1
            if links.urls or _is_seen(work):
                yield "links", links
            yield "processed", work.processed


def _portion(links: Links, begin: int, end: int | None) -> Links:
    return replace(links, urls=links.urls[begin:end], kinds=links.kinds[begin:end])


def _is_seen(work: PageWork) -> bool:
    """Return whether a page without links is one that the site gave as a page."""
    processed = work.processed
    status = processed.encoded.entry.status
    return status is not None and 200 <= status <= 299 and not processed.is_rules
