"""Pages that users of other crawlers reported, and the links that a browser finds on them.

The keys are those of docs/peer-reports.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

__all__ = ["GZIP", "LINKS", "LIST", "LONG", "NONE", "moved", "packed", "page", "rules"]

NONE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
LIST = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>http://www.a.example/listed</loc></url></urlset>"
)
LISTED = "http://www.a.example/listed"
LONG = b"<a href=/one>" + b"text " * 2000 + b"<a href=/two>"
BUNDLE = (
    b'<script>c=t("./ReactComponent"),d=t("./ReactElement"),n={"./locale/af":12};'
    b'require("../lib/x.js");location="./next"</script>'
)
TAG_MANAGER = (
    b"<script>(function(w,d,s,l,i){w[l]=w[l]||[];w[l].push({'gtm.start':new Date().getTime(),"
    b"event:'gtm.js'});j.src='https://tags.a.example/gtm.js?id='+i+dl;})(window,document,'script',"
    b"'dataLayer','GTM-ABC');on('mouseup.dismiss');d='11/10/2024';m='application/json'</script>"
)


def page(body: bytes | str, media_type: str = "text/html", fields: str = "") -> bytes:
    """Return an answer of 200."""
    octets = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{fields}Connection: close\r\n\r\n"
    return head.encode("latin-1") + octets


def moved(target: str, status: int = 302, fields: str = "") -> bytes:
    """Return a redirect. target, fields: in UTF-8."""
    head = f"HTTP/1.1 {status} Moved\r\nLocation: {target}\r\n{fields}Content-Length: 0\r\n"
    return f"{head}Connection: close\r\n\r\n".encode()


def rules(text: bytes) -> bytes:
    """Return a robots.txt."""
    return page(text, "text/plain")


def packed(body: bytes, wbits: int = 31) -> bytes:
    """Return a body packed by zlib. wbits: 31 gzip, -15 the bare stream."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return packer.compress(body) + packer.flush()


GZIP = "Content-Encoding: gzip\r\n"

