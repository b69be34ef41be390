# ruff: noqa: ISC004
"""Documents that are neither pages nor lists."""

from __future__ import annotations

import io
import os
import threading
import time
import zipfile
from dataclasses import replace

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    NameObject,
    NullObject,
    TextStringObject,
)

from agent.modules.limits import PageLimits
from agent.modules.page.documents.office import MOST_BYTES, office_references
from agent.modules.page.documents.pdf import OverBudgetError, cpu_budget, pdf_references
from agent.modules.page.html.json_addresses import parsed
from agent.modules.page.work import work_on
from agent.pipeline.link_kinds import EMBEDDED, LinkKind
from agent.pipeline.messages.pages import Fetched, Links
from shared.archive.capture import Capture

LIMITS = PageLimits("prsm")
URL = "http://a.example/dir/x"


def read(body: bytes, header: str, url: str = URL, limits: PageLimits = LIMITS) -> Links:
    """Return the links of an answer with a Content-Type and more fields."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {header}\r\n\r\n".encode()
    capture = Capture(url, 0, b"GET / HTTP/1.1\r\n\r\n", head, body, None)
    return work_on(Fetched(capture, url, "http://a.example:80/", "", 1, 3, 0), limits).links


def paths(links: Links) -> list[str]:
    return [url.removeprefix("http://a.example") for url in links.urls]


def pdf(*targets: str, password: str = "", **settings: object) -> bytes:
    """Return a PDF with a link annotation to each target."""
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(100, 100)
    for target in targets:
        action = DictionaryObject(
            {NameObject("/S"): NameObject("/URI"), NameObject("/URI"): TextStringObject(target)}
        )
        link = {NameObject("/Subtype"): NameObject("/Link"), NameObject("/A"): action}
        writer.add_annotation(page, DictionaryObject(link))
    if password or settings:
        writer.encrypt("", "owner", algorithm=str(settings.get("algorithm", "AES-128")))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return out.getvalue()


def test_a_style_sheet() -> None:
    """Its references are meant against its own address, and lie as near as it."""
    links = read(b"@import 'a.css'; p{background:url(/b)}\n/*# sourceMappingURL=m */", "text/css")
    assert paths(links) == ["/dir/a.css", "/b", "/dir/m"]
    style = LinkKind.STYLE | EMBEDDED
    assert links.kinds == bytes((style, style, LinkKind.SOURCE_MAP))


def test_a_style_sheet_in_another_encoding() -> None:
    """The path is UTF-8 whatever it was written in."""
    links = read('p{background:url("日.png")}'.encode("cp932"), "text/css; charset=shift_jis")
    assert paths(links) == ["/dir/%E6%97%A5.png"]


def test_a_style_sheet_names_its_encoding() -> None:
    """In its first bytes; what the server says goes before."""
    body = '@charset "shift_jis"; p{background:url("x?日")}'.encode("cp932")
    assert paths(read(body, "text/css")) == ["/dir/x?%93%FA"]


def test_a_script() -> None:
    """Imports are meant against the script; other relative paths against a page not known here."""
    body = b"import './m.js'; go('/top/x'); go('./page'); go('img/x.png'); go('http://b.example/')"
    assert paths(read(body, "text/javascript")) == ["/dir/m.js", "/top/x", "http://b.example/"]
    header = "text/javascript\r\nSourceMap: x.map"
    assert read(b"1", header).kinds == bytes((LinkKind.SOURCE_MAP,))


def test_a_drawing() -> None:
    """Images, uses, anchors and styles."""
    body = (
        b"<?xml version='1.0'?><?xml-stylesheet type='text/css' href='s.css'?>"
        b"<svg xmlns='http://www.w3.org/2000/svg'><a href='p.html'><image xlink:href='i.png'/></a>"
        b"<use href='#local'/><style>@import 'f.css';</style></svg>"
    )
    links = read(body, "image/svg+xml")
    assert paths(links) == ["/dir/s.css", "/dir/p.html", "/dir/i.png", "/dir/f.css"]


def test_a_drawing_with_prefixes_and_pictures_of_pages() -> None:
    """Whatever prefixes are used; also what fills a shape, and HTML within."""
    body = (
        b"<s:svg xmlns:s='http://www.w3.org/2000/svg' xmlns:l='http://www.w3.org/1999/xlink'>"
        b"<s:image l:href='i.png'/><s:rect fill='url(f.svg#g)' mask='url(#m)'/>"
        b"<s:foreignObject><img src='p.png'/></s:foreignObject><s:script src='/no.js'/></s:svg>"
    )
    found = ["/dir/i.png", "/dir/f.svg", "/dir/p.png", "/no.js"]
    assert paths(read(body, "image/svg+xml")) == found
    assert paths(read(body, "application/xml")) == found


@pytest.mark.parametrize(
    ("media_type", "body", "found"),
    [
        (
            "text/xml",
            "<?xml-stylesheet href='a.xsl?x=1&amp;y=2'?><data><p xl='1' xlink:href='/b1'/></data>",
            ["/dir/a.xsl?x=1&y=2", "/b1"],
        ),
        (
            "text/xsl",
            "<xsl:stylesheet><xsl:import href='a.xsl'/><xsl:include href='/b.xsl'/>",
            ["/dir/a.xsl", "/b.xsl"],
        ),
        (
            "application/xml",
            (
                "<browserconfig><msapplication><tile><square150x150logo src='/a.png'/>"
                "<TileImage src='/b.png'/></tile><notification><polling-uri2 src='/c.xml'/>"
            ),
            ["/a.png", "/b.png", "/c.xml"],
        ),
        (
            "application/opensearchdescription+xml",
            (
                "<OpenSearchDescription><Image>/a.ico</Image><Url template='/s?q={searchTerms}'/>"
                "<Url template='/help'/>"
            ),
            ["/a.ico", "/help"],
        ),
        (
            "text/x-opml",
            "<opml><body><outline xmlUrl='/a.xml' htmlUrl='http://b.example/'/></body></opml>",
            ["/a.xml", "http://b.example/"],
        ),
        ("application/xspf+xml", "<playlist><location>a.mp3</location>", ["/dir/a.mp3"]),
        (
            "application/vnd.apple.mpegurl",
            '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="k.bin"\n#EXTINF:9,\na.ts\r\n/b.ts\n',
            ["/dir/k.bin", "/dir/a.ts", "/b.ts"],
        ),
        (
            "text/plain",
            '#EXTM3U\n#EXT-X-DEFINE:NAME="p",VALUE="/v"\n#EXT-X-MAP:URI="{$p}/i.mp4"\n{$p}/1.ts\n'
            '{$q}/no\n#EXT-X-DATERANGE:X-ASSET-LIST="/ads"\n#EXTINF:-1 tvg-logo="/l.png",x\nc.ts',
            ["/v/i.mp4", "/v/1.ts", "/ads", "/l.png", "/dir/c.ts"],
        ),
        (
            "application/speculationrules+json",
            '{"prerender": [{"urls": ["a", "/b"]}]}',
            ["/dir/a", "/b"],
        ),
        (
            "audio/x-scpls",
            "[playlist]\nFile1=http://b.example/a\nTitle1=x\nfile2 = /b.mp3\n",
            ["http://b.example/a", "/b.mp3"],
        ),
        (
            "application/vnd.google-earth.kml+xml",
            "<kml><NetworkLink><Link><href>http://b.example/x.kml</href></Link></NetworkLink>"
            "<Icon><href>i.png</href></Icon><atom:link href='/page'/>",
            ["http://b.example/x.kml", "/page"],
        ),
        (
            "application/smil+xml",
            "<smil><title/><video src='v.mp4'/><ref src='/r'/></smil>",
            ["/dir/v.mp4", "/r"],
        ),
        (
            "application/xml",
            "<d xml:base='/x/'><xi:include href='1'/><p xml:base='y/'><q xlink:href='2'/>"
            "<!-- <q href='no'/> --></p><xi:include href='3' xml:base='http://b.example/'/>"
            "<xi:include href='4'/></d>",
            ["/x/1", "/x/y/2", "http://b.example/3", "/x/4"],
        ),
        (
            "application/xspf+xml",
            "<playlist xml:base='/m/'><track><location><![CDATA[a b.mp3]]></location>"
            "<location>c.mp3</location><image>i.png</image></track></playlist>",
            ["/m/c.mp3", "/m/i.png"],
        ),
        (
            "image/svg+xml",
            "<svg xml:base='/x/'><script href='s.js'/><a xml:base='y/' href='#n' xlink:href='1'/>"
            "</svg>",
            ["/x/s.js", "/dir/s.js", "/x/y/1", "/dir/1"],
        ),
        (
            "text/cache-manifest",
            "CACHE MANIFEST\n# v1\n/a.js\nNETWORK:\n/api\nFALLBACK:\n/ /off.html\nCACHE:\nb.css",
            ["/a.js", "/off.html", "/dir/b.css"],
        ),
    ],
)
def test_other_documents_lead_on(media_type: str, body: str, found: list[str]) -> None:
    """Style sheets of XML, tiles, lists of feeds, search descriptions, playlists."""
    assert paths(read(body.encode(), media_type)) == found


@pytest.mark.parametrize(
    ("media_type", "body", "found"),
    [
        ("text/xml", "<urlset><url><loc>http://b.example/</loc></url>", ["http://b.example/"]),
        ("application/rss+xml", "<rss><channel><link>/f</link>", ["/f"]),
        ("application/xhtml+xml", "<html><body><a href='/p'>x</a></body></html>", ["/p"]),
    ],
)
def test_what_is_shown_by_a_style_sheet_leads_to_it(
    media_type: str, body: str, found: list[str]
) -> None:
    """Sitemaps, feeds and pages in XML are styled by a processing instruction."""
    head = "<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='/s.xsl'?>"
    links = read(head.encode() + body.encode(), media_type)
    assert sorted(paths(links)) == sorted([*found, "/s.xsl"])
    place = paths(links).index("/s.xsl")
    assert links.kinds[place] == LinkKind.STYLE | EMBEDDED


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "{}" + "*/" * 900_000,
        "/*" * 900_000,
        '{"a":' + " " * 1_900_000 + '"b"}',
        "," * 1_900_000,
        ("," + " " * 199) * 9_000,
    ],
    ids=["ends", "begins", "spaces", "commas", "commas and spaces"],
)
def test_no_json_keeps_it_busy(text: str) -> None:
    """Marks of comments, commas and spaces are looked at once."""
    parsed(text)


def test_elements_that_close_themselves_in_xml() -> None:
    """`<title/>` and `<script/>` have no text in XML; in HTML they have all that follows."""
    body = b"<html><head><title/><script src='s.js' /></head><body><a href='/p'>x</a></body></html>"
    assert paths(read(body, "application/xhtml+xml")) == ["/dir/s.js", "/p"]
    assert paths(read(body, "text/html")) == []


def test_a_list_of_urls_in_utf_16() -> None:
    """With a byte order mark, as some editors save it."""
    body = "http://b.example/1\nhttp://b.example/2\n".encode("utf-16")
    assert paths(read(body, "text/plain")) == ["http://b.example/1", "http://b.example/2"]


@pytest.mark.parametrize(
    ("header", "url"),
    [
        ("application/manifest+json", URL),
        ("application/json", URL),
        ("text/plain", URL),
        ("application/octet-stream", URL),
    ],
)
def test_a_manifest(header: str, url: str) -> None:
    """By its type, or by its fields."""
    body = (
        b'{"start_url": "./?app", "icons": [{"src": "i.png"}, {"src": 5}, 7],'
        b' "shortcuts": [{"url": "s", "icons": [{"src": "j.png"}]}]}'
    )
    assert paths(read(body, header, url)) == [*("/dir/?app", "/dir/i.png", "/dir/s", "/dir/j.png")]


def test_other_json_leads_nowhere() -> None:
    """An interface's answers are no pages."""
    assert read(b'{"url": "/x"}', "application/json").urls == ()
    assert paths(read(b'{"url": "/x"}', "application/ld+json")) == ["/x"]


