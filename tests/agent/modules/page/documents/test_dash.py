# ruff: noqa: ISC004
"""The pieces of DASH manifests."""

from __future__ import annotations

import pytest

from agent.modules.page.documents.dash import (
    MOST_CHARACTERS,
    MOST_SEGMENTS,
    dash_references,
    is_dash,
)

URL = "http://a.example/dir/m.mpd"


def pieces(text: str) -> list[str]:
    """Return what a manifest leads to, without the folder that it is in."""
    return [one.removeprefix("http://a.example/dir/") for one in dash_references(text, URL)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<MPD><BaseURL>v/</BaseURL><Period><AdaptationSet><Representation>"
         "<BaseURL>whole.mp4</BaseURL><SegmentBase><Initialization range='0-9'/></SegmentBase>"
         "</Representation></AdaptationSet></Period></MPD>",
         ["v/whole.mp4"]),
        ("<MPD><Period><BaseURL>/p/</BaseURL><AdaptationSet><SegmentList>"
         "<Initialization sourceURL='i.mp4'/><SegmentURL media='1.m4s' index='1.idx'/>"
         "<SegmentURL media='2.m4s'/></SegmentList><Representation/></AdaptationSet></Period>",
         [*(f"http://a.example/p/{one}" for one in ("i.mp4", "1.m4s", "1.idx", "2.m4s"))]),
        ("<MPD><BaseURL>http://b.example/x/</BaseURL><BaseURL>http://c.example/</BaseURL><Period>"
         "<AdaptationSet><SegmentTemplate media='all.m4s' initialization='i.mp4'/></AdaptationSet>"
         "</Period></MPD>",
         ["http://b.example/x/i.mp4", "http://c.example/i.mp4",
          "http://b.example/x/all.m4s", "http://c.example/all.m4s"]),
        # Variables that the manifest fills in.
        ("<MPD><Period><AdaptationSet><SegmentTemplate initialization='$RepresentationID$/$$.mp4' "
         "media='$Bandwidth$-$Number%03d$-$Time$.m4s' startNumber='5' timescale='10'>"
         "<SegmentTimeline><S t='20' d='30' r='1'/><S d='7'/></SegmentTimeline></SegmentTemplate>"
         "<Representation id='hd' bandwidth='9'/><Representation id='sd' bandwidth='3'>"
         "<SegmentTemplate media='$Number$.x'/></Representation></AdaptationSet></Period></MPD>",
         ["hd/$.mp4", "9-005-20.m4s", "9-006-50.m4s", "9-007-80.m4s", "sd/$.mp4"]),
        ("<MPD mediaPresentationDuration='PT1M1.5S'><Period><AdaptationSet><Representation id='a'>"
         "<SegmentTemplate media='$Number$.m4s' duration='30'/></Representation></AdaptationSet>"
         "</Period></MPD>", ["1.m4s", "2.m4s", "3.m4s"]),
        ("<MPD type='dynamic' mediaPresentationDuration='PT9S'><Location>new.mpd</Location><Period>"
         "<AdaptationSet><SegmentTemplate media='$Number$' duration='1'/></AdaptationSet></Period>",
         ["new.mpd"]),
        ("<MPD><Period xlink:href='p.xml'/>"
         "<Period xlink:href='urn:mpeg:dash:resolve-to-zero:2013'/>",
         ["p.xml"]),
        ("<d:MPD xmlns:d='x'><d:Period><d:Representation><d:BaseURL>a.mp4</d:BaseURL>"
         "</d:Representation></d:Period></d:MPD>", ["a.mp4"]),
    ],
)  # fmt: skip
def test_pieces(text: str, found: list[str]) -> None:
    """By base, list, template and timeline."""
    assert is_dash(text)
    assert pieces(text) == found


@pytest.mark.parametrize(
    ("piece", "most"),
    [
        ("<S d='1' r='999999999'/>", MOST_SEGMENTS),
        ("<S d='0' r='999999999'/>", 1),
        ("<S d='1' r='-1'/>", MOST_SEGMENTS),
    ],
)
def test_no_manifest_goes_on_for_ever(piece: str, most: int) -> None:
    """Whatever numbers it has."""
    text = (
        "<MPD mediaPresentationDuration='P999999999D'><Period><AdaptationSet>"
        "<SegmentTemplate media='$Time$'><SegmentTimeline>" + piece + "</SegmentTimeline>"
        "</SegmentTemplate>" + "<Representation/>" * 99 + "</AdaptationSet></Period></MPD>"
    )
    assert len(pieces(text)) == most


def test_entities_end_it() -> None:
    """No manifest declares any."""
    text = "<!DOCTYPE MPD [<!ENTITY a 'b'>]><MPD><Location>&a;</Location></MPD>"
    assert pieces(text) == []
    assert pieces("<MPD><Location>x</Location><broken") == ["x"]
    assert not is_dash("<rss><MPDs/></rss>")


@pytest.mark.parametrize("length", [8_000, 1_000_000])
def test_long_bases_times_many_pieces_are_bounded(length: int) -> None:
    """A base of a megabyte is none; of one that is long, so many characters are made at most."""
    sets = "".join(f"<Representation id='{number}'/>" for number in range(100))
    manifest = (
        f"<MPD mediaPresentationDuration='PT9H'><BaseURL>{'a' * length}/</BaseURL><Period>"
        f"<AdaptationSet><SegmentTemplate media='$Number$.m4s' duration='1'/>{sets}"
        "</AdaptationSet></Period></MPD>"
    )
    assert sum(map(len, dash_references(manifest, URL))) <= MOST_CHARACTERS
