"""Fetches pages: one request for each URL whose turn it is, one message for each thing it causes.

Invariant: every `Due` comes back as exactly one answer, by `ended`. With a header it is a page too,
also of a redirect (whose target goes back to the filter), unless it gets another attempt.
What an earlier round stored whole is asked for conditionally, and compared when it comes.
Leaves to others: the permit and the network (the fetcher), when to try again (frontier).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from agent.modules.limits import CrawlLimits
from agent.modules.redirect_chain import cookies_for, next_step
from agent.modules.request import RequestModule, redirect_target
from agent.modules.retry import UNTOUCHED, gets_another_attempt
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.messages.hosts import pinned
from agent.pipeline.messages.pages import Earlier, Fetched, Links
from agent.pipeline.messages.requests import Due, FetchAnswer, FetchRequest
from agent.pipeline.ports import EarlierCaptures, Fetcher
from shared.archive.capture import (
    IDENTICAL_PAYLOAD,
    NOT_MODIFIED,
    Capture,
    Revisit,
    RevisitProfile,
)

__all__ = ["Fetch"]


class Fetch(RequestModule):
    """The module `fetch`."""

    def __init__(
        self,
        fetcher: Fetcher,
        limits: CrawlLimits,
        done: Callable[[FetchAnswer], None],
        earlier: EarlierCaptures | None = None,
    ) -> None:
        """earlier: None: whatever comes is stored whole."""
        super().__init__(fetcher, limits, done)
        self._earlier = earlier

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "due": Input(Due, self.handle_due),
            "answer": Input(FetchAnswer, self.handle_answer),
        }

    def handle_due(self, batch: Sequence[Due]) -> Iterable[Output]:
        """Start the requests of URLs whose turn it is."""
        start, done, most = self._fetcher.start, self._done, self._limits.body_bytes
        self.in_flight += len(batch)
        for due in batch:
            cookies = cookies_for(due.chain, due.url)
            known = None if self._earlier is None else self._known(due, cookies)
            address = pinned(due.address)
            start(FetchRequest(due.url, address, most, False, known, due, cookies), done)
        return ()

    def _known(self, due: Due, cookies: str) -> Earlier | None:
        """Return a URL's earlier capture; only a crawl does without bodies that are known.

        With cookies another body may come than the known one.
        """
        assert self._earlier is not None
        known = self._earlier.look_up(due.host, due.url)
        if known is None or (due.kind == "crawl" and not cookies):
            return known
        return replace(known, etag="", modified="")

    def handle_answer(self, batch: Sequence[FetchAnswer]) -> Iterator[Output]:
        """Send the end of each request, its page, and the target of its redirect."""
        retries = self._limits.retries
        self.in_flight -= len(batch)
        for answer in batch:
            yield "ended", answer
            if answer.capture is None or answer.outcome in UNTOUCHED:
                continue
            due = answer.request.due
            assert isinstance(due, Due)
            if gets_another_attempt(answer.outcome, answer.status, due.attempt, retries):
                continue
            if answer.location is not None:
                target = redirect_target(answer)
                if target is not None:
                    yield "redirect", redirected(due, answer, target)
            capture = answer.capture
            if answer.request.earlier is not None:
                capture = _compared(capture, answer.request.earlier)
            yield (
                "page",
                Fetched(
                    *(capture, due.url, due.host, due.address, due.job, due.depth, due.redirects),
                    link_kind=due.link_kind,
                    asks_language=self._limits.scope.has_languages,
                ),
            )


def redirected(due: Due, answer: FetchAnswer, target: str) -> Links:
    """Return a redirect as a link to its target, with the cookies of its chain."""
    assert answer.capture is not None
    header, now_ms = answer.capture.response_header, answer.started_epoch_ms
    led_from = due.referer if due.redirects else None
    step = next_step(due.chain, due.url, header, target, now_ms, led_from)
    hops = due.redirects + 1
    return Links(
        *((target,), due.url, due.job, due.depth, hops),
        chain=step.text,
        again=step.again,
        kinds=bytes((due.link_kind,)),
        is_embedded=True,  # the target lies as near as this
    )


def _compared(capture: Capture, earlier: Earlier) -> Capture:
    """Return a capture that refers to the earlier one, as the server says or the body may show."""
    if capture.truncated is not None:
        return capture
    if capture.status == 304 and (earlier.etag or earlier.modified):
        profile: RevisitProfile = NOT_MODIFIED
    elif capture.status == 200 and capture.body:
        profile = IDENTICAL_PAYLOAD
    else:
        return capture
    body = capture.body if profile == IDENTICAL_PAYLOAD else b""
    revisit = Revisit(profile, capture.url, earlier.fetched_at_ms)
    return replace(capture, body=body, payload_digest=earlier.digest, revisit=revisit)