def test_a_pdf() -> None:
    """Its annotations, also where a server knows no type of it; each once."""
    body = pdf("http://b.example/", "/top", "page.html", "mailto:x@b.example", "/top")
    wanted = ["http://b.example/", "/top", "/dir/page.html"]
    assert paths(read(body, "application/pdf")) == wanted
    assert read(body, "application/pdf").kinds == bytes((LinkKind.PDF,)) * 3
    assert paths(read(body, "application/octet-stream")) == wanted
    assert read(body, "application/pdf", limits=replace(LIMITS, off=(LinkKind.PDF,))).urls == ()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_pdf_that_everybody_may_read(algorithm: str) -> None:
    """Many are encrypted without a password, so that only programs ask who owns them."""
    assert pdf_references(pdf("/x", algorithm=algorithm), 60) == (["/x"], "")


def test_outlines_and_files_of_a_pdf() -> None:
    """A chapter may lead to another file; references that lead in circles end."""
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    to_file = DictionaryObject(
        {
            NameObject("/S"): NameObject("/GoToR"),
            NameObject("/F"): DictionaryObject({NameObject("/UF"): TextStringObject("b.pdf")}),
        }
    )
    item = DictionaryObject({NameObject("/A"): to_file})
    reference = writer._add_object(item)
    item[NameObject("/Next")] = reference
    outlines = DictionaryObject({NameObject("/First"): reference})
    writer.root_object[NameObject("/Outlines")] = writer._add_object(outlines)
    opening = {NameObject("/S"): NameObject("/URI"), NameObject("/URI"): ByteStringObject(b"/o")}
    writer.root_object[NameObject("/OpenAction")] = DictionaryObject(opening)
    writer.pages[0][NameObject("/Annots")] = ArrayObject([NullObject()])
    out = io.BytesIO()
    writer.write(out)
    assert pdf_references(out.getvalue(), 60) == (["/o", "b.pdf"], "")


