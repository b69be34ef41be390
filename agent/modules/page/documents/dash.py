"""Reads the pieces of a DASH manifest (MPD): what a player would load to show all of it.

    <BaseURL>v/</BaseURL><SegmentURL media="1.m4s"/>           v/1.m4s
    <SegmentTemplate initialization="$RepresentationID$.mp4"   hd.mp4
      media="$Number%03d$.m4s"> <SegmentTimeline>...           001.m4s, 002.m4s ...
    <Representation><BaseURL>whole.mp4</BaseURL>               whole.mp4

A template's variables are filled in where the manifest says how far they go: by a timeline, or by
the duration of a manifest that does not grow. Several `BaseURL`s are alternatives; a few count.
Invariant: at most `MOST_SEGMENTS` of one representation, `MOST_REFERENCES` and `MOST_CHARACTERS` of
all; a manifest that declares entities has none.
Source: ISO/IEC 23009-1:2022, 5.3.9 (segments and templates), 5.6 (base URLs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from agent.modules.page.addresses import MAX_REFERENCE_CHARACTERS, joined
from agent.modules.page.documents.xml_elements import XmlElement, xml_elements

__all__ = ["dash_references", "is_dash"]

MOST_SEGMENTS: Final = 5_000
MOST_REFERENCES: Final = 50_000
MOST_CHARACTERS: Final = 4_000_000
MOST_BASES: Final = 4
MOST_DEPTH: Final = 100

_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?MPD[\s>]")
_HEAD: Final = 4096
_ENTITY: Final = "<!ENTITY"
_VARIABLE: Final = re.compile(r"\$(RepresentationID|Number|Bandwidth|Time)?(?:%0([0-9]{1,2})d)?\$")
_DURATION: Final = re.compile(
    r"P(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9.]{1,20})S)?)?"
)
_SOURCES: Final = {
    "Initialization": ("sourceURL",),
    "RepresentationIndex": ("sourceURL",),
    "BitstreamSwitching": ("sourceURL",),
    "SegmentURL": ("media", "index"),
    "ProgramInformation": ("moreInformationURL",),
}
_TEMPLATES: Final = ("initialization", "index", "bitstreamSwitching", "media")
_IN_TEXT: Final = ("BaseURL", "Location", "PatchLocation")
_SETS: Final = ("Period", "AdaptationSet", "Representation", "SubRepresentation")


class _StopError(Exception):
    """The document does what no manifest does."""


@dataclass(slots=True)
class _Level:
    """An open element: what it says of those within it."""

    name: str
    bases: list[str]
    attributes: dict[str, str]
    template: dict[str, str]
    times: list[tuple[int | None, int, int]]  # start, length, repeats
    seconds: float
    around: list[str]  # bases of the element around it
    has_pieces: bool = False
    has_base: bool = False
    has_set: bool = False

    def within(self, name: str, attributes: dict[str, str]) -> _Level:
        """Return an element within this one."""
        return _Level(
            *(name, self.bases, attributes, self.template, self.times, self.seconds),
            around=self.bases,
            has_pieces=self.has_pieces,
        )


def is_dash(text: str) -> bool:
    """Return whether a document in XML is a manifest of DASH."""
    return _ROOT.search(text, 0, _HEAD) is not None


def dash_references(text: str, url: str) -> Iterator[str]:
    """Yield the references of a manifest, whole where a `BaseURL` is around them."""
    if _ENTITY in text[:_HEAD]:  # no manifest needs one
        return
    reader = _Reader(url)
    with suppress(_StopError):  # references read before it are kept
        for element in xml_elements((text,), url):
            reader.take(element)
        reader.end_to(1)
    yield from dict.fromkeys(reader.found)


class _Reader:
    def __init__(self, url: str) -> None:
        self.found: list[str] = []
        self._left = MOST_CHARACTERS
        self._is_growing = False
        self._open = [_Level("", [url], {}, {}, [], 0.0, [url])]

    def take(self, element: XmlElement) -> None:
        """Take an element, after the end of those before it."""
        self.end_to(element.depth)
        above = self._open[-1]
        if len(self._open) > MOST_DEPTH:
            raise _StopError
        local, attributes = element.local, element.attributes
        level = above.within(local, attributes)
        self._open.append(level)
        for key in _SOURCES.get(local, ()):
            if attributes.get(key):
                self._give(above.bases, attributes[key])
        linked = attributes.get("xlink:href", "")
        if linked and not linked.startswith("urn:"):
            self._give(above.bases, linked)
        of_set = self._open[max(0, len(self._open) - 3)]  # the set of a list or template around it
        if local == "SegmentURL" and "media" in attributes:
            of_set.has_pieces = True
        elif local == "SegmentTemplate":
            above.template = {**above.template, **attributes}
            above.times = []
        elif local == "SegmentTimeline":
            of_set.times = level.times = []
        elif local == "S":
            start = _whole(attributes["t"]) if "t" in attributes else None
            piece = start, _whole(attributes.get("d", "")), _whole(attributes.get("r", ""))
            above.times.append(piece)
        elif local == "MPD":
            self._is_growing = attributes.get("type") == "dynamic"
            level.seconds = _seconds(attributes.get("mediaPresentationDuration", ""))
        elif local == "Period" and "duration" in attributes:
            level.seconds = _seconds(attributes["duration"])
        elif local in _IN_TEXT and not element.is_cut:
            self._take_text(local, element.text(), above)

    def end_to(self, depth: int) -> None:
        """Take the ends of the open elements from a depth on."""
        while len(self._open) > depth:
            level = self._open.pop()
            if level.name in _SETS:
                self._open[-1].has_set = True
                if not level.has_set:
                    self._end_of_set(level)

    def _take_text(self, local: str, text: str, above: _Level) -> None:
        if local != "BaseURL":
            if text:
                self._give(above.bases, text)
        elif 0 < len(text) <= MAX_REFERENCE_CHARACTERS:
            new = [joined(base, text) for base in above.around][:MOST_BASES]
            above.bases = [*above.bases, *new][:MOST_BASES] if above.has_base else new
            above.has_base = True

    def _end_of_set(self, level: _Level) -> None:
        """Take the pieces of a representation, or of a set that names none."""
        if not level.template:
            if not level.has_pieces:
                here = self._open[0].bases
                self.found += [one for one in level.bases if one not in here and one[-1] != "/"]
            return
        values = {
            "RepresentationID": level.attributes.get("id", ""),
            "Bandwidth": level.attributes.get("bandwidth", ""),
        }
        for key in _TEMPLATES:
            written = level.template.get(key, "")
            if not written:
                continue
            if "$Number" in written or "$Time" in written:
                for number, time in self._pieces(level):
                    more = {**values, "Number": str(number), "Time": str(time)}
                    self._give(level.bases, _filled(written, more))
            else:
                self._give(level.bases, _filled(written, values))

    def _pieces(self, level: _Level) -> Iterator[tuple[int, int]]:
        """Yield number and time of each piece that the manifest tells of."""
        number = _whole(level.template.get("startNumber", "1"))
        last = number + MOST_SEGMENTS
        scale = max(1, _whole(level.template.get("timescale", "1")))
        end = int(level.seconds * scale)
        time = 0
        for start, length, repeats in level.times:
            time = time if start is None else start
            pieces = repeats + 1
            if repeats < 0:  # up to the end
                pieces = max(1, -(-(end - time) // length)) if length else 1
            for _ in range(pieces):
                if number >= last:
                    return
                yield number, time
                number, time = number + 1, time + length
        length = _whole(level.template.get("duration", ""))
        if not level.times and length and end and not self._is_growing:
            for piece in range(min(MOST_SEGMENTS, -(-end // length))):
                yield number + piece, piece * length

    def _give(self, bases: list[str], reference: str) -> None:
        for base in bases:
            found = joined(base, reference)
            self._left -= len(found)
            if self._left < 0 or len(self.found) > MOST_REFERENCES:
                raise _StopError
            if len(found) <= MAX_REFERENCE_CHARACTERS:
                self.found.append(found)


def _filled(written: str, values: dict[str, str]) -> str:
    if len(written) > MAX_REFERENCE_CHARACTERS:
        return ""

    def value_of(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$" if match[0] == "$$" else match[0]
        return values.get(match[1], "").zfill(int(match[2] or 0))

    return _VARIABLE.sub(value_of, written)


def _whole(text: str) -> int:
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) < _LONG else 0


_LONG: Final = 20


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return 0.0
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    try:
        rest = float(match[4] or 0)
    except ValueError:
        rest = 0.0
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest
