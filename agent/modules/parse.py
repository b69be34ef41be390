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
from typing import Final, cast

from agent.pipeline.messages import Fetched, Links
from agent.pipeline.ports import PageWork, PageWorker
from agent.pipeline.spec import Output
from shared.frozen import frozen

__all__ = ["Parse"]


PORTION: Final = 1000  # links


@frozen
class _Rest:
    """A page whose links up to `sent` have left."""

    work: PageWork
    sent: int


class Parse:
    """The module `parse`."""

    def __init__(self, worker: PageWorker, done: Callable[[object], None]) -> None:
        """Take the door to the page workers.

        done: where their work goes, and what is left of it, to arrive at the input `answer`.
        """
        self._worker = worker
        self._done = done
        self.at_work = 0

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take fetched pages, or the results of their processing."""
        if port == "answer":
            return self._answers(cast("Sequence[PageWork | _Rest]", batch))
        for page in cast(Sequence[Fetched], batch):
            self.at_work += 1
            self._worker.start(page, self._done)
        return ()

    def _answers(self, batch: Sequence[PageWork | _Rest]) -> Iterator[Output]:
        for one in batch:
            work, sent = (one.work, one.sent) if isinstance(one, _Rest) else (one, 0)
            links = work.links
            left = len(links.urls) - sent
            if left > PORTION:
                yield "links", _portion(links, sent, sent + PORTION)
                self._done(_Rest(work, sent + PORTION))
                continue
            self.at_work -= 1
            if left or _is_seen(work):
                yield "links", _portion(links, sent, None) if sent else links
            yield "processed", work.processed


def _portion(links: Links, begin: int, end: int | None) -> Links:
    return replace(links, urls=links.urls[begin:end], kinds=links.kinds[begin:end])


def _is_seen(work: PageWork) -> bool:
    """Return whether a page without links is one that the site gave as a page."""
    processed = work.processed
    status = processed.encoded.entry.status
    return status is not None and 200 <= status <= 299 and not processed.is_rules
