"""Links of sitemaps and feeds."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.body_kinds import Kind, kind_of
from agent.modules.page.documents.link_lists import list_of
from agent.modules.page.documents.xml_lists import Listed
from agent.modules.page.found_references import references_within
from tests.fixtures_dir import fixture_folder

URL = "http://a.example/dir/list.xml"
A = "http://a.example"


def read(kind: Kind, body: str | bytes, most: int = 100, content_type: str = "") -> Listed:
    octets = body.encode() if isinstance(body, str) else body
    return list_of(kind, octets, content_type, URL, most, within)


def within(text: str) -> list[str]:
    return [reference for reference, _ in references_within(text, "prsm")]


def urls(body: str | bytes) -> list[str]:
    return list(read("xml", body).urls)


def test_a_sitemap_names_pages_images_and_languages() -> None:
    """Pages, their images and videos, and their other languages are links."""
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:video="v">
      <url><loc> {A}/1?a=1&amp;b=2 </loc><lastmod>2026-01-01</lastmod>
        <image:image><image:loc>{A}/1.png</image:loc></image:image>
        <video:video><video:content_loc>{A}/1.mp4</video:content_loc></video:video>
        <xhtml:link rel="alternate" hreflang="ja" href="{A}/ja/1" xmlns:xhtml="x"/></url>
      <url><loc><![CDATA[{A}/2]]></loc></url><url><loc>{A}/1?a=1&amp;b=2</loc></url>
    </urlset>"""
    found = read("xml", body)
    assert list(found.urls) == [
        f"{A}/1?a=1&b=2",
        *(f"{A}/1.png", f"{A}/1.mp4", f"{A}/ja/1", f"{A}/2"),
    ]
    assert not found.index
    assert not found.note


def test_an_index_is_told_apart() -> None:
    """An index leads to sitemaps, which the caller must know."""
    found = read("xml", f"<sitemapindex><sitemap><loc>{A}/s.xml.gz</loc></sitemap></sitemapindex>")
    assert (list(found.urls), found.index) == ([f"{A}/s.xml.gz"], True)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            """<rss version="2.0" xmlns:atom="a" xmlns:media="m"><channel><link>http://a.example/</link>
            <atom:link rel="self" href="feed"/><atom:link rel="hub" href="http://hub.example/"/>
            <image><url>/i.png</url><link>/</link></image>
            <item><link>/1</link><guid>/not-a-url</guid><comments>/1#c</comments>
            <enclosure url="/1.mp3" length="1"/><media:content url="/1.jpg"/></item>
            <item><guid isPermaLink="false">http://a.example/id</guid></item>
            <item><guid>http://a.example/2</guid></item></channel></rss>""",
            ["/", "/dir/feed", "/i.png", "/1", "/1.mp3", "/1.jpg", "/2"],
        ),
        (
            """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><id>urn:1</id>
            <link rel="edit" href="e"/><link href="./"/><icon>i.ico</icon><logo>l.png</logo>
            <author><uri>http://b.example/</uri></author>
            <entry><link rel="alternate" href="1"/><content src="1.pdf"/></entry>
            <entry xml:base="http://a.example/x/"><link href="2"/></entry>
            <entry><link href="3"/></entry></feed>""",
            [
                *("/blog/", "/blog/i.ico", "/blog/l.png", "http://b.example/"),
                *("/blog/1", "/blog/1.pdf", "/x/2", "/blog/3"),
            ],
        ),
        (
            """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x">
            <link>http://a.example/news</link></channel><item rdf:about="y"><link>/3</link></item>
            </rdf:RDF>""",
            ["/news", "/3"],
        ),
    ],
)
def test_feeds_lead_to_their_items(body: str, expected: list[str]) -> None:
    """RSS, Atom and RDF: items, enclosures, the site itself, against the feed's own base."""
    assert urls(body) == [one if "//" in one else f"{A}{one}" for one in expected]


