"""The page of log lines: what it shows at once, and how it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from manager.console.pages.logs import logs
from manager.db.engine import Database
from manager.operations.logs.log_filters import Wanted
from manager.operations.logs.log_lines import FoundLines, LogLines
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import SCRIPT


def test_lines_are_shown_with_their_headers(person: Visitor) -> None:
    """Each line is there, newest first; what a site sent is text, and its hidden signs are seen."""
    page = person("viewer").page("/console/logs")
    urls = [each.text for each in page.all("summary") if "evil.example.com" in each.text]
    assert len(urls) == 4
    assert "/3?" in urls[0]
    assert "⟨U+202E⟩" in urls[0]
    assert SCRIPT in page.text
    assert "HTTP/1.1 503" in page.text
    assert not [each for each in page.all("script") if "src" not in each.attributes]


@pytest.mark.parametrize(
    ("query", "count"),
    [("status=5xx", 1), ("status=bad", 3), ("host=evil.example.com&status=none", 1), ("url=/1", 1)],
)
def test_filters_live_in_the_address(person: Visitor, query: str, count: int) -> None:
    """An address shows what it says."""
    page = person("viewer").page(f"/console/logs?{query}")
    assert len([each for each in page.all("summary") if "evil" in each.text]) == count


def test_a_bad_filter_keeps_what_was_typed(person: Visitor) -> None:
    """The sentence stands beside the form."""
    answer = person("viewer").get("/console/logs?status=six&host=a.example")
    assert answer.status_code == 400
    assert "must be as 404 or 5xx" in answer.text
    assert 'value="six"' in answer.text


def test_a_search_goes_on_by_itself(person: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not searched at once asks for its next part, until all was looked at."""
    monkeypatch.setattr(logs, "FIRST_PATIENCE_S", 0.0)
    whole = LogLines.find

    def one_at_a_time(self: LogLines, db: Database, wanted: Wanted, **options: Any) -> FoundLines:
        return whole(self, db, wanted, **(options | {"most": 1}))

    monkeypatch.setattr(LogLines, "find", one_at_a_time)
    browser = person("viewer")
    page = browser.page("/console/logs?host=evil.example.com")
    assert any(link.startswith("/console/logs.csv") for link in page.links())
    seen = [each.text for each in page.all("summary") if "evil" in each.text]
    for _ in range(10):
        asks = [
            each.attributes["data-hx-get"]
            for each in page.all("div")
            if "data-hx-get" in each.attributes
        ]
        if not asks:
            break
        page = browser.page(asks[0])
        seen += [each.text for each in page.all("summary") if "evil" in each.text]
    assert len(seen) == len(set(seen)) == 4
    assert ": complete" in page.text
