"""Sitemaps and feeds as sites send them, good, broken and hostile, with the URLs they lead to.

Of a document that XML forbids, the URLs are those that its author meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["URL", "Case", "cases"]

HOST: Final = "http://a.example"
URL: Final = f"{HOST}/list.xml"
"""Of each document."""

_DECLARED: Final = '<?xml version="1.0" encoding="UTF-8"?>'
_ATOM: Final = '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/">'
_RDF: Final = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns="http://purl.org/rss/1.0/">'
)


class Case(NamedTuple):
    """A document. paths: what it leads to at its host."""

    name: str
    body: bytes
    paths: tuple[str, ...]

    @property
    def urls(self) -> list[str]:
        """Return the URLs that the document leads to."""
        return [HOST + path for path in self.paths]


def cases(times: int = 1) -> Iterator[Case]:
    """Yield all cases. times: the size of the large ones."""
    groups = (_encodings(), _namespaces(), _ampersands(), _broken(), _cut(), _hostile(times))
    for group in groups:
        for name, body, *paths in group:
            octets = body if isinstance(body, bytes) else body.encode()
            yield Case(name, octets, tuple(paths))


_Row = tuple[str, str | bytes, *tuple[str, ...]]


def _sitemap(*locations: str, head: str = _DECLARED, before: str = "") -> str:
    """Return a sitemap. before: text in front of its first `<url>`."""
    listed = "".join(f"<url><loc>{HOST}{one}</loc></url>" for one in locations)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'{head}<urlset xmlns="{space}">{before}{listed}</urlset>'


def _items(first: str, second: str = "<link>/2</link>") -> str:
    return f"<rss><channel><item>{first}</item><item>{second}</item></channel></rss>"


def _encodings() -> Iterator[_Row]:
    japanese, escaped = "/日本", "/%E6%97%A5%E6%9C%AC"
    yield "plain", _sitemap("/1", "/2"), "/1", "/2"
    yield "white space before the declaration", "\r\n  " + _sitemap("/1"), "/1"
    yield "a byte order mark and white space", "\ufeff \n" + _sitemap("/1"), "/1"
    for label, codec in (("Shift_JIS", "cp932"), ("EUC-JP", "euc-jp"), ("UTF-16", "utf-16")):
        head = f'<?xml version="1.0" encoding="{label}"?>'
        yield f"{label}, declared", _sitemap(japanese, head=head).encode(codec), escaped
    text = "<!-- 日本語の文書です。検索エンジンのための一覧 -->"
    for codec in ("cp932", "euc-jp"):
        yield f"{codec}, undeclared", _sitemap("/1", head="", before=text).encode(codec), "/1"
    yield "EUC-JP, declared as UTF-8", _sitemap("/1", before=text).encode("euc-jp"), "/1"
    head = '<?xml version="1.0" encoding="UTF-16"?>'
    yield "UTF-8, declared as UTF-16", _sitemap("/1", head=head), "/1"
    yield "a byte of Latin-1", _sitemap("/1", before="?").encode().replace(b"?<", b"\xe9<"), "/1"
    yield "NUL between elements", _sitemap("/1", "/2").replace("</url>", "</url>\0"), "/1", "/2"
    yield "control characters", _sitemap("/1", "/2", before="<t>a\x08b</t>"), "/1", "/2"


def _namespaces() -> Iterator[_Row]:
    yield "a prefix", f'<s:urlset xmlns:s="s"><s:loc>{HOST}/1</s:loc></s:urlset>', "/1"
    yield "an undeclared prefix", f"<s:urlset><s:loc>{HOST}/1</s:loc></s:urlset>", "/1"
    extended = (
        f"<urlset><url><loc>{HOST}/1</loc><image:image><image:loc>{HOST}/2</image:loc>"
        f"</image:image><video:content_loc>{HOST}/3</video:content_loc><news:news><news:title>x"
        f'</news:title></news:news><xhtml:link hreflang="ja" href="{HOST}/4"/></url></urlset>'
    )
    yield "images, videos, news and languages", extended, "/1", "/2", "/3", "/4"
    yield "two colons in a name", f"<urlset><a:b:c/><loc>{HOST}/1</loc></urlset>", "/1"
    yield "Atom with xml:base", _ATOM + '<entry><link href="1"/></entry></feed>', "/blog/1"
    yield (
        "Atom with xml:base, broken",
        _ATOM + '<entry xml:base="x/"><title>A & B</title><link href="1"/></entry>'
        '<entry><link href="2"/></entry></feed>',
        *("/blog/x/1", "/blog/2"),
    )
    rdf = '<rdf:Seq><rdf:li rdf:resource="/4"/></rdf:Seq><item><link>/3</link></item></rdf:RDF>'
    yield "RSS 1.0", _RDF + rdf, "/4", "/3"


def _ampersands() -> Iterator[_Row]:
    yield "CDATA", _items("<link><![CDATA[/1?a=1&b=2]]></link>"), "/1?a=1&b=2", "/2"
    yield "&amp; and a number", _sitemap("/?a=1&amp;b=2", "/?c&#38;d"), "/?a=1&b=2", "/?c&d"
    yield (
        "a bare & in an address",
        _sitemap("/?a=1&b=2", "/?c=3&amp;d=4", "/5"),
        *("/?a=1&b=2", "/?c=3&d=4", "/5"),
    )
    yield "a bare & like a name of HTML", _sitemap("/?a=1&copy=2"), "/?a=1&copy=2"
    yield (
        "a bare & in a text, &amp; behind it",
        _sitemap("/?c=3&amp;d=4", before="<t>R & D</t>"),
        "/?c=3&d=4",
    )
    yield "a bare & in an attribute", _items('<enclosure url="/?x=1&y=2"/>'), "/?x=1&y=2", "/2"
    yield "&nbsp;", _items("<title>A&nbsp;B</title><link>/?c=3&amp;d=4</link>"), "/?c=3&d=4", "/2"
    yield (
        "&nbsp; behind a document type",
        '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://b.example/rss-0.91.dtd">'
        + _items("<title>A&nbsp;B</title><link>/1</link>"),
        *("/1", "/2"),
    )
    yield "numbers of no character", _sitemap("/1", before="<t>&#0;&#x1;</t>"), "/1"


def _broken() -> Iterator[_Row]:
    yield "< in a text", _items("<title>1 < 2</title><link>/1</link>"), "/1", "/2"
    yield "< in an attribute", _items('<x a="1<2"/><link>/1</link>'), "/1", "/2"
    yield "an end tag of nothing", _items("<link>/1</link></oops>"), "/1", "/2"
    yield "an element that nothing ends", _items("<d>a<br>b</d><link>/1</link>"), "/1", "/2"
    yield "two documents", _sitemap("/1") + "\n" + _sitemap("/2"), "/1", "/2"
    yield "text and a script behind it", _sitemap("/1") + "<script>x</script> & junk", "/1"
    yield "a warning before it", "Warning: x in y.php\n" + _sitemap("/1"), "/1"
    yield "an attribute without quotes", "<rss version=2.0><link>/1</link></rss>", "/1"
    yield "an attribute twice", '<rss a="1" a="2"><link>/1</link></rss>', "/1"
    head = '<?xml version="1.0" encoding="UTF-8">'
    yield "a declaration that ends in >", _sitemap("/1", head=head), "/1"
    yield "XML 1.1", _sitemap("/1", head='<?xml version="1.1"?>'), "/1"
    yield "-- in a comment", _sitemap("/1", before="<!-- a -- b -->"), "/1"
    comment = f"<t>&</t><!-- <url><loc>{HOST}/no</loc></url> -->"
    yield "elements in a comment, broken", _sitemap("/1", before=comment), "/1"
    yield "a space in an address, broken", _sitemap("/1 2\n", before="<t>&</t>"), "/1%202"


def _cut() -> Iterator[_Row]:
    whole = _sitemap("/1", "/2", "/page")
    yield "cut in an address", whole[: whole.index("age</loc>")], "/1", "/2"
    yield "cut in an end tag", whole[:-4], "/1", "/2", "/page"
    yield "cut in a tag", whole[: whole.rindex("oc>", 0, whole.index("/page"))], "/1", "/2"


def _hostile(times: int) -> Iterator[_Row]:
    names = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))
    laughs = f"<!DOCTYPE rss [<!ENTITY l0 'ha'>{names}]>"
    yield "a billion laughs", laughs + _items("<link>/&l9;</link>"), "/&l9;", "/2"
    yield "the same in an attribute", laughs + _items("<link href='/&l9;'/>"), "/&l9;", "/2"
    long = f"<!DOCTYPE rss [<!ENTITY a '{'x' * 50_000}'>]>"
    yield "a long entity, often", long + _items(f"<t>{'&a;' * 50_000}</t>"), "/2"
    file = "<!DOCTYPE rss [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
    yield "a file of this machine", file + _items("<link>/&f;</link>"), "/&f;", "/2"
    outside = "<!DOCTYPE rss SYSTEM 'http://b.example/x.dtd'>"
    yield "a document type elsewhere", outside + _items("<link>/1</link>"), "/1", "/2"
    parameter = "<!DOCTYPE rss [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]>"
    yield "a parameter entity", parameter + _items("<link>/1</link>"), "/1", "/2"
    yield "open elements", "<rss>" + "<a>" * 100_000 * times + "<link>/1</link>", "/1"
    deep = "<x>" * 300 + "<link>/1</link>" + "</x>" * 300
    yield "300 elements deep", f"<rss>{deep}<link>/2</link></rss>", "/1", "/2"
    many = " ".join(f'a{number}="x"' for number in range(2_000 * times))
    yield "many attributes", _items(f"<x {many}/><link>/1</link>"), "/1", "/2"
    large = "x" * 1_200_000 * times
    yield "a text, long", _items(f"<t>{large}</t><link>/1</link>"), "/1", "/2"
    yield "an attribute, long", _items(f'<t a="{large}"/><link>/1</link>'), "/1", "/2"
    yield "a comment, long", _items(f"<!--{large}--><link>/1</link>"), "/1", "/2"