@pytest.mark.parametrize(
    "content",
    [
        "<description>&lt;a href='1'&gt;x&lt;/a&gt; &lt;img src=&quot;2&quot;&gt;</description>",
        "<description><![CDATA[<a href='1'>x</a><p style='background:url(2)'>]]></description>",
        "<content:encoded><![CDATA[<A HREF=1>x</A> <img data-src=2.png>]]></content:encoded>",
        "<content type='html'>&lt;a href='1'>x&lt;/a>&lt;iframe src='2'></content>",
        "<content type='xhtml'><div><a href='1'>x</a><img src='2'/></div></content>",
        "<media:description type='html'>&lt;a href=1&gt;&lt;a href=2&gt;</media:description>",
        "<summary type='html'><![CDATA[<a href='1'>]]> <![CDATA[<img srcset='2 2x'>]]></summary>",
    ],
)
def test_html_within_a_feed_leads_on(content: str) -> None:
    """Escaped, in CDATA or as elements; also where the feed is no XML."""
    found = [f"{A}/dir/1", f"{A}/dir/2"]
    for rest in ("", "<title>A & B</title>"):
        body = f"<rss><item>{content}{rest}</item></rss>"
        assert [url.removesuffix(".png") for url in urls(body)] == found
        base = f"<feed xml:base='/b/'><entry>{content}{rest}</entry></feed>"
        assert [url.removesuffix(".png") for url in urls(base)] == [f"{A}/b/1", f"{A}/b/2"]


def test_text_that_is_no_html_leads_nowhere() -> None:
    """Neither what says that it is text, nor what has no tag."""
    assert urls("<feed><title type='text'>&lt;a href='1'&gt;</title></feed>") == []
    assert urls("<rss><description>http://b.example/ 1 &lt; 2</description></rss>") == []
    assert urls("<rss><description>&lt;a rel=nofollow href=1&gt;</description></rss>") == []


def test_bases_within_bases() -> None:
    """Each is meant against the one around it."""
    body = """<feed xml:base="x/"><entry xml:base="../y/"><link href="1"/>
        <content type="html" xml:base="z/">
        &lt;a href="2">&lt;base href="/w/">&lt;a href="3"></content>
        </entry><link href="4"/></feed>"""
    assert urls(body) == [
        *(f"{A}/dir/y/1", f"{A}/w/2", f"{A}/w/3", f"{A}/dir/x/4"),
    ]


def test_what_podcasts_and_news_carry() -> None:
    """Enclosures, media, images, transcripts, persons and the like."""
    body = """<rss><channel><itunes:image href="1"/><itunes:new-feed-url>2</itunes:new-feed-url>
        <item><enclosure url="3"/><media:group><media:content url="4"><media:thumbnail url="5"/>
        <media:player url="6"/><media:subTitle href="7"/></media:content></media:group>
        <podcast:transcript url="8"/><podcast:person href="9" img="10"/>
        <podcast:alternateEnclosure><podcast:source uri="11"/></podcast:alternateEnclosure>
        <wfw:commentRss>12</wfw:commentRss><feedburner:origLink>13</feedburner:origLink>
        <cc:license rdf:resource="14"/><license>CC BY</license></item></channel></rss>"""
    assert urls(body) == [f"{A}/dir/{number}" for number in range(1, 15)]


def test_an_entry_alone_is_a_feed() -> None:
    """As publishing interfaces of Atom answer."""
    assert kind_of("application/atom+xml", b"<?xml version='1.0'?><entry><id/></entry>") == "xml"


def test_a_feed_that_a_library_tests_with() -> None:
    """A feed of the shop that Scrapy tests with gives each of its products."""
    body = (fixture_folder("compressed-bodies") / "feed-sample1.xml").read_bytes()
    found = read("xml", body)
    assert not found.note
    packed = (fixture_folder("compressed-bodies") / "feed-sample1.xml.gz").read_bytes()
    assert list(read("gzip", packed).urls) == list(found.urls) or b"<urlset" not in body


@pytest.mark.parametrize(
    "broken",
    [
        f"<rss><item><title>A & B</title><link>{A}/1</link></item>",
        f"<rss><item><title>A&nbsp;B</title><link>{A}/1</link></item></rss>",
        f"<rss><media:x/><item><link><![CDATA[{A}/1]]></link></item></oops>",
        f"<rss><item><link>{A}/1</link></item><item></rss>",
        f"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><link>{A}/1</link></rss>",
        "<rss>" + "<x>" * 200 + f"<link>{A}/1</link>",
    ],
)
def test_what_is_no_xml_is_searched(broken: str) -> None:
    """Feeds that XML forbids are read all the same, and the page says how."""
    found = read("xml", broken)
    assert list(found.urls) == [f"{A}/1"]
    assert found.note.startswith("parse-simple: XML")


