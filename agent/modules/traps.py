"""Notices URLs that a site makes without end, each by one rule with a reason that people can read.

    path repeats itself                 segments that follow one another more than three times and
                                        are no numbers, `/a/b/a/b/a/b/a/`: relative links in a loop;
                                        or one anywhere, once such pages of the host were equal
    query repeats itself                one `name=value` more than three times
    escapes grow                        `%25252525`, `amp;amp;amp;`: escaped again at each step
    session number in the URL           only the session differs from two URLs that passed
    same query in another order         the parameters of two URLs that passed, reordered
    endless combinations of parameters  200 sets of them for one path: filters, not pages
    calendar without end                100 pages dated before 1900 or in three years or later
    same content under many URLs        the last 50 pages with such a URL were equal

A false stop loses pages for a round, so each rule waits for proof: what it could not know at the
first URL passes. What only costs time (long lists, many filters) is left to the limits of pages
and depth. The last rule lets every sixteenth URL through, and opens again when one is different.

Invariant: memory is bounded, and a URL that passed passes again: no rule counts it twice.
Source: seed 002 (traps); IRLbot, 4; the patterns that archivists exclude by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from agent.modules.limits import CrawlLimits
from agent.modules.recent_memory import Recent

__all__ = ["SAME_CONTENT", "Traps"]

SAME_CONTENT: Final = "same content under many URLs"
"""The one reason that another page may end: what it stops may come again."""

SESSION_VARIANTS: Final = 2
ORDERS: Final = 2
WITHOUT_PROOF: Final = 5
"""Times more than `repeated_segments` that a segment may occur here and there in a path: what no
site means, whether its pages are equal or not."""

YEARS_AHEAD: Final = 2
FIRST_YEAR: Final = 1900
ONE_IN: Final = 16
URLS_REMEMBERED: Final = 1 << 15  # of each rule that looks at single URLs; a hundred bytes each
PATHS_REMEMBERED: Final = 1 << 11  # of each rule that looks at what they have in common
CONTENTS_REMEMBERED: Final = 1 << 16
SHAPES_OF_A_HOST: Final = 32

_GROWING: Final = re.compile(r"%(?:25){4}|(?:amp(?:;|%3B)){3}|(?:%3Bamp){3}", re.IGNORECASE)
_SESSION: Final = re.compile(
    r"""(?<=[?&;/])(?:
        jsessionid=[^&;/?]{8,}
        |(?:phpsessid|aspsessionid[a-z]{0,20}|session_?id|sess_?id|sid|oscsid|zenid|cfid|cftoken
           |ci_session|vsid|swsid|phpsession|session|fe_typo_user)
         =(?:[0-9a-f-]{16,}|(?=[a-z]*[0-9])[0-9a-z]{20,})(?=[&;/]|\Z)
        |\([a-z]\([0-9a-z]{20,30}\)\)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FOUR_DIGITS: Final = re.compile(r"[0-9]{4}")
_NUMBERS: Final = re.compile(r"[0-9]+|(?<=[/=-])[0-9a-f]{16,}")
_YEAR_NAME: Final = re.compile(r"(?:(?:\A|[_-])[Yy]ear|[a-z]Year|jahr|annee|yyyy)\Z")
_DATE_NAME: Final = re.compile(
    r"(?:\A|[_-])(?:date|datum|fecha|month|monat|mois|week|day|tag)(?:\Z|[_-])", re.IGNORECASE
)
_DATE_VALUE: Final = re.compile(
    r"([0-9]{4})(?:-[01]?[0-9]|0[1-9]|1[0-2])(?:-?[0-3]?[0-9])?(?:T.*)?"
)
_CALENDAR: Final = re.compile(
    r"(?:calend|kalend|event|agenda|termin|schedule|month|week|diary|date).*?"
    r"(?:/([0-9]{4})/(?:0[1-9]|1[0-2])|[/-]([0-9]{4})-[01]?[0-9]|-([0-9]{4})(?:0[1-9]|1[0-2]))"
    r"(?=[/.?-]|[0-3][0-9]|\Z)",
    re.IGNORECASE,
)


class Traps:
    """The rules, and what they remember of the hosts of one process."""

    def __init__(self, limits: CrawlLimits, year: Callable[[], int]) -> None:
        """year: the one in which we are."""
        self._year = year
        self.retune(limits)

    def retune(self, limits: CrawlLimits) -> None:
        """Take other limits, and restart the watch."""
        self._limits = limits
        self._sessions = Variants(SESSION_VARIANTS, URLS_REMEMBERED)
        self._orders = Variants(ORDERS, URLS_REMEMBERED)
        self._shapes = Variants(limits.query_shapes, PATHS_REMEMBERED)
        self._dates = Variants(limits.calendar_pages, PATHS_REMEMBERED)
        self._contents = Recent(CONTENTS_REMEMBERED)
        self._looping: set[str] = set()  # hosts with equal pages under paths that repeat a segment
        # By host, and shape of URL: content, pages in a row that had it, the last of them.
        self._equal: dict[str, dict[str, tuple[int, int, int]]] = {}

    def reason(self, url: str) -> str:
        """Return why a canonical URL is not worth a fetch; "": nothing speaks against it."""
        start = url.index("/", 8)
        mark = url.find("?", start)
        path = url[start:] if mark < 0 else url[start:mark]
        limits = self._limits
        if path.count("/") > limits.repeated_segments:
            proven = bool(self._looping) and url[:start] in self._looping
            if _repeats(path, limits.repeated_segments, proven=proven):
                return "path repeats itself"
        if ("%25" in url or "amp" in url) and _GROWING.search(url):
            return "escapes grow"
        reason = self._by_session(url)
        if not reason and mark >= 0:
            reason = self._by_query(url, mark)
        reason = reason or self._by_date(url, start, mark)
        return reason or (SAME_CONTENT if self.holds_back(url) else "")

    def holds_back(self, url: str) -> bool:
        """Return whether the last pages with such URLs were equal; the sample is let through."""
        shapes = self._equal.get(url[: url.index("/", 8)])
        if shapes is None:
            return False
        _, equal, _ = shapes.get(_shape(url), (0, 0, 0))
        return equal >= self._limits.same_content and hash(url) % ONE_IN != 0

    def saw(self, url: str, content: str) -> None:
        """Take note of a page that was fetched. content: a digest of its body."""
        host = url[: url.index("/", 8)]
        this = hash(content)
        # Pages are as a rule all different: their shapes need not be known.
        is_new = self._contents.add(hash((host, this)))
        shapes = self._equal.get(host)
        if not is_new and _most_repeated(url[len(host) :].partition("?")[0]) > 1:
            if len(self._looping) >= PATHS_REMEMBERED:
                self._looping.clear()
            self._looping.add(host)
        if shapes is None:
            if is_new or not self._limits.same_content:
                return
            if len(self._equal) >= PATHS_REMEMBERED:
                self._equal.pop(next(iter(self._equal)))
            shapes = self._equal[host] = {}
        shape, page = _shape(url), hash(url)
        before, equal, last = shapes.pop(shape, (this, 1, 0))
        if page != last:
            equal = equal + 1 if before == this else 1
        if len(shapes) >= SHAPES_OF_A_HOST:
            shapes.pop(next(iter(shapes)))
        shapes[shape] = (this, equal, page)

    def _by_session(self, url: str) -> str:
        if "=" not in url and "(" not in url:
            return ""
        bare = _SESSION.sub("", url)
        if bare == url or self._sessions.admits(hash(bare), hash(url)):
            return ""
        return "session number in the URL"

    def _by_query(self, url: str, mark: int) -> str:
        parameters = _parameters(url[mark + 1 :])
        if len(parameters) < 2:
            return ""
        most = self._limits.repeated_segments
        if len(parameters) > most and max(Counter(parameters).values()) > most:
            return "query repeats itself"
        ordered = sorted(parameters)
        if not self._orders.admits(hash((url[:mark], *ordered)), hash(url)):
            return "same query in another order"
        names = {one.partition("=")[0] for one in parameters}
        if not self._shapes.admits(hash(url[:mark]), hash(frozenset(names))):
            return "endless combinations of parameters"
        return ""

    def _by_date(self, url: str, start: int, mark: int) -> str:
        if not self._limits.calendar_pages or not _FOUR_DIGITS.search(url, start):
            return ""
        end = mark if mark >= 0 else len(url)
        year = _year_of(url[start:end], url[end + 1 :])
        if year is None or FIRST_YEAR <= year <= self._year() + YEARS_AHEAD:
            return ""
        if self._dates.admits(hash(_shape(url)), hash(url)):
            return ""
        return "calendar without end"


class Variants:
    """Counts different variants of a key up to a limit; the keys longest unused are forgotten."""

    def __init__(self, most: int, keys: int) -> None:
        """most: variants that a key may have; 0: any number. keys: remembered, at least half."""
        self._most = most
        self._half = keys // 2
        self._young: dict[int, tuple[int, ...]] = {}
        self._old: dict[int, tuple[int, ...]] = {}

    def admits(self, key: int, variant: int) -> bool:
        """Return whether a variant is one of the first `most` of its key, and remember it then."""
        if not self._most:
            return True
        variants = self._young.get(key)
        if variants is None:
            if len(self._young) >= self._half:
                self._old, self._young = self._young, {}
            variants = self._young[key] = self._old.pop(key, ())
        if variant in variants:
            return True
        if len(variants) >= self._most:
            return False
        self._young[key] = (*variants, variant)
        return True


def _parameters(query: str) -> list[str]:
    # Old programs part them with `;`, which elsewhere is text like any other.
    parted = query.split("&" if "&" in query else ";")
    return [one for one in parted if one]


def _repeats(path: str, most: int, *, proven: bool) -> bool:
    """Return whether a path is that of a loop. proven: pages of its host showed that it has one."""
    segments = [one for one in path.split("/") if one]
    if len(segments) - len(set(segments)) < most:
        return False
    anywhere = _most_repeated(path)
    if anywhere <= most:
        return False
    return proven or anywhere > most + WITHOUT_PROOF or _in_a_row(segments, most)


def _most_repeated(path: str) -> int:
    """Return how often a path has the segment that it has most often, numbers left out."""
    counts = Counter(one for one in path.split("/") if one and not one.isdecimal())
    return max(counts.values(), default=0)


def _in_a_row(segments: list[str], most: int) -> bool:
    """Return whether some segments follow one another more than `most` times and are no numbers."""
    for period in range(1, (len(segments) - 1) // most + 1):
        run = 0  # segments in a row that are what stood a period before
        for place in range(period, len(segments)):
            run = run + 1 if segments[place] == segments[place - period] else 0
            if run > period * (most - 1):
                unit = segments[place - period + 1 : place + 1]
                if not all(one.isdecimal() for one in unit):
                    return True
    return False


def _shape(url: str) -> str:
    """Return a URL with its numbers left out: pages of one kind have one shape."""
    return _NUMBERS.sub("0", url)


def _year_of(path: str, query: str) -> int | None:
    """Return the year that a URL speaks of, in the places where calendars have it."""
    for parameter in _parameters(query):
        name, _, value = parameter.partition("=")
        if not value[:4].isdecimal():
            continue
        if len(value) <= 5 and value.isdecimal() and _YEAR_NAME.search(name):
            return int(value)
        if _DATE_NAME.search(name):
            match = _DATE_VALUE.fullmatch(value)
            if match is not None:
                return int(match[1])
    match = _CALENDAR.search(path)
    return None if match is None else int(match[1] or match[2] or match[3])
