# ruff: noqa: ISC004
"""The links of complex elements, with their kinds."""

from __future__ import annotations

import pytest

from agent.modules.page.html.markup import by_tree, links_of_markup
from agent.modules.page.links import links_of
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

PAGE = "http://a.example/dir/page.html"


def kinds(html: str, off: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    """Return (path, kind) of each link, if both readers say the same; `+`: loaded with the page."""
    one, other = (
        links_of(found, b"", PAGE, "utf-8", agent_token="prsm", max_links=99, off=off)
        for found, _ in (
            links_of_markup(html.encode(), "utf-8", "prsm"),
            by_tree(html.encode(), "utf-8"),
        )
    )
    assert one == other
    return [
        (
            url.removeprefix("http://a.example/dir/"),
            LinkKind(kind & ~EMBEDDED).name.lower() + "+" * bool(kind & EMBEDDED),
        )
        for url, kind in zip(one.urls, one.kinds, strict=True)
    ]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<a href=x><img src=y><script src=z></script>",
         [("x", "anchor"), ("y", "image+"), ("z", "script+")]),
        ("<link rel=next href=x><link rel=stylesheet href=y><link rel=manifest href=z>",
         [("x", "link"), ("y", "link+"), ("z", "manifest+")]),
        ("<img src=x><a href=x>", [("x", "image+")]),
        ("<style>@import 'x'</style><p style='a:url(y)'>", [("x", "style+"), ("y", "style+")]),
        ("<img data-src=x.jpg><p data-src=true data-original=12.5><p data-href=/y/z data-url=q>",
         [("x.jpg", "lazy+"), ("http://a.example/y/z", "lazy")]),
        ("<div data-images='[\"/a.jpg\",\"/b.jpg\"]' data-bgset='c.jpg 1x, d.jpg 2x'>",
         [("http://a.example/a.jpg", "lazy+"), ("http://a.example/b.jpg", "lazy+"),
          ("c.jpg", "lazy+"), ("d.jpg", "lazy+")]),
        ("<x-img src=a srcset='b 2x'></x-img><x-a href=c>",
         [("a", "lazy+"), ("b", "lazy+"), ("c", "lazy")]),
        ("<svg><use href=#x /><use href='s.svg#y'/><a xlink:href=z>",
         [("s.svg", "svg+"), ("z", "svg")]),
        ("<form method=post><button formaction=x formmethod=get><button formaction=y></form>",
         [("x", "form")]),
        ("<form action=x?old><input name=q value='a&amp;b ü'><input name=e></form>",
         [("x", "form"), ("x?q=a%26b+%C3%BC&e=", "form_values")]),
        ("<form action=x><input name=q></form><form><input name=q value=v>",
         [("x", "form"), ("page.html?q=v", "form_values")]),
        ("<form action=x><select name=a><option>1<option disabled>2<option value=''>3</select>",
         [("x", "form"), ("x?a=1", "form_values"), ("x?a=", "form_values")]),
        ("<form action=x><select name=a><option>1<option selected>2</select>"
         "<select name=b multiple><option>3<option selected>4<option selected>5</select></form>",
         [("x", "form"), ("x?a=2&b=4&b=5", "form_values")]),
        ("<form action=x rel=nofollow><input name=a value=1></form>", []),
        ("<form action=x><input type=radio name=a value=1><input type=radio name=a value=2 checked>"
         "<input type=file name=f><input type=submit name=go value=Go><button name=h>",
         [("x", "form"), ("x?a=2&go=Go", "form_values"), ("x?a=2&h=", "form_values")]),
        ("<form action=x><input name=a value=1 disabled><textarea name=t>\nw &amp; v</textarea>",
         [("x", "form"), ("x?t=w+%26+v", "form_values")]),
        ("<iframe srcdoc='<a href=x><img src=y><iframe srcdoc=\"<a href=z>\"></iframe>'></iframe>",
         [("x", "srcdoc"), ("y", "srcdoc+"), ("z", "srcdoc")]),
        ("<!--[if lt IE 9]><script src=x></script><![endif]--><!-- <a href=y> -->",
         [("x", "comment+")]),
        ("<noembed><img src=x></noembed>", [("x", "comment+")]),
        ("<p>x<frameset><frame src=x longdesc=y></frameset>", [("x", "frame+"), ("y", "citation")]),
        ("<meta property=og:image content=x.png><meta property=og:url content=/y/>"
         "<meta property=og:image:width content=1.5><meta name=theme-image-color content=#f.f>",
         [("x.png", "meta+"), ("http://a.example/y/", "meta")]),
        ("<meta name=msapplication-task content='name=N; action-uri=./t; icon-uri=./i.ico'>",
         [("t", "meta"), ("i.ico", "meta")]),
        ('<script type=application/ld+json>{"@id":"#me","name":"/no","url":"/u",'
         '"image":["i.png",{"contentUrl":"./c"}],"item":{"@id":"/id"}}</script>',
         [("http://a.example/u", "json_ld"), ("i.png", "json_ld+"), ("c", "json_ld+"),
          ("http://a.example/id", "json_ld")]),
        ("<script type=application/ld+json>{'broken</script>", []),
        ("<script type=text/template>'<a href=/x/y>' '/a/b'</script>", []),
        ("<script>var a='/a/b'</script><p onclick=\"go('/c/d')\">",
         [("http://a.example/a/b", "string"), ("http://a.example/c/d", "string")]),
        ("<object codebase=/o/ data=x archive='y, z'><param name=src value=p.swf>"
         "<param name=loop value=true></object>",
         [("x", "media+"), ("http://a.example/o/x", "media+"), ("http://a.example/o/y", "media+"),
          ("http://a.example/o/z", "media+"), ("p.swf", "media+")]),
        ("<import implementation=x.htc><object codebase='/p.cab#v'></object><applet object=y>",
         [("x.htc", "script+"), ("http://a.example/p.cab", "media+"), ("y", "media+")]),
        ("<applet code=A codebase=/f.jar></applet>",
         [("http://a.example/f.jar/A", "media+"), ("http://a.example/f.jar", "media+")]),
        ("<object><param name=a valuetype=REF value=x.swf><param name=b value=y.swf></object>",
         [("x.swf", "media+")]),
        ("<svg><path fill='url(#a)' stroke='url(s.svg#b)' mask=\"url('m.svg')\"/>"
         "<linearGradient href='g.svg#c'/><pattern href='#d'/><textPath href='t.svg#e'/></svg>",
         [("s.svg", "svg+"), ("m.svg", "svg+"), ("g.svg", "svg+"), ("t.svg", "svg+")]),
        ("<v:imagedata src=x.gif></v:imagedata><fencedframe src=/f/g></fencedframe>",
         [("x.gif", "lazy+"), ("http://a.example/f/g", "frame+")]),
        ("<img file=x.jpg zoomfile=y.jpg><img lazy-src=/a/z><p original=word><p file=/f.pdf>",
         [("x.jpg", "lazy+"), ("y.jpg", "lazy+"), ("http://a.example/a/z", "lazy+"),
          ("http://a.example/f.pdf", "lazy+")]),
        ("<a data-path=/a/b data-page=12 data-to=./cd data-x='/a b'>",
         [("http://a.example/a/b", "lazy"), ("cd", "lazy")]),
        ("<div data-bgset='a.jpg 1x | b.jpg 2x' data-original-set='c.jpg 1x, d.jpg 2x'>",
         [("a.jpg", "lazy+"), ("b.jpg", "lazy+"), ("c.jpg", "lazy+"), ("d.jpg", "lazy+")]),
        ("<meta name=a content='&lt;img src=x&gt;'><meta name=copyright content=\"<img src='y'>\">",
         [("y", "meta+")]),
        ("<meta property=og:image content='http://a.example/a b.png'><meta name=image content=a>",
         [("http://a.example/a%20b.png", "meta+")]),
        ("<meta name=msapplication-badge content='frequency=30;polling-uri=/a;polling-uri2=/b'>",
         [("http://a.example/a", "meta"), ("http://a.example/b", "meta")]),
        ("<script type=application/ld+json>//<![CDATA[\n{\"url\":\"/u1\",}\n//]]></script>",
         [("http://a.example/u1", "json_ld")]),
        ("<script type=application/ld+json><!-- {\"name\":\"a\nb\",\"url\":\"/u1\"} --></script>",
         [("http://a.example/u1", "json_ld")]),
        ("<script type=application/ld+json>{\"url\":\"/u1\"}{\"image\":\"/i2.png\"}</script>",
         [("http://a.example/u1", "json_ld"), ("http://a.example/i2.png", "json_ld")]),
        ("<form action=x accept-charset='none EUC-JP'><input name=q value='日 é'></form>",
         [("x", "form"), ("x?q=%C6%FC+%26%23233%3B", "form_values")]),
        ("<iframe srcdoc=\"<base href='/b/'><img src=x><a href='http://c.example/y'>\"></iframe>",
         [("http://a.example/b/x", "srcdoc+"), ("http://c.example/y", "srcdoc")]),
        ("<div><template shadowrootmode=open><a href=x><style>@import 'y'</style></template></div>",
         [("x", "anchor"), ("y", "style+")]),
        ("<template shadowrootmode=none><a href=x></template>", []),
        ("<p style='filter:progid:DX.Microsoft.AlphaImageLoader(enabled=1, src=\"x.png\")'>",
         [("x.png", "style+")]),
        ("<a href=x ping='p q'>", [("x", "anchor"), ("p", "ping"), ("q", "ping")]),
        ("<style>p{background:u\\72 l(x)}</style><style>@\\69mport 'y';</style>"
         "<p style='a:u\\72l(z)'>",
         [("x", "style+"), ("y", "style+"), ("z", "style+")]),
        ("<style>a{b:url(x)}/*# sourceMappingURL=s.map */</style>"
         "<script>'y'\n//# sourceMappingURL=t.map</script>",
         [("x", "style+"), ("s.map", "source_map"), ("t.map", "source_map")]),
        ("<script type=importmap>{\"imports\":{\"a\":\"./a.js\",\"b/\":\"/b/\"},"
         "\"scopes\":{\"/s/\":{\"a\":\"/c.js\"}},\"integrity\":{\"/no.js\":\"sha384-x\"}}</script>",
         [("a.js", "script+"), ("http://a.example/c.js", "script+")]),
        ("<script type=speculationrules>{\"prefetch\":[{\"urls\":[\"next\",\"/n\"]},{\"where\":"
         "{\"href_matches\":\"/no/*\"}}],\"prerender\":[{\"source\":\"list\",\"urls\":[\"r.html\"]}]}"
         "</script>",
         [("next", "link"), ("http://a.example/n", "link"), ("r.html", "link")]),
        ("<div itemscope itemid=/i/1><p about='http://b.example/2'><p resource=#me><p about=word>",
         [("http://a.example/i/1", "meta"), ("http://b.example/2", "meta")]),
        ("<div hx-get=/h/1><img ng-src=n.png lazy=l.jpg><p ng-include=\"'t.html'\" lazy=yes>"
         "<img ng-src={{x}}/y.png nitro-lazy-src=/o.png><a up-href=/u/1>",
         [("http://a.example/h/1", "lazy"), ("n.png", "lazy+"), ("l.jpg", "lazy+"),
          ("t.html", "lazy"), ("http://a.example/o.png", "lazy+"),
          ("http://a.example/u/1", "lazy")]),
        ("<video data-setup='{\"src\":\"/v.mp4\"}'><p data-q='{1}'"
         " data-props=\"[&quot;/p.png&quot;]\">"
         "<b data-mp4=m.mp4 data-file=f.pdf data-source=s.webm data-at2x=t.png data-mobile=o.jpg>",
         [("http://a.example/v.mp4", "lazy+"), ("http://a.example/p.png", "lazy+"),
          ("m.mp4", "lazy+"), ("f.pdf", "lazy+"), ("s.webm", "lazy+"), ("t.png", "lazy+"),
          ("o.jpg", "lazy+")]),
        ("<meta name=DC.identifier content=http://b.example/d><meta name=x content=/no>",
         [("http://b.example/d", "meta")]),
        ('<script type=application/ld+json>{"@context":"https://schema.org","sameAs":["/s","no"],'
         '"offers":{"availability":"https://schema.org/InStock","seller":"http://b.example/v"},'
         '"potentialAction":{"target":{"urlTemplate":"/q?{x}"}},"photo":"/p.jpg",'
         '"url":{"@value":"/w"},"license":"CC 4.0"}</script>',
         [("http://a.example/s", "json_ld"), ("http://b.example/v", "json_ld"),
          ("http://a.example/p.jpg", "json_ld+"), ("http://a.example/w", "json_ld")]),
        ("<q cite=''><q cite=' '><img lowsrc=#x>", [("page.html", "image+")]),
        ("<base href=/b/><style>@import 'x'</style>", [("http://a.example/b/x", "style+")]),
    ],
)  # fmt: skip
def test_links_and_their_kinds(html: str, found: list[tuple[str, str]]) -> None:
    """Each by the form that led to it, and whether a browser loads it with the page."""
    assert kinds(html) == found


def test_a_kind_that_is_off_is_no_link() -> None:
    """A URL that another kind leads to as well stays one."""
    html = "<q cite=x><q cite=y><a href=x ping=z>"
    assert kinds(html, (LinkKind.CITATION, LinkKind.PING)) == [("x", "anchor")]


def test_pages_within_pages_end() -> None:
    """However deep a page nests them."""
    page = "<a href=x>"
    for _ in range(10):
        page = "<iframe srcdoc='" + page.replace("&", "&amp;").replace("'", "&#39;") + "'></iframe>"
    assert kinds(page) == []
