"""All the work on a page."""

from __future__ import annotations

import gzip
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.limits import PageLimits
from agent.modules.page.work import work_on
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import INDEXED_DEPTH, SITEMAP_DEPTH, Fetched, PageWork
from shared.archive.capture import Capture, Truncation

LIMITS = PageLimits(agent_token="prsm", max_decoded_bytes=10_000, max_links=5)
URL = "http://www.a.example/dir/"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def fetched(
    body: bytes,
    header: bytes = HTML,
    *,
    is_rules: bool = False,
    truncated: Truncation | None = None,
) -> Fetched:
    return Fetched(
        capture=Capture(URL, 1_700_000_000_000, b"", header, body, truncated=truncated),
        url=URL,
        host="http://www.a.example:80/",
        address="192.0.2.1",
        job=7,
        depth=2,
        redirects=1,
        is_rules=is_rules,
    )


def work(body: bytes, header: bytes = HTML) -> PageWork:
    return work_on(fetched(body, header), LIMITS)


@pytest.mark.parametrize("media_type", ["image/png", "application/json", "text/plain", "video/mp4"])
def test_a_header_leads_on_whatever_the_body_is(media_type: str) -> None:
    """Pages of an interface, the canonical address of an image; none where robots shall not."""
    header = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nLink: <2>; rel=next, </3>\r\n"
        'Speculation-Rules: "/4", "/5"\r\n'
    )
    found = work(b"{}", f"{header}\r\n".encode()).links
    assert [url.removeprefix("http://www.a.example") for url in found.urls] == [
        *("/dir/2", "/3", "/4", "/5"),
    ]
    assert work(b"{}", f"{header}X-Robots-Tag: nofollow\r\n\r\n".encode()).links.urls == ()


def test_the_header_of_a_list_leads_on() -> None:
    """A feed whose next page its header names; each URL once."""
    header = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nLink: <2>; rel=next, <1>\r\n\r\n"
    )
    found = work(b"<rss><link>1</link></rss>", header).links
    assert found.urls == (f"{URL}1", f"{URL}2")
    assert list(found.kinds) == [LinkKind.FEED, LinkKind.HEADER]


def test_a_page_becomes_links_and_a_record() -> None:
    """Links know their page; those to other hosts are listed for the archive."""
    done = work(b"<a href=x><a href=//b.example/><a href=https://www.a.example/>")
    assert done.links.urls == (
        f"{URL}x",
        "http://b.example/",
        "https://www.a.example/",
    )
    assert (done.links.referer, done.links.from_job, done.links.depth) == (URL, 7, 3)
    assert done.links.redirects == 0
    assert done.processed.outward == ("http://b.example/", "https://www.a.example/")
    assert done.processed.encoded.entry.url == URL
    assert done.processed.note == ""


def test_links_are_found_under_a_content_encoding() -> None:
    """The body is decoded for its links and archived as sent."""
    header = HTML.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    body = gzip.compress(b"<a href=x>")
    done = work(body, header)
    assert done.links.urls == (f"{URL}x",)
    assert done.processed.encoded.entry.length > 0


def test_a_japanese_page_keeps_its_queries() -> None:
    """The query of a link follows the encoding that the page declares."""
    page = "<meta charset=Shift_JIS><a href='?q=日'>".encode("cp932")
    assert work(page).links.urls == (f"{URL}?q=%93%FA",)


def test_only_html_has_links() -> None:
    """Text, images and styles are not searched; a page without a type is looked at."""
    plain = HTML.replace(b"text/html", b"text/plain")
    assert work(b"<a href=x>", plain).links.urls == ()
    bare = b"HTTP/1.0 200 OK\r\n\r\n"
    assert work(b"  <!-- x --><HTML><a href=x>", bare).links.urls == (f"{URL}x",)
    assert work(b"GIF89a<a href=x>", bare).links.urls == ()
    xhtml = HTML.replace(b"text/html", b"Application/XHTML+xml; charset=utf-8")
    assert work(b"<a href='x'/>", xhtml).links.urls == (f"{URL}x",)


def test_errors_and_redirects_have_no_links() -> None:
    """Only a page that was found leads on."""
    for status in (b"301 Moved\r\nLocation: /y", b"404 Not Found", b"500 Oh"):
        assert work(b"<a href=x>", HTML.replace(b"200 OK", status)).links.urls == ()


def test_a_robots_txt_is_archived_and_not_read() -> None:
    """robots.txt is kept like a page."""
    done = work_on(fetched(b"<a href=x>", is_rules=True), LIMITS)
    assert done.links.urls == ()
    assert done.processed.is_rules


def test_a_page_that_must_not_be_read_is_archived_with_the_reason() -> None:
    """What stopped a reader of the page stands in its record, and nothing else is looked at."""
    done = work_on(fetched(b"<meta name=robots content=noindex><a href=x>"), LIMITS, "parse-crash")
    assert done.links.urls == ()
    assert done.processed.note == "parse-crash"
    assert done.processed.encoded.entry.url == URL


def test_what_was_noticed_stands_in_the_record() -> None:
    """Notes travel with the record, for those who search the archive."""
    done = work(
        b"<meta name=robots content=noindex><link rel=canonical href=/c>"
        + b"".join(b"<a href=%d>" % n for n in range(9))
    )
    assert done.processed.note == "noindex; canonical: http://www.a.example/c; links cut at 5"


def test_a_page_that_cannot_be_decoded_is_archived_with_a_note() -> None:
    """Damage costs the links, not the page."""
    header = HTML.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    done = work(b"no gzip", header)
    assert done.links.urls == ()
    assert done.processed.note.startswith("decode-error")


