"""Pages go to the workers and come back as links and records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.parse import Parse
from agent.pipeline.messages.pages import Fetched, Links, PageWork
from shared.archive.capture import Capture
from tests.agent.fakes import HTML, FakeWorker, Page

URL = "http://a.example/"
PAGE = Fetched(
    Capture(URL, 5, b"", HTML, b"<p>"), URL, "http://a.example:80/", "192.0.2.1", 4, 2, 0
)


def test_links_leave_before_the_page_that_holds_them() -> None:
    """A page can only be kept when what it leads to has been handed on."""
    worker = FakeWorker({URL: Page(("http://a.example/x",))})
    back: list[PageWork] = []
    parse = Parse(worker, back.append)
    assert list(parse.handle_pages([PAGE])) == []
    assert parse.at_work == 1
    worker.answer()
    outputs = list(parse.handle_answer(back))
    assert [port for port, _ in outputs] == ["links", "processed"]
    assert outputs[0][1] == Links(("http://a.example/x",), URL, 4, 3)
    assert parse.at_work == 0


@pytest.mark.parametrize(
    ("status", "is_rules", "ports"),
    [
        (200, False, ["links", "processed"]),
        (203, False, ["links", "processed"]),
        (302, False, ["processed"]),
        (404, False, ["processed"]),
        (200, True, ["processed"]),
    ],
)
def test_a_page_without_links_says_that_it_was_seen(
    status: int, is_rules: bool, ports: list[str]
) -> None:
    """Only by this are equal pages noticed; errors, redirects and rules need no such message."""
    header = HTML.replace(b"200", b"%d" % status)
    page = replace(PAGE, capture=replace(PAGE.capture, response_header=header), is_rules=is_rules)
    worker = FakeWorker({})
    back: list[PageWork] = []
    parse = Parse(worker, back.append)
    list(parse.handle_pages([page]))
    worker.answer()
    assert [port for port, _ in parse.handle_answer(back)] == ports


def test_very_many_links_leave_in_portions_before_their_page() -> None:
    """Each portion is a round of its own, none is lost, and the page comes last."""
    urls = tuple(f"http://a.example/{number}" for number in range(2500))
    worker = FakeWorker({URL: Page(urls)})
    back: list[PageWork] = []
    parse = Parse(worker, back.append)
    list(parse.handle_pages([PAGE]))
    worker.answer()
    rounds = []
    while back:
        batch, back[:] = list(back), []
        rounds.append(list(parse.handle_answer(batch)))
    assert [[port for port, _ in outputs] for outputs in rounds] == [
        ["links"],
        ["links"],
        ["links", "processed"],
    ]
    sent = [message for outputs in rounds for _, message in outputs if isinstance(message, Links)]
    assert tuple(url for links in sent for url in links.urls) == urls
    assert {(links.referer, links.from_job, links.depth) for links in sent} == {(URL, 4, 3)}
    assert parse.at_work == 0
