"""Pages go to the workers and come back as links and records."""

from __future__ import annotations

from agent.modules.parse import Parse
from agent.pipeline.messages import Fetched, Links
from agent.pipeline.ports import PageWork
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
    assert list(parse.handle("pages", [PAGE])) == []
    assert parse.at_work == 1
    worker.answer()
    outputs = list(parse.handle("answer", back))
    assert [port for port, _ in outputs] == ["links", "processed"]
    assert outputs[0][1] == Links(("http://a.example/x",), URL, 4, 3)
    assert parse.at_work == 0


def test_a_page_without_links_sends_none() -> None:
    """Most of what is no HTML leads nowhere: no empty message for it."""
    worker = FakeWorker({})
    back: list[PageWork] = []
    parse = Parse(worker, back.append)
    list(parse.handle("pages", [PAGE]))
    worker.answer()
    assert [port for port, _ in parse.handle("answer", back)] == ["processed"]
