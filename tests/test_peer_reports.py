"""The table of other crawlers' reports names tests that exist, and each case stands in it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.agent.modules.frontier import test_peer_reports as crawls
from tests.e2e.crawling import test_peer_reports as visits
from tests.e2e.peer_pages import LINKS
from tests.e2e.peer_walks import COOKIES, WALKS
from tests.manager.store import test_page_zip as selections
from tests.shared.archive import test_peer_reports as records

PAGE = Path(__file__).parent.parent / "docs" / "peer-reports.md"
PROJECTS = {
    *("heritrix3", "nutch", "stormcrawler", "scrapy"),
    *("crawlee", "browsertrix-crawler", "warcio", "pywb"),
}
TABLES = {"links": LINKS, "walk": WALKS, "cookies": COOKIES}


def rows() -> list[tuple[str, list[str]]]:
    """Return source and tests of each row."""
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and "#" in cells[0]:
            found.append((cells[0], [one.strip("` ") for one in cells[4].split(",")]))
    return found


def test_every_row_names_a_test_that_exists() -> None:
    """A case of a table by its source, or a function by its name."""
    modules = (visits, crawls, records, selections)
    for source, tests in rows():
        for one in tests:
            if one in TABLES:
                assert source in TABLES[one], (source, one)
            else:
                assert any(hasattr(module, one) for module in modules), (source, one)


def test_every_case_stands_in_the_table() -> None:
    """What is tried is written down."""
    named = {(source, one) for source, tests in rows() for one in tests}
    for word, table in TABLES.items():
        for source in table:
            assert (source, word) in named


def test_all_eight_projects_are_there() -> None:
    """Thirty reports at least, and some of each."""
    sources = [source.partition("#")[0] for source, _ in rows()]
    assert len(sources) >= 30
    assert set(sources) >= PROJECTS
    assert min(sources.count(project) for project in PROJECTS) >= 4