def test_a_broken_pdf_is_searched() -> None:
    """What stands outside of compressed objects is found all the same."""
    found, note = pdf_references(b"%PDF-1.4\n1 0 obj << /URI (/a\\)b) >>", 60)
    assert (found, note[:14]) == (["/a)b"], "PDF is broken:")


@given(st.binary(max_size=300), st.integers(0, 2000))
def test_no_pdf_raises(noise: bytes, at: int) -> None:
    """Whatever bytes stand in it."""
    body = pdf("/x")
    pdf_references(body[:at] + noise + body[at + len(noise) :], 60)


def test_a_slow_pdf_costs_its_links_only() -> None:
    """The time is the reader's, not the worker's; what was found is kept."""
    body = pdf(*(f"/{number}" for number in range(20_000)))
    found, note = pdf_references(body, 0.2)
    assert note == "PDF read for 0.2 s only"
    assert found


def test_the_budget_is_of_the_main_thread_only() -> None:
    """A signal could not be raised elsewhere, so nothing is promised there."""
    with pytest.raises(OverBudgetError), cpu_budget(0.05):
        end = time.process_time() + 10
        while time.process_time() < end:
            pass
    done: list[int] = []

    def elsewhere() -> None:
        with cpu_budget(0.001):
            done.append(os.getpid())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert done


