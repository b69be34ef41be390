"""The work on pages, without another process."""

from __future__ import annotations

from functools import partial

from agent.adapters.pages import InlinePages
from agent.modules.page.work import PageLimits, work_on
from agent.pipeline.messages import Fetched
from agent.pipeline.ports import PageWork
from shared.archive.capture import Capture

URL = "http://a.example/"


def test_the_work_is_done_at_once() -> None:
    """The outcome is there before `start` returns."""
    header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    capture = Capture(URL, 0, b"", header, b"<a href=x>")
    page = Fetched(capture, URL, "http://a.example:80/", "192.0.2.1", job=1, depth=0, redirects=0)
    results: list[PageWork] = []
    worker = InlinePages(partial(work_on, limits=PageLimits(agent_token="prsm")))
    worker.start(page, results.append)
    assert [work.links.urls for work in results] == [("http://a.example/x",)]