def test_a_truncated_page_is_read_as_far_as_it_came() -> None:
    """A cut page has the links that came."""
    page = fetched(b"<a href=x><a href=y", truncated="disconnect")
    assert work_on(page, LIMITS).links.urls == (f"{URL}x",)


def test_the_work_can_be_done_in_another_process() -> None:
    """What goes in and what comes out can be pickled."""
    page = fetched(b"<a href=x>")
    again = pickle.loads(pickle.dumps((page, LIMITS)))
    done = work_on(*again)
    assert pickle.loads(pickle.dumps(done)) == done == work_on(page, LIMITS)


HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [b"Content-Type", b"Content-Encoding", b"X-Robots-Tag", b"Link", b"Refresh", b"X"]
        ),
        st.binary(max_size=40).map(lambda value: value.replace(b"\n", b"")),
    ),
    max_size=5,
)


@given(st.binary(max_size=200), HEADERS, st.sampled_from([b"text/html", b"*/*"]))
def test_nothing_that_a_server_sends_raises(
    body: bytes, fields: list[tuple[bytes, bytes]], media_type: bytes
) -> None:
    """Any header and any body become a record."""
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    header = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n%b\r\n" % (media_type, lines)
    work(body, header)


MAP = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"
INDEX = b"<sitemapindex>%s</sitemapindex>" % b"".join(
    b"<sitemap><loc>http://www.a.example/%d.xml</loc></sitemap>" % number for number in range(9)
)


def test_sitemaps_and_feeds_are_sources_of_links() -> None:
    """What they list are links of the document, as those of a page are."""
    done = work(b"<urlset><url><loc>http://b.example/1</loc></url></urlset>", MAP)
    assert done.links.urls == ("http://b.example/1",)
    assert done.links.depth == 3
    assert work(b"<rss><channel><link>/x</link></channel></rss>").links.urls == (
        "http://www.a.example/x",
    )


@pytest.mark.parametrize(
    ("media_type", "encoding"),
    [
        ("application/x-gzip", "gzip"),
        ("application/octet-stream", "gzip"),
        ("application/octet-stream", ""),
        ("binary/octet-stream", ""),
        ("text/html", ""),
    ],
)
def test_a_packed_sitemap_is_read_however_it_is_labelled(media_type: str, encoding: str) -> None:
    """Servers call the packing a type, an encoding, both, or nothing."""
    body = gzip.compress(b"<urlset><url><loc>http://www.a.example/p</loc></url></urlset>")
    fields = f"Content-Type: {media_type}\r\n" + (
        f"Content-Encoding: {encoding}\r\n" if encoding else ""
    )
    page = fetched(body, f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode())
    done = work_on(replace(page, url="http://www.a.example/sitemap.xml.gz"), LIMITS)
    assert done.links.urls == ("http://www.a.example/p",)
    assert done.processed.note == ""


def test_an_index_names_so_many_sitemaps_and_no_index() -> None:
    """An index leads to a limited number of sitemaps; an index behind it leads nowhere."""
    limits = replace(LIMITS, max_links=100, max_sitemaps=4)
    first = work_on(replace(fetched(INDEX, MAP), depth=SITEMAP_DEPTH), limits)
    assert (len(first.links.urls), first.links.depth) == (4, INDEXED_DEPTH)
    assert "links cut at 4" in first.processed.note
    second = work_on(replace(fetched(INDEX, MAP), depth=INDEXED_DEPTH), limits)
    assert second.links.urls == ()
    assert second.processed.note == "sitemap index within an index"


def test_a_list_with_nofollow_leads_nowhere() -> None:
    """X-Robots-Tag holds for feeds as for pages."""
    header = MAP[:-2] + b"X-Robots-Tag: nofollow\r\n\r\n"
    assert work(b"<urlset><loc>http://b.example/1</loc></urlset>", header).links.urls == ()


def test_a_sitemap_may_be_larger_than_a_page() -> None:
    """A packed sitemap beyond the limit of pages is read to its own limit."""
    listed = b"<urlset>" + b" " * 20_000 + b"<loc>http://b.example/1</loc></urlset>"
    header = MAP[:-2] + b"Content-Encoding: gzip\r\n\r\n"
    done = work(gzip.compress(listed), header)
    assert (done.links.urls, done.processed.note) == (("http://b.example/1",), "")


@pytest.mark.parametrize(
    "media_type", ["application/xml", "application/rss+xml", "text/plain", "unk"]
)
def test_a_packed_sitemap_is_known_by_its_bytes(media_type: str) -> None:
    """Whatever its path ends in and its server says; other packed data leads nowhere."""
    header = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n".encode()
    listed = gzip.compress(b"<urlset><loc>http://b.example/1</loc></urlset>")
    assert work(listed, header).links.urls == ("http://b.example/1",)
    assert work(gzip.compress(b"not a list <a href=x>"), header).links.urls == ()


def test_an_unknown_content_encoding_is_noted_and_the_page_read() -> None:
    """As browsers read it."""
    done = work(b"<a href=x>", HTML[:-2] + b"Content-Encoding: none\r\n\r\n")
    assert len(done.links.urls) == 1
    assert done.processed.note == "unknown Content-Encoding none"


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("300 Multiple Choices\r\nLocation: /one", 1),
        ("300 Multiple Choices", 1),
        ("399 Other", 1),
        ("302 Found\r\nLocation: /one", 0),
        ("302 Found", 1),
        ("302 Found\r\nLocation: ", 1),
        ("304 Not Modified", 0),
        ("404 Not Found", 0),
    ],
)
def test_an_answer_of_3xx_that_leads_nowhere_is_a_page(line: str, links: int) -> None:
    """Browsers show its body: a list of choices."""
    header = f"HTTP/1.1 {line}\r\nContent-Type: text/html\r\n\r\n".encode()
    assert len(work(b"<a href=/two>", header).links.urls) == links
