"""What a body is to the crawl."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.body_kinds import kind_of, may_hold_links

RSS = b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>'
MAP = b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- made by hand --><urlset xmlns='x'></urlset>"
URLS = b"http://a.example/1\nhttp://a.example/2\n"


@pytest.mark.parametrize(
    ("media_type", "body", "kind"),
    [
        ("text/html", b"<p>", "html"),
        ("text/html", RSS, "xml"),
        ("text/html", b"<html><body><rss>", "html"),
        ("application/xhtml+xml", b"<html/>", "html"),
        ("application/rss+xml", RSS, "xml"),
        ("application/xml", MAP, "xml"),
        ("text/xml", b'<!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "x.dtd"><rss>', "xml"),
        ("text/xml", b"<?xml version='1.0'?><rdf:RDF>", "xml"),
        ("text/xml", b"\xff\xfe" + "<feed>".encode("utf-16-le"), "xml"),
        ("text/xml", b"<?xml version='1.0'?><html xmlns='x'>", "html"),
        ("image/svg+xml", b"<svg xmlns='x'><a/></svg>", "svg"),
        ("text/plain", MAP, "xml"),
        ("text/plain", URLS, "text"),
        ("text/plain", b"http://a.example/ is a fine page", ""),
        ("text/plain", b"<p>not a page", ""),
        ("unk", b"<!doctype html>", "html"),
        ("unk", RSS, "xml"),
        ("unk", URLS, "text"),
        ("application/x-gzip", gzip.compress(MAP), "gzip"),
        ("text/xml", gzip.compress(MAP), "gzip"),
        ("text/html", gzip.compress(MAP), "gzip"),
        ("binary/octet-stream", gzip.compress(MAP), "gzip"),
        ("application/octet-stream", gzip.compress(MAP), "gzip"),
        ("application/x-gzip", MAP, "xml"),
        ("application/octet-stream", URLS, "text"),
        ("binary/octet-stream", MAP, "xml"),
        ("binary/octet-stream", b"<html><a href=x>", ""),
        ("application/octet-stream", b"\0\1\2\3", ""),
        ("application/json", b'{"version": "https://jsonfeed.org/version/1.1"}', "json"),
        ("application/json", b'{"a": 1}', ""),
        ("image/png", b"<html>", ""),
    ],
)
def test_type_and_first_bytes_decide(media_type: str, body: bytes, kind: str) -> None:
    """Each kind is known by its type, or by its first bytes where types are known to lie."""
    assert kind_of(media_type, body) == kind
    assert may_hold_links(media_type) or not kind


@given(st.binary(max_size=3000), st.sampled_from(["text/html", "text/xml", "text/plain", "unk"]))
def test_any_bytes_are_of_some_kind(body: bytes, media_type: str) -> None:
    """Nothing a server sends raises."""
    assert kind_of(media_type, body) in (*("html", "xml", "json", "text", "gzip", ""),)


@pytest.mark.parametrize(
    "head",
    [
        b"<!---->" * 290,
        b"<!--a-->" * 250 + b"x",
        b"<!--" + b"- " * 1000,
        b"<??>" * 500,
        b"<?xml?>" * 290,
        b"<!--a--><?xml b>" * 120,
    ],
)
def test_no_head_is_tried_in_all_ways(head: bytes) -> None:
    """Comments that could end in many places are read once; else this would take for ever."""
    assert kind_of("unk", head) == ""