LINKS: Mapping[str, tuple[bytes, list[str]]] = {
    # How a page writes its links.
    "heritrix3#208": (
        page('<base href="/forum/"/><a href="index.php/fa/">'),
        ["/forum/index.php/fa/"],
    ),
    "heritrix3#214": (
        page(
            '<img src="/foto/Label&#xA;              "><img src="data:image/png;base64,/9j/4AAQ">'
            '<img src="data:image/gif;base64,\nR0lGOD/lhAQ/ABAI">'
        ),
        ["/foto/Label"],
    ),
    "heritrix3#177": (
        page('<img src=/a.jpg srcset="/a-1.jpg 800w,\n       /a-2.jpg 480w,\n  /a-3.jpg 96w">'),
        ["/a.jpg", "/a-1.jpg", "/a-2.jpg", "/a-3.jpg"],
    ),
    "heritrix3#604": (
        page(
            '<img srcset="/resizer/opD2f=/120x75/c/a,b.jpg 120w, '
            '/resizer/xZ=/240x150/c/a,b.jpg 240w">'
        ),
        ["/resizer/opD2f=/120x75/c/a,b.jpg", "/resizer/xZ=/240x150/c/a,b.jpg"],
    ),
    "heritrix3#225": (
        page(
            '<meta property="og:url" content="/news/twofer/">'
            '<meta property="og:site_name" content="Stitch-Maps.com"><meta name=author '
            "content=A.B>"
        ),
        ["/news/twofer/"],
    ),
    "heritrix3#155": (page(BUNDLE), ["/next"]),
    "heritrix3#232": (page(TAG_MANAGER), []),
    "nutch#230": (
        page("<video poster=/p.jpg src=/v.mp4><source src=/v.webm><track src=/s.vtt></video>"),
        ["/v.mp4", "/p.jpg", "/v.webm", "/s.vtt"],
    ),
    "nutch#751": (page('<a rel="external nofollow noopener" href=/x><a rel=ugc href=/y>'), ["/y"]),
    "heritrix3#489": (page('<meta name=robots content="nofollow"><a href=/x>'), []),
    "scrapy#838": (
        page(
            '<a href=" http://a.example/1 "><a href="\nhttp://a.example/2\n\n"><a href="\n\t '
            '/3\r\n">'
        ),
        ["http://a.example/1", "http://a.example/2", "/3"],
    ),
    "scrapy#7690": (
        page("<script>" + "x=1;" * 5000 + "</script><base href='/img/'><a href=a>"),
        ["/img/a"],
    ),
    "scrapy#142": (
        page(
            '<noscript><meta http-equiv="refresh" content="0; URL=/home?_fb_noscript=1"/>'
            "</noscript>"
        ),
        ["/home?_fb_noscript=1"],
    ),
    "scrapy#4967": (
        page('<meta content="0;url=dummy.html" http-equiv="refresh">'),
        ["/dummy.html"],
    ),
    "stormcrawler#350": (
        page(
            '<meta http-equiv=refresh content="0;   URL= /site?a=1;b=2"><meta '
            "http-equiv=REFRESH content=\"5,url='/two'\">"
        ),
        ["/site?a=1;b=2", "/two"],
    ),
    "browsertrix#1489": (
        page(
            "<a href=\"javascript:openFacsimile('https://img.a.example/full/1024,/0/default.jpg',"
            " 'dk');\">"
            "<a href=\" JavaScript:location=%27/p2.html%27\"><a href='javascript:void(0)'>"
        ),
        ["https://img.a.example/full/1024,/0/default.jpg", "/p2.html"],
    ),
    "heritrix3#243": (
        page(
            '<img srcset="/a,b,,c,"><img srcset="/d, /e,, /f,"><img srcset="/g (b,c),/h">'
            '<img srcset="data:image/gif;base64,R0lGODlh 1x, /i.png 2x">'
        ),
        ["/a,b,,c", "/d", "/e", "/f", "/g", "/h", "/i.png"],
    ),
    "heritrix3#688": (page(f'<img src="data:image/webp;base64,{"A" * 9000}"><a href=/x>'), ["/x"]),
    "heritrix3#692": (
        page(
            '<img data-src=/1.jpg data-full-src=/2.jpg data-lazy-srcset="/3.jpg 1x, /4.jpg '
            '2x" srcset="/5.jpg 3x">'
        ),
        ["/5.jpg", "/1.jpg", "/2.jpg", "/3.jpg", "/4.jpg"],
    ),
    "nutch#528": (page('<META NAME="ROBOTS" CONTENT="NOINDEX,NOFOLLOW"><a href=/x>'), []),
    # How a URL is written.
    "nutch#552": (
        page(
            '<a href="http://www%2Ea%2Eexample/x"><a '
            'href="http://www.0251-sachverst%c3%a4ndiger.de/">'
        ),
        ["http://www.a.example/x", "http://www.xn--0251-sachverstndiger-ozb.de/"],
    ),
    "nutch#353": (
        page('<a href="/90%+of+My+Mind"><a href="/a/../../b"><a href="/{x}^`">'),
        ["/90%+of+My+Mind", "/b", "/%7Bx%7D%5E%60"],
    ),
    "nutch#160": (
        page('<a href="http://www.a.example:/x"><a href="https://www.a.example:443/y">'),
        ["http://www.a.example/x", "https://www.a.example/y"],
    ),
    "stormcrawler#1059": (
        page('<a href="/s&utax/NEWS_fy18.pdf"><a href="/a?x=1&copy=2&lt=3">'),
        ["/s&utax/NEWS_fy18.pdf", "/a?x=1&copy=2&lt=3"],
    ),
    "stormcrawler#118": (
        page('<a href="/LiteShow%E2%84%A2-R?x=%E2%84%A2">'),
        ["/LiteShow%E2%84%A2-R?x=%E2%84%A2"],
    ),
    "stormcrawler#1448": (page('<a href="/Detail/NjAxOA%3d%3d">'), ["/Detail/NjAxOA%3D%3D"]),
    "stormcrawler#205": (
        page(
            '<a href="/s?q=top-65||1|60|2|||&Fr=4"><a href="http://a.example?u=EMPLACEMENT '
            'PARTENAIRE&v=">'
        ),
        ["/s?q=top-65||1|60|2|||&Fr=4", "http://a.example/?u=EMPLACEMENT%20PARTENAIRE&v="],
    ),
    "stormcrawler#704": (
        page('<a href="/x "><a href="/x"><a href="/x?a "><a href="/x?a#">'),
        ["/x", "/x?a"],
    ),
    "stormcrawler#321": (
        page('<a href="http://a.example//upload/molinezja fot.g.gazik 1.jpg">'),
        ["http://a.example//upload/molinezja%20fot.g.gazik%201.jpg"],
    ),
    "browsertrix-crawler#983": (
        page('<a href="/Exe/Z.exe?Q=r85g16%252Fx&I=2016+Thru+2020&P=%2525&S=A%26B">'),
        ["/Exe/Z.exe?Q=r85g16%252Fx&I=2016+Thru+2020&P=%2525&S=A%26B"],
    ),
    "pywb#961": (
        page('<a href="/wiki/Otto_Carisch_(1789–1858).jpg">', "text/html; charset=utf-8"),
        ["/wiki/Otto_Carisch_(1789%E2%80%931858).jpg"],
    ),
    # Encodings of text.
    "stormcrawler#892": (
        page('<!DOCTYPE html><a href="/é?q=é">x</a><meta charset="UTF-8'),
        ["/%C3%A9?q=%C3%A9"],
    ),
    "scrapy#5601": (
        page("\ufeff<a href='?q=П'>", "text/html; charset=cp1251"),
        ["/page?q=%D0%9F"],
    ),
    "scrapy#4933": (
        page(
            '<meta http-equiv=Content-Type content="text/html; charset=windows-1252"><a '
            'href="?q=é">',
            "text/html; charset=utf-8",
        ),
        ["/page?q=%C3%A9"],
    ),
    "crawlee#2901": (page("<a href='?q=é'>", "text/html; charset=ISO-88509-1"), ["/page?q=%C3%A9"]),
    "crawlee#524": (
        page(
            '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><a '
            'href="?q=Б">'.encode("cp1251")
        ),
        ["/page?q=%C1"],
    ),
    "pywb#139": (
        page(
            '<meta http-equiv=Content-Type content="text/html; charset=x-sjis"><a '
            'href="?q=日">'.encode("cp932")
        ),
        ["/page?q=%93%FA"],
    ),
    "pywb#38": (page(b"<p>Espa\xf1a<a href=/next>", "text/html; charset=utf-8"), ["/next"]),
    # Encodings of content, sitemaps and media types.
    "scrapy#193": (page(packed(packed(LIST)), "application/x-gzip", GZIP), [LISTED]),
    "scrapy#951": (
        page(packed(packed(LIST)), "application/octet-stream", "Content-Encoding: x-gzip\r\n"),
        [LISTED],
    ),
    "scrapy#2063": (page(packed(LIST), "binary/octet-stream", GZIP), [LISTED]),
    "scrapy#2049": (page(packed(LIST), "application/x-gzip;charset=utf-8"), [LISTED]),
    "scrapy#2900": (page(LIST, "text/html; charset=utf-8"), [LISTED]),
    "scrapy#1905": (page(packed(LONG)[:-8], fields=GZIP), ["/one", "/two"]),
    "scrapy#87": (
        page(packed(LONG, -15), fields="Content-Encoding: deflate\r\n"),
        ["/one", "/two"],
    ),
    "scrapy#2388 page": (page(LONG, fields=GZIP), ["/one", "/two"]),
    "browsertrix-crawler#578 gzip": (page(LIST, "application/gzip", GZIP), [LISTED]),
    "browsertrix-crawler#578": (
        page(
            LIST.replace(
                b"<loc>http://www.a.example/listed",
                b"<loc>\n<![CDATA[ http://www.a.example/l?x=1&y=2 ]]>\n",
            ),
            "text/xml",
        ),
        ["http://www.a.example/l?x=1&y=2"],
    ),
    "crawlee#2368": (page(packed(LIST)[:20] + b"garbage" * 20, "application/gzip"), []),
    "crawlee#2202": (page("<a href=/x>", "text/plain; charset=utf-8"), []),
    "scrapy#2853": (
        page(
            '<urlset xmlns="https://www.google.com/schemas/sitemap/0.84"'
            ' xmlns:xhtml="http://www.w3.org/1999/xhtml/"><url><loc>http://a.example/en</loc>'
            '<xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/></url>'
            "</urlset>",
            "application/xml",
        ),
        ["http://a.example/en", "http://a.example/de"],
    ),
    "stormcrawler#409": (
        page(
            '<?xml version="1.0"?><!-- ' + "padding " * 200 + '--><urlset xmlns:x="http://x"'
            ' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/1</loc></url>'
            "</urlset>",
            "application/xml",
        ),
        ["/1"],
    ),
    "stormcrawler#2083": (
        page(
            "<!DOCTYPE html><!-- http://www.sitemaps.org/schemas/sitemap/0.9 --><a href=/x>"
            "<loc>/y</loc>"
        ),
        ["/x"],
    ),
    # Lines of the answer.
    "browsertrix-crawler#607": (
        page(
            "d\r\n<a href=/one>\r\n0\r\n\r\n",
            fields="Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        ),
        ["/one"],
    ),
    "nutch#3": (
        page("d\r\n<a href=/one>\r\n0\r\n\r\n", fields="Transfer-Encoding: chunked\r\n"),
        ["/one"],
    ),
    "warcio#95": (
        "HTTP/1.1 200 Artículo encontrado\r\nContent-Type: text/html\r\nConnection: close"
        "\r\n\r\n<a href=/one>".encode(),
        ["/one"],
    ),
    "pywb#536": (
        page("<a href=/one>").replace(b"Connection", "Server: Acme™\r\nConnection".encode()),
        ["/one"],
    ),
}
