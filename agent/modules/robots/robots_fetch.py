"""Fetches robots.txt: follows redirects under the token of each address, and keeps the answer.

Invariant: every `RulesDue` comes back as exactly one answer, by `ended`, and, but for a request
that was not sent, in either a `RulesFetched` or a redirect that will end in one.
Leaves to others: what the rules say (robots), the address of a redirect's target (resolve).
Source: RFC 9309, 2.3.1.2 (five redirects, also to other hosts), 2.5 (500 KiB).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agent.modules.page.header_fields import field_values
from agent.modules.redirect_chain import cookies_for, next_step
from agent.modules.request import REDIRECTS, RequestModule, redirect_target
from agent.modules.retry import ANSWERED, UNTOUCHED
from agent.modules.robots.robots_parser import MAX_BYTES
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.messages.hosts import pinned
from agent.pipeline.messages.pages import Fetched
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesRedirected
from shared.archive.content_coding import GZIP, decode_content, is_text
from shared.urls import host_of

__all__ = ["RulesFetch"]

NO_RULES: Final = 404  # what a robots.txt behind too many redirects counts as


class RulesFetch(RequestModule):
    """The module `rules_fetch`."""

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "due": Input(RulesDue, self.handle_due),
            "answer": Input(FetchAnswer, self.handle_answer),
        }

    def handle_due(self, batch: Sequence[RulesDue]) -> Iterable[Output]:
        """Start the requests for robots.txt."""
        for due in batch:
            self.in_flight += 1
            cookies = cookies_for(due.chain, due.url)
            address = pinned(due.address)
            request = FetchRequest(due.url, address, MAX_BYTES, True, None, due, cookies)
            self._fetcher.start(request, self._done)
        return ()

    def handle_answer(self, batch: Sequence[FetchAnswer]) -> Iterator[Output]:
        """Send the end of each request, its page, and its rules or the redirect to them."""
        for answer in batch:
            self.in_flight -= 1
            due = answer.request.due
            assert isinstance(due, RulesDue)
            yield from self._answer(due, answer)

    def _answer(self, due: RulesDue, answer: FetchAnswer) -> Iterator[Output]:
        asked = host_of(due.url)  # another host than `due.host` behind a redirect
        yield "ended", answer
        if answer.outcome in UNTOUCHED or answer.is_free_retry:
            return
        if answer.capture is not None:
            yield (
                "page",
                Fetched(answer.capture, due.url, asked, due.address, 0, 0, due.hop, is_rules=True),
            )
        target = redirect_target(answer)
        if target is not None and due.hop < self._limits.rules_hops:
            yield (
                "redirect",
                RulesRedirected(
                    due.host,
                    host_of(target),
                    target,
                    due.hop + 1,
                    due.round,
                    due.kind,
                    chain=_chain(due, answer, target),
                ),
            )
        else:
            yield "fetched", self._fetched(due, answer)

    def _fetched(self, due: RulesDue, answer: FetchAnswer) -> RulesFetched:
        capture = answer.capture
        if capture is None or answer.outcome not in ANSWERED:
            reason = answer.detail or answer.outcome
            return RulesFetched(due.host, due.address, 0, b"", reason)
        if answer.status in REDIRECTS:
            return RulesFetched(due.host, due.address, NO_RULES, b"")
        if not 200 <= answer.status <= 299:  # whatever its body is, and whether it came whole
            return RulesFetched(due.host, due.address, answer.status, b"")
        if answer.outcome == "truncated" and len(capture.body) < MAX_BYTES:
            # Half a robots.txt would allow what the other half forbids.
            return RulesFetched(due.host, due.address, 0, b"", "truncated")
        encodings = ",".join(field_values(capture.response_header, "content-encoding"))
        decoded = decode_content(capture.body, encodings, MAX_BYTES + 1)
        if not decoded.note and decoded.body.startswith(GZIP):  # a packed file, as it lies there
            decoded = decode_content(decoded.body, "gzip", MAX_BYTES + 1)
        if decoded.note and len(decoded.body) <= MAX_BYTES:
            return RulesFetched(due.host, due.address, 0, b"", decoded.note)
        if decoded.is_left and not is_text(decoded.body) and len(decoded.body) <= MAX_BYTES:
            reason = f"Content-Encoding {decoded.unknown} is not understood"
            return RulesFetched(due.host, due.address, 0, b"", reason)
        return RulesFetched(due.host, due.address, answer.status, decoded.body)


def _chain(due: RulesDue, answer: FetchAnswer, target: str) -> str:
    if answer.capture is None:
        return due.chain
    header, now_ms = answer.capture.response_header, answer.started_epoch_ms
    return next_step(due.chain, due.url, header, target, now_ms).text
