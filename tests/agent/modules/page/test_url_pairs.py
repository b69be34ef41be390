"""The URLs of two other programs' tests: docs/urls.md says where we differ, and why.

    python -m tests.agent.modules.page.test_url_pairs

prints the counts of that page anew, and each row that one of its other blocks must hold.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from agent.modules.limits import CrawlLimits
from agent.modules.page.addresses import Addresses
from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.traps import Traps
from shared.errors import UrlError
from shared.urls import canonical, split_host
from tests.fixtures_dir import fixture_folder
from tests.url_page import OF_TWO_PROGRAMS, listed

PROGRAMS = ("courlan", "w3lib")
PAGE = "http://page.example/"  # where a text stands that is no whole URL
REFUSED = (("scheme", ": scheme "), ("credentials", "has a user name or password"))


def rows(*functions: str, but: bool = False) -> list[dict[str, Any]]:
    """Return the rows of some functions, or of all but these: func, args, kwargs, expected."""
    folder = fixture_folder("url-pairs")
    found = [row for name in PROGRAMS for row in json.loads((folder / f"{name}.json").read_text())]
    return [row for row in found if (row["func"] in functions) != but]


def outcome(row: dict[str, Any]) -> tuple[str, str]:
    """Return in what a row's URL differs from ours, and the line that a block holds where listed.

    Their form is read as ours is, on the same page: what then is equal was another spelling.
    """
    args, theirs, options = row["args"], row["expected"], row["kwargs"]
    page, text = args if row["func"] == "fix_relative_urls" else (PAGE, args[0])
    if not isinstance(text, str):
        return "no text", ""
    label = options.get("encoding", "utf-8")
    if row["func"] == "safe_url_string" and len(args) > 1:
        label = args[1]
    codec = codec_of({"latin-1": "latin1"}.get(label, label))  # Python's name, and no page's
    assert codec is not None, row
    if row["bytes_in"]:
        text = text.encode("latin-1").decode(label)
    ours = Addresses(canonical(page), codec).resolve(text)
    line = json.dumps([row["func"], *args, *([options] if options else []), theirs, ours])
    if ours == theirs:
        return "equal", line
    if row["func"] == "validate_url":
        return "listed", line
    if ours is None:
        error = refusal(text, page)
        return next((name for name, part in REFUSED if part in error), "listed"), line
    same = canonical(theirs, page)
    if same == ours:
        return "fragment" if "#" in theirs else "spelling", line
    if parameters(same, options) == parameters(ours, options):
        return "order", line
    return "listed", line


def refusal(text: str, page: str) -> str:
    """Return why a text is no URL for us."""
    try:
        canonical(text, page)
    except UrlError as error:
        return str(error)
    return ""


def parameters(url: str, options: dict[str, Any]) -> tuple[str, list[str]]:
    """Return what stands before the query, and its parameters in an order of their own."""
    start, _, query = url.partition("?")
    return start, sorted(query.split(options.get("query_separator", "&")))


def outcomes() -> tuple[list[str], list[str]]:
    """Return the lines of the page's block of counts, and those that its other blocks share out."""
    found = [outcome(row) for row in rows("is_navigation_page", "extract_domain", but=True)]
    counts = Counter(name for name, _ in found)
    lines = [line for name, line in found if name == "listed"]
    return [f"{count} {name}" for name, count in sorted(counts.items())], lines


def test_every_difference_is_counted_or_listed_with_its_reason() -> None:
    """The page and the program agree, row by row."""
    blocks = listed(OF_TWO_PROGRAMS)
    counts, lines = outcomes()
    assert blocks.pop("pairs") == counts
    assert sorted(line for block in blocks.values() for line in block) == sorted(lines)


def test_what_only_leads_to_pages_is_a_page() -> None:
    """No trap rule stops what courlan leaves out as navigation: other pages hang on it."""
    traps = Traps(CrawlLimits(), lambda: 2026)
    pages = rows("is_navigation_page")
    assert {row["expected"] for row in pages} == {True, False}
    for row in pages:
        assert traps.reason(canonical(row["args"][0])) == ""


def test_a_domain_is_the_host_or_above_it() -> None:
    """Where courlan finds none we find no host; its texts with a password or of ftp are refused."""
    refused = []
    for row in rows("extract_domain"):
        text, domain = row["args"][0], row["expected"]
        if not isinstance(text, str):
            continue
        try:
            host = split_host(canonical(text))[1]
        except UrlError:
            if domain is not None:
                refused.append(text)
            continue
        assert f".{host}".endswith(f".{domain}"), row
    assert refused == [
        "ftp://www4.httpbun.org",
        "http://user:pass@domain.test:81",
        "http://2001:db8::ff00:42:8329/test",  # an address without its brackets
    ]


if __name__ == "__main__":
    block, others = outcomes()
    print("```pairs", *block, "```", *others, sep="\n")