def test_office_documents() -> None:
    """Links to other sites, in the way of each format; nothing that lies within the file."""
    rels = (
        b"<Relationships><Relationship Target='http://b.example/?a=1&amp;b' TargetMode='External'/>"
    )
    rels += b"<Relationship Target='media/image1.png'/>"
    field = b'<w:instrText> HYPERLINK "/field" </w:instrText>'
    docx = packed(**{"word/_rels/document.xml.rels": rels, "word/document.xml": field})
    assert office_references(docx) == (["http://b.example/?a=1&b", "/field"], "")
    sheet = packed(**{"xl/worksheets/sheet1.xml": b"<f>HYPERLINK(&quot;/cell&quot;,1)</f>"})
    assert office_references(sheet) == (["/cell"], "")
    odt = packed(**{"content.xml": b"<a xlink:href='../b.odt'/><a xlink:href='Pictures/x.png'/>"})
    assert office_references(odt) == (["b.odt"], "")
    epub = packed(**{"OEBPS/1.xhtml": b"<a href='http://b.example/'/><a href='2.xhtml'/>"})
    assert office_references(epub) == (["http://b.example/"], "")
    media_type = "application/vnd.oasis.opendocument.text"
    assert paths(read(odt, media_type)) == ["/dir/b.odt"]
    assert paths(read(odt, "application/zip")) == ["/dir/b.odt"]
    other = packed(**{"readme.txt": b"", "content.xml": b"<a xlink:href='/x'/>"})
    assert read(other, "application/zip").urls == ()


def test_an_office_bomb_is_read_so_far() -> None:
    """A megabyte that unpacks to a gigabyte costs what 20 MB cost."""
    bomb = packed(**{f"word/_rels/{number}.rels": b" " * 30_000_000 for number in range(3)})
    assert len(bomb) < 200_000
    assert office_references(bomb) == ([], f"document read to {MOST_BYTES} bytes only")


@given(st.binary(max_size=100), st.integers(0, 400))
def test_no_office_document_raises(noise: bytes, at: int) -> None:
    """Whatever bytes stand in it."""
    body = packed(**{"content.xml": b"<a xlink:href='/x'/>" * 5, "styles.xml": b"y" * 100})
    office_references(body[:at] + noise + body[at + len(noise) :])