def test_a_search_goes_on_over_pieces() -> None:
    """A broken sitemap of many pieces loses no URL where one piece ends."""
    wanted = [f"{A}/page/number/{number}" for number in range(9000)]
    body = "<urlset><b>&</b>" + "".join(f"<url><loc>{url}</loc></url>" for url in wanted)
    found = read("xml", body, most=10_000)
    assert list(found.urls) == wanted


def test_entities_are_never_expanded() -> None:
    """Neither a bomb of entities nor a file of this machine becomes text."""
    laughs = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))
    bomb = (
        f"<!DOCTYPE rss [<!ENTITY l0 'ha'>{laughs}]><rss><link>http://a.example/&l9;</link></rss>"
    )
    assert all(len(url) < 100 for url in urls(bomb))
    file = "<!DOCTYPE rss [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><rss><link>/&f;</link></rss>"
    assert urls(file) == [f"{A}/&f;"]
    external = "<!DOCTYPE rss SYSTEM 'http://evil.example/x.dtd'><rss><link>/1</link></rss>"
    assert urls(external) == [f"{A}/1"]


def test_encodings_of_old_feeds() -> None:
    """A Japanese feed is read in the encoding that it declares, which parsers do not know."""
    body = '<?xml version="1.0" encoding="Shift_JIS"?><rss><item><link>/日本</link></item></rss>'
    assert urls(body.encode("cp932")) == [f"{A}/%E6%97%A5%E6%9C%AC"]
    assert urls(body.replace("Shift_JIS", "UTF-16").encode("utf-16")) == [f"{A}/%E6%97%A5%E6%9C%AC"]


def test_plain_text_is_one_url_a_line() -> None:
    """Lines that are no URL are skipped."""
    body = f"\ufeff{A}/1\r\n\n  {A}/2 \nno URL\n{A}/1\nhttps://b.example/"
    assert list(read("text", body).urls) == [f"{A}/1", f"{A}/2", "https://b.example/"]


def test_a_json_feed() -> None:
    """A JSON feed's pages, items and attachments are links; other shapes are nothing."""
    body = """{"version": "https://jsonfeed.org/version/1.1", "home_page_url": "/", "items": [
      {"url": "/1", "content_html": "<p><a href='/2'>x</a>", "author": {"avatar": "/3"},
       "attachments": [{"url": "/1.mp3"}, 3]}, "x", {"external_url": "//b.example/"}],
      "authors": {"url": "/no"}, "next_url": 7}"""
    assert list(read("json", body).urls) == [
        *(f"{A}/", f"{A}/1", f"{A}/2", f"{A}/1.mp3", f"{A}/3", "http://b.example/"),
    ]
    assert read("json", "{").note == "parse-error: JSONDecodeError"
    assert read("json", "[" * 100_000).note.startswith("parse-error")
    assert read("json", "[1]").note == ""


def test_a_packed_list_is_what_is_inside() -> None:
    """Sitemaps come packed; other packed files are not unpacked further than their head."""
    packed = gzip.compress(f"<urlset><loc>{A}/1</loc></urlset>".encode())
    assert list(read("gzip", packed).urls) == [f"{A}/1"]
    assert list(read("gzip", gzip.compress(f"{A}/1\n".encode())).urls) == [f"{A}/1"]
    assert list(read("gzip", packed[:-8]).urls) == [f"{A}/1"]
    assert read("gzip", packed[:-8]).note.startswith("decode-error")
    assert read("gzip", gzip.compress(bytes(100_000))) == Listed()


def test_a_list_is_cut_at_its_limit() -> None:
    """More URLs than a sitemap may hold are not read."""
    found = read("text", "".join(f"{A}/{n}\n" for n in range(20)), most=10)
    assert (len(found.urls), found.cut) == (10, True)


PIECES = st.sampled_from(
    [
        "<rss>",
        "<link>",
        "</link>",
        "<loc>",
        "&amp;",
        "&",
        "<!--",
        "<![CDATA[",
        "]]>",
        "http://b/",
        "/",
    ]
)


@given(
    st.one_of(
        st.binary(max_size=500), st.lists(PIECES, max_size=40).map(lambda p: "".join(p).encode())
    )
)
def test_any_bytes_are_read(body: bytes) -> None:
    """Nothing a server sends raises, and what comes out is canonical."""
    for kind in ("xml", "json", "text", "gzip"):
        assert all(url.startswith("http") for url in read(kind, body).urls)
