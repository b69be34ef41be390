"""A maze: a site whose pages are found by one form of link each, and traps that none should find.

    http://127.x.x.x:PORT/             links to every page that holds a form: /form/NAME
    http://127.x.x.x:PORT/form/NAME    holds the form, whose target is /found/NAME, and only that
    http://127.x.x.x:PORT/never/NAME   what a form leads to that must not be followed

The request for a target is the proof. Where a form needs more than one file (a style sheet, a
manifest, a PDF), that file is found by an ordinary link or the form that is usual for it.
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from tests.e2e.maze_documents import DOCUMENTS
from tests.e2e.maze_form import Form, css, file
from tests.e2e.maze_hints import HINTS
from tests.e2e.maze_submissions import SUBMISSIONS, SUBMITTED_NEVER

__all__ = ["FORMS", "NEVER", "WELL_KNOWN", "Form", "LinkMaze"]

HTML: Final = "text/html; charset=utf-8"


def _zip(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _pdf(target: str, *, compressed: bool) -> bytes:
    import pypdf  # noqa: PLC0415  # needed by two forms only
    from pypdf.annotations import Link  # noqa: PLC0415
    from pypdf.generic import DictionaryObject, NameObject, TextStringObject  # noqa: PLC0415

    del Link
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(200, 200)
    action = DictionaryObject(
        {NameObject("/S"): NameObject("/URI"), NameObject("/URI"): TextStringObject(target)}
    )
    annotation = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/Link"),
            NameObject("/A"): action,
        }
    )
    writer.add_annotation(page, annotation)
    out = io.BytesIO()
    if compressed:
        writer.compress_identical_objects()
    writer.write(out)
    return out.getvalue()


_RELS: Final = (
    '<Relationships><Relationship Id="r1" Type="http://x/hyperlink" TargetMode="External" '
    'Target="{t}"/></Relationships>'
)

FORMS: Final = (
    *SUBMISSIONS,
    *DOCUMENTS,
    *HINTS,
    # What was read before.
    Form("a", "<a href={t}>x</a>"),
    Form("area", "<map name=m><area href={t}></map>"),
    Form("link-next", "<link rel=next href={t}>"),
    Form("link-stylesheet", "<link rel=stylesheet href={t}>"),
    Form("link-icon", "<link rel=icon href={t}>"),
    Form("link-import", "<link rel=import href={t}>"),
    Form("link-imagesrcset", "<link rel=preload as=image imagesrcset='{t} 2x'>"),
    Form("frame", "<frameset><frame src={t}></frameset>"),
    Form("iframe", "<iframe src={t}></iframe>"),
    Form("script-src", "<script src={t}></script>"),
    Form("img", "<img src={t}>"),
    Form("img-srcset", "<img srcset='{t} 2x'>"),
    Form("picture-source", "<picture><source srcset={t}></picture>"),
    Form("video-poster", "<video poster={t}></video>"),
    Form("audio", "<audio src={t}></audio>"),
    Form("track", "<video><track src={t}></video>"),
    Form("embed", "<embed src={t}>"),
    Form("object-data", "<object data={t}></object>"),
    Form("input-image", "<form method=post><input type=image src={t}></form>"),
    Form("body-background", "<body background={t}>"),
    Form("table-background", "<table background={t}>"),
    Form("form-action", "<form action={t}></form>"),
    Form("meta-refresh", "<meta http-equiv=refresh content='0; url={t}'>"),
    Form("noscript", "<noscript><a href={t}>x</a></noscript>"),
    Form("base", "<base href=/found/><a href={l}>x</a>"),
    Form("header-link", header={"Link": "<{t}>; rel=next"}),
    Form("header-refresh", header={"Refresh": "0; url={t}"}),
    Form("header-link-images", header={"Link": '<>; rel=preload; imagesrcset="{t} 2x"'}),
    # Style sheets.
    Form("style-element-url", "<style>p {{ background: url({t}) }}</style>"),
    Form("style-element-import", "<style>@import '{t}';</style>"),
    Form("style-attribute", "<p style='background: url(&quot;{t}&quot;)'>x</p>"),
    css("css-url", "p { background: url( '{t}' ) }"),
    css("css-import-string", '@import "{t}" screen;'),
    css("css-import-url", "@import url({t});"),
    css("css-font-face", "@font-face { font-family: x; src: url({t}) format('woff2') }"),
    css("css-image-set", "p { background: image-set('{t}' 2x) }"),
    css("css-escape", "p { background: url({e}) }"),
    css("css-alpha", "p { filter: progid:DX.AlphaImageLoader(src='{t}') }"),
    # Lazy loading.
    Form("img-file", "<img file={t}>"),
    Form("data-any", "<p data-path={t}>"),
    Form("data-src", "<img data-src={t}>"),
    Form("data-srcset", "<img data-srcset='{t} 2x'>"),
    Form("data-original", "<img data-original={t}>"),
    Form("data-lazy-src", "<img data-lazy-src={t}>"),
    Form("data-bg", "<div data-bg='url({t})'></div>"),
    Form("data-background-image", "<div data-background-image={t}></div>"),
    Form("data-poster", "<video data-poster={t}></video>"),
    Form("custom-element", "<amp-img src={t}></amp-img>"),
    Form("vml", "<v:imagedata src={t} />"),
    Form("fencedframe", "<fencedframe src={t}></fencedframe>"),
    Form("shadow-root", "<p><template shadowrootmode=open><a href={t}>x</a></template>"),
    # SVG.
    Form("svg-fill", "<svg><path fill='url({t}#x)' /></svg>"),
    Form("svg-gradient", "<svg><linearGradient href='{t}#x' /></svg>"),
    Form("svg-image", "<svg><image href={t} /></svg>"),
    Form("svg-image-xlink", "<svg><image xlink:href={t} /></svg>"),
    Form("svg-use", "<svg><use href='{t}#x' /></svg>"),
    Form("svg-use-xlink", "<svg><use xlink:href='{t}#x' /></svg>"),
    Form("svg-script", "<svg><script href={t} /></svg>"),
    Form("svg-script-xlink", "<svg><script xlink:href={t} /></svg>"),
    Form("svg-a", "<svg><a href={t}>x</a></svg>"),
    Form("svg-a-xlink", "<svg><a xlink:href={t}>x</a></svg>"),
    file(
        *("svg-file", "x.svg", "image/svg+xml"),
        b"<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>"
        b"<image xlink:href='{t}'/></svg>",
    ),
    # Markup within text.
    Form("srcdoc", "<iframe srcdoc='&lt;a href={t}&gt;x&lt;/a&gt;'></iframe>"),
    Form("conditional-comment", "<!--[if IE]><a href={t}>x</a><![endif]-->"),
    Form("conditional-revealed", "<!--[if !IE]><!--><a href={t}>x</a><!--<![endif]-->"),
    Form("frameset-after-content", "<p>x</p><frameset><frame src={t}></frameset>"),
    Form("noframes", "<frameset><noframes><a href={t}>x</a></noframes></frameset>"),
    # Old and rare attributes.
    Form("object-codebase", "<object codebase=/found/ data={l}></object>"),
    Form("object-archive", "<object archive='{t}'></object>"),
    Form("applet-code", "<applet codebase=/found/ code={l}></applet>"),
    Form("applet-archive", "<applet code=x archive={t}></applet>"),
    Form("param-movie", "<object><param name=movie value={t}></object>"),
    Form("blockquote-cite", "<blockquote cite={t}>x</blockquote>"),
    Form("q-cite", "<q cite={t}>x</q>"),
    Form("ins-cite", "<ins cite={t}>x</ins>"),
    Form("del-cite", "<del cite={t}>x</del>"),
    Form("a-ping", "<a href=/ ping={t}>x</a>"),
    Form("img-longdesc", "<img longdesc={t}>"),
    Form("img-lowsrc", "<img lowsrc={t}>"),
    Form("img-dynsrc", "<img dynsrc={t}>"),
    Form("bgsound", "<bgsound src={t}>"),
    Form("tr-background", "<table><tr background={t}><td>x</table>"),
    Form("import-implementation", "<import implementation={t} />"),
    Form("object-codebase-file", "<object codebase={t}></object>"),
    Form("applet-object", "<applet object={t}></applet>"),
    Form("param-ref", "<object><param name=x valuetype=ref value={t}></object>"),
    # What stands for the page elsewhere.
    Form("meta-markup", "<meta name=copyright content=\"<img src='{t}'>\">"),
    Form("json-ld-comment", '<script type=application/ld+json>// <!--\n{{"url": "{t}",}}</script>'),
    file(
        *("browserconfig", "b.xml", "application/xml"),
        b"<browserconfig><msapplication><tile><TileImage src='{t}'/></tile></msapplication>",
    ),
    file("css-xml-stylesheet", "d.xml", "text/xml", b"<?xml-stylesheet href='{t}'?><data/>"),
    file("css-xslt-import", "d.xsl", "text/xsl", b"<xsl:stylesheet><xsl:import href='{t}'/>"),
    file("opml", "d.opml", "text/x-opml", b"<opml><outline xmlUrl='{t}'/></opml>"),
    file("m3u", "d.m3u8", "application/vnd.apple.mpegurl", b"#EXTM3U\n{t}\n"),
    file("appcache", "d.appcache", "text/cache-manifest", b"CACHE MANIFEST\n{t}\n"),
    Form("meta-og-image", "<meta property=og:image content={t}>"),
    Form("meta-twitter-image", "<meta name=twitter:image content={t}>"),
    Form("meta-msapplication", "<meta name=msapplication-TileImage content={t}>"),
    Form("meta-itemprop", "<meta itemprop=image content={t}>"),
    Form("json-ld-url", '<script type=application/ld+json>{{"url": "{t}"}}</script>'),
    Form("json-ld-id", '<script type=application/ld+json>[{{"@id": "{t}"}}]</script>'),
    Form(
        "json-ld-contenturl",
        '<script type=application/ld+json>{{"image": {{"contentUrl": "{t}"}}}}</script>',
    ),
    Form(
        "manifest-icon",
        "<link rel=manifest href={n}m.webmanifest>",
        files={"m.webmanifest": ("application/manifest+json", b'{"icons": [{"src": "{t}"}]}')},
    ),
    Form(
        "manifest-start",
        "<link rel=manifest href={n}m.json>",
        files={"m.json": ("application/json", b'{"start_url": "{t}"}')},
    ),
    Form("html-manifest", "<html manifest={t}>"),
    # Scripts.
    Form("script-string", "<script>var next = '{t}';</script>"),
    Form("script-string-escaped", '<script>go("{s}")</script>'),
    Form("script-json", '<script type=application/json>{{"next": "{t}"}}</script>'),
    Form("script-module", "<script type=module>import x from '{t}'</script>"),
    Form("script-comment", "<script>/* it's */var next='{t}'</script>"),
    Form("script-regex", "<script>a=b.replace(/'/g,'');next='{t}'</script>"),
    Form("script-writes", "<script>document.write('<a href=\"{t}\">x')</script>"),
    Form("onclick", "<p onclick=\"location.href='{t}'\">x</p>"),
    Form(
        "script-file-string",
        "<script src={n}x.js></script>",
        files={"x.js": ("text/javascript", b'fetch("{t}")')},
    ),
    # Header fields.
    Form("header-content-location", header={"Content-Location": "{t}"}),
    Form(
        "header-sourcemap",
        "<script src={n}x.js></script>",
        files={"x.js": ("text/javascript; SourceMap={t}", b"1")},
    ),
    Form(
        "comment-sourcemap",
        "<script src={n}x.js></script>",
        files={"x.js": ("text/javascript", b"1\n//# sourceMappingURL={t}\n")},
    ),
    # Documents.
    file("pdf", "x.pdf", "application/pdf", b"PDF"),
    file(
        *("docx", "x.docx"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        b"ZIP word/_rels/document.xml.rels " + _RELS.encode(),
    ),
    file(
        *("odt", "x.odt", "application/vnd.oasis.opendocument.text"),
        b'ZIP content.xml <text:a xlink:href="{t}">x</text:a>',
    ),
)

NEVER: Final = {
    **SUBMITTED_NEVER,
    "post": "<form method=post action={t}><input name=a value=1></form>",
    "formaction-post": "<form method=post action=/x><button formaction={t}>x</button></form>",
    "csp-meta": "<meta http-equiv=Content-Security-Policy content='report-uri {t}'>",
    "comment": "<!-- <a href={t}>x</a> -->",
    "css-comment": "<style>p {{ color: red }} /* url({t}) */</style>",
    "css-namespace": "<style>@namespace url({t});</style>",
    "nofollow": "<a rel=nofollow href={t}>x</a>",
    "dns-prefetch": "<link rel=preconnect href={t}>",
    "og-type": "<meta property=og:image:type content={t}>",
    "script-part": "<script>go('{t}' + x)</script>",
    "page-nofollow": "<meta name=robots content=nofollow><img src={t}>",
}
NEVER_HEADERS: Final = {
    "csp-header": {"Content-Security-Policy": "default-src *; report-uri {t}"},
    "report-to": {"Reporting-Endpoints": 'x="{t}"'},
}

WELL_KNOWN: Final = (
    *("/sitemap.xml", "/sitemap_index.xml", "/.well-known/security.txt", "/.well-known/host-meta"),
)


class LinkMaze:
    """The site; `asked` has the path and query of every request."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.asked: list[str] = []
        self._answers: dict[str, tuple[dict[str, str], bytes]] = {}
        self._build()
        maze = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                header, body, status = maze._answer(self.path)
                self.send_response(status)
                for name, value in header.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self._server.server_port}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def found(self) -> dict[str, bool]:
        """Return of each form whether its target was asked for."""
        asked = set(self.asked)
        return {
            form.name: f"/found/{form.name}" + (f"?{form.query}" if form.query else "") in asked
            for form in FORMS
        } | {path: path in asked for path in WELL_KNOWN}

    def trapped(self) -> list[str]:
        """Return what was asked for that must not be."""
        return [path for path in self.asked if path.startswith("/never/")]

    def _answer(self, path: str) -> tuple[dict[str, str], bytes, int]:
        self.asked.append(path)
        known = self._answers.get(path.partition("?")[0])
        if known is not None:
            return *known, 200
        if path.startswith(("/found/", "/never/")):
            return {"Content-Type": "text/plain"}, path.encode(), 200
        return {"Content-Type": "text/plain"}, b"not here", 404

    def _build(self) -> None:
        for form in FORMS:
            self._add(form.name, "/found/", form.page, form.header)
            for path, (media_type, body) in form.files.items():
                kind, _, more = media_type.partition("; ")
                header = {"Content-Type": kind}
                if more:
                    field, _, value = more.partition("=")
                    header[field] = _filled(value, form.name, "/found/")
                self._answers[f"/form/{form.name}/{path}"] = header, _made(body, form.name)
        for name, page in NEVER.items():
            self._add(name, "/never/", page, {})
        for name, header in NEVER_HEADERS.items():
            self._add(name, "/never/", "", header)
        links = "".join(f"<a href={path}>x</a>" for path in self._answers if path.count("/") == 2)
        self._answers["/"] = {"Content-Type": HTML}, links.encode()

    def _add(self, name: str, folder: str, page: str, header: Mapping[str, str]) -> None:
        text = page.replace("{{", "{").replace("}}", "}")
        body = _filled(text, name, folder).encode()
        fields = {key: _filled(value, name, folder) for key, value in header.items()}
        self._answers[f"/form/{name}"] = {"Content-Type": HTML} | fields, body


def _filled(text: str, name: str, folder: str) -> str:
    target = folder + name
    return (
        text.replace("{t}", target)
        .replace("{n}", f"/form/{name}/")
        .replace("{l}", name)
        .replace("{s}", target.replace("/", "\\/"))
        .replace("{e}", target.replace("f", "\\66 ", 1))
    )


def _made(body: bytes, name: str) -> bytes:
    """Return the body of a file of a form."""
    target = f"/found/{name}"
    if body == b"PDF":
        return _pdf(target, compressed=False)
    if body.startswith(b"ZIP "):
        _, path, text = body.decode().split(" ", 2)
        return _zip(**{path: _filled(text, name, "/found/")})
    return _filled(body.decode(), name, "/found/").encode()
