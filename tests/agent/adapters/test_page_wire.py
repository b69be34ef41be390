"""What a worker process says is not believed further than it has its form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.adapters.pages import wire
from agent.adapters.pages.wire import batch_of, pages_in, result_of, results_in
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import PageWork
from shared.errors import FormatError
from tests.contracts.pages.case import page
from tests.contracts.pages.program import work


@pytest.mark.parametrize(
    "validators",
    [('"a"\r\nX: y', ""), ("a", ""), ("", "now"), ('"a"', "Sat, 21 Nov 2026 10:00:00 GMT\r\n")],
)
def test_validators_that_are_none_are_refused(validators: tuple[str, str]) -> None:
    """They are sent to a site in a later request: nothing else may ride on them."""
    made = work(page(1), "")
    told = replace(made, processed=replace(made.processed, validators=validators))
    with pytest.raises(FormatError, match="validators"):
        results_in(memoryview(b"".join(result_of(told))), [page(1)])


def _with_links(*urls: str) -> bytes:
    made = work(page(1), "")
    links = replace(made.links, urls=urls, kinds=bytes((LinkKind.ANCHOR,)) * len(urls))
    return b"".join(result_of(replace(made, links=links)))


@pytest.mark.parametrize("known", [True, False], ids=["after good ones", "at first"])
@pytest.mark.parametrize(
    "bad",
    ["", "x", "ftp://a.example/", "http://a.example/ b", "http://a.example/\r", "http:///x"],
)
def test_links_that_are_none_are_refused_whatever_came_before(bad: str, known: bool) -> None:
    """Good links are remembered, not the page that they were on."""
    wire._checked.clear()
    good = ("http://a.example/", "http://a.example/x?y")
    if known:
        results_in(memoryview(_with_links(*good)), [page(1)])
    for urls in ((*good, bad), (bad, *good), (bad, bad)):
        for _ in range(2):
            with pytest.raises(FormatError, match="canonical"):
                results_in(memoryview(_with_links(*urls)), [page(1)])
    assert bad not in wire._checked


@pytest.mark.parametrize("kinds", [b"", bytes((1, 0x86)), bytes((27, 0))])
def test_kinds_come_out_as_they_went_in(kinds: bytes) -> None:
    """One for each link, or none at all."""
    urls = ("http://a.example/", "http://a.example/x")
    made = work(page(1), "")
    told = replace(made, links=replace(made.links, urls=urls, kinds=kinds))
    (read,) = results_in(memoryview(b"".join(result_of(told))), [page(1)])
    assert isinstance(read, PageWork)
    assert read.links.kinds == kinds


@pytest.mark.parametrize("kinds", [bytes((1,)), bytes((1, 1, 1)), bytes((1, 28)), bytes((1, 0xFF))])
def test_kinds_that_are_none_are_refused(kinds: bytes) -> None:
    """They are written to disk and counted by name."""
    urls = ("http://a.example/", "http://a.example/x")
    made = work(page(1), "")
    told = replace(made, links=replace(made.links, urls=urls, kinds=kinds))
    with pytest.raises(FormatError, match="kind"):
        results_in(memoryview(b"".join(result_of(told))), [page(1)])


def test_few_links_are_remembered_and_no_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile site names new ones for ever, and pages of thousands of them."""
    wire._checked.clear()
    monkeypatch.setattr(wire, "MAX_CHECKED", 10)
    for number in range(50):
        urls = tuple(f"http://a.example/{number}/{one}" for one in range(number))
        urls += (f"http://a.example/{number}{'x' * 400}",)
        (made,) = results_in(memoryview(_with_links(*urls)), [page(1)])
        assert not isinstance(made, wire.Failed)
        assert made.links.urls == urls
        assert len(wire._checked) <= 10
        assert all(len(url) <= wire.MAX_CHECKED_CHARACTERS for url in wire._checked)


def test_pages_come_out_as_they_went_in() -> None:
    """Bodies follow the list of pages: each is its own page's, also those of no bytes."""
    pages = [
        (page(number, b"x" * (number % 3) * 7), "" if number % 2 else "why") for number in range(9)
    ]
    frame = b"".join(batch_of(pages))
    size, count = wire.FRAME.unpack_from(frame)
    assert (size, count) == (len(frame) - wire.FRAME.size, 9)
    assert pages_in(memoryview(frame)[wire.FRAME.size :]) == pages


@pytest.mark.parametrize("language", ["", "ja", "und"])
def test_a_language_comes_out_as_it_went_in(language: str) -> None:
    """Of the page, and whether it is asked for at all."""
    asked = replace(page(1), asks_language=bool(language))
    frame = b"".join(batch_of([(asked, "")]))
    assert pages_in(memoryview(frame)[wire.FRAME.size :]) == [(asked, "")]
    made = work(page(1), "")
    told = replace(made, links=replace(made.links, language=language))
    (read,) = results_in(memoryview(b"".join(result_of(told))), [page(1)])
    assert isinstance(read, PageWork)
    assert read.links.language == language


@pytest.mark.parametrize("language", ["x", "JA", "ja-JP", "\n", "zz"])
def test_a_language_that_is_none_is_refused(language: str) -> None:
    """Rules compare it with their codes."""
    made = work(page(1), "")
    told = replace(made, links=replace(made.links, language=language))
    with pytest.raises(FormatError, match="language"):
        results_in(memoryview(b"".join(result_of(told))), [page(1)])
