"""Forms of the maze in documents that are no pages: feeds, drawings, films, playlists."""

from __future__ import annotations

from typing import Final

from tests.e2e.maze_form import Form, file

__all__ = ["DOCUMENTS"]


def _rss(name: str, item: str) -> Form:
    body = f"<rss version='2.0'><channel><item>{item}</item></channel></rss>"
    return file(name, "f.rss", "application/rss+xml", body.encode())


def _atom(name: str, entry: str, base: str = "") -> Form:
    body = f"<feed xmlns='http://www.w3.org/2005/Atom'{base}><entry>{entry}</entry></feed>"
    return file(name, "f.atom", "application/atom+xml", body.encode())


def _dash(name: str, period: str) -> Form:
    body = f"<?xml version='1.0'?><MPD><Period>{period}</Period></MPD>"
    return file(name, "f.mpd", "application/dash+xml", body.encode())


def _hls(name: str, lines: str) -> Form:
    return file(name, "f.m3u8", "application/x-mpegURL", f"#EXTM3U\n{lines}\n".encode())


def _xml(name: str, media_type: str, body: str) -> Form:
    return file(name, "f.xml", media_type, body.encode())


DOCUMENTS: Final = (
    # HTML within feeds.
    _rss("feed-escaped", "<description>&lt;a href=\"{t}\"&gt;x&lt;/a&gt;</description>"),
    _rss("feed-cdata", "<description><![CDATA[<p><a href='{t}'>x</a>]]></description>"),
    _rss("feed-encoded", "<content:encoded><![CDATA[<img src='{t}'>]]></content:encoded>"),
    _rss("feed-broken", "<title>A & B</title><description>&lt;img src='{t}'&gt;</description>"),
    _atom("atom-html", "<content type='html'>&lt;a href='{t}'>x&lt;/a></content>"),
    _atom("atom-summary", "<summary type='html'><![CDATA[<iframe src={t}>]]></summary>"),
    _atom("atom-xhtml", "<content type='xhtml'><div><img src='{t}'/></div></content>"),
    file(
        *("json-feed-html", "f.json", "application/feed+json"),
        b'{"version":"https://jsonfeed.org/version/1","items":[{"content_html": "<a href={t}>"}]}',
    ),
    # What feeds carry.
    _rss("feed-enclosure", "<enclosure url='{t}' length='1' type='audio/mpeg'/>"),
    _rss("feed-media", "<media:group><media:content url='{t}'/></media:group>"),
    _rss("feed-thumbnail", "<media:thumbnail url='{t}'/>"),
    _rss("feed-itunes", "<itunes:image href='{t}'/>"),
    _rss("feed-transcript", "<podcast:transcript url='{t}' type='text/vtt'/>"),
    # Bases of XML.
    _atom("xml-base-feed", "<link href='{l}'/>", " xml:base='/found/'"),
    _atom("xml-base-nested", "<content type='html' xml:base='../found/'>&lt;a href={l}></content>",
          " xml:base='/x/'"),
    _xml("xml-base-svg", "image/svg+xml",
         "<svg xml:base='/found/'><g><a xlink:href='{l}'/></g></svg>"),
    _xml("xml-base-link", "text/xml",
         "<d xml:base='/x/'><e xml:base='/found/'/><p xml:base='../found/'>"
         "<q xlink:href='{l}'/></p></d>"),
    # Films and sound.
    _dash("dash-base", "<BaseURL>/found/</BaseURL><AdaptationSet><Representation>"
          "<BaseURL>{l}</BaseURL></Representation></AdaptationSet>"),
    _dash("dash-template", "<AdaptationSet><SegmentTemplate media='{t}'/></AdaptationSet>"),
    _dash("dash-number-2", "<AdaptationSet><SegmentTemplate media='/found/dash-number-$Number$'>"
          "<SegmentTimeline><S d='1' r='1'/></SegmentTimeline></SegmentTemplate>"
          "<Representation/></AdaptationSet>"),
    _dash("dash-initialization", "<AdaptationSet><SegmentList><Initialization sourceURL='{t}'/>"
          "</SegmentList></AdaptationSet>"),
    _dash("dash-segment", "<BaseURL>/found/</BaseURL><AdaptationSet><SegmentList>"
          "<SegmentURL media='{l}'/></SegmentList></AdaptationSet>"),
    _hls("hls-map", '#EXT-X-MAP:URI="{t}"'),
    _hls("hls-media", '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="b",URI="{t}"'),
    _hls("hls-part", '#EXT-X-PART:DURATION=0.3,URI="{t}"'),
    _hls("hls-define", '#EXT-X-DEFINE:NAME="p",VALUE="/found"\n{$p}/{l}'),
    file("hls-plain", "f.txt", "text/plain", b"#EXTM3U\n#EXTINF:9,\n{t}\n"),
    file("pls", "f.pls", "audio/x-scpls", b"[playlist]\nFile1={t}\n"),
    _xml("smil", "application/smil+xml", "<smil><body><video src='{t}'/></body></smil>"),
    _xml("gpx", "application/gpx+xml", "<gpx><link href='{t}'/></gpx>"),
)  # fmt: skip
