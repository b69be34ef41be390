"""Server lists: units to crawl, with limits, intervals and exceptions.

`MaxTransfer` holds for the lines after it, until the next one. Comments that PRSM added and an
old agent skips: `#Round=3`, `#Generation=42`, `#Lease=<seconds>` for the list, and behind a unit's
line `#Interval=<ms>` (its share of the host's rate) and `#Except=<path>` (a directory that
another agent owns). Unknown comments mean nothing.

A unit of a host that is split among agents has `#Share=<n>` too: so many agents may fetch from the
host at once. It is crawled as a piece: its own top page is fetched only if a link leads there, and
it is done only when all pieces of the host are (`docs/protocol.md`). `#Start=<path>`, with a
tab and the referer where there is one, is a start page that would read as a unit on a line of its
own, because its path ends in `/`.

`#UnitRound=<n>` is the round of a unit where it is not the list's: rounds may overlap.
`#Continues=<n>` beside it: a job of that round or a later one continues in this round, with its
queue. Only agents that say `unit_rounds` in their syncs are sent these.

`#Only=<path>` makes a unit's line an order to fetch single pages again, so that they can be
compared with what another agent logged: these pages and nothing else, no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from shared.errors import FormatError
from shared.frozen import frozen
from shared.wire.server_list import Comment, ListLine, MaxTransfer, UrlLine

__all__ = ["ListHead", "Order", "OrderKind", "head_lines", "order_lines", "orders"]

NUMBER_DIGITS: Final = 18
"""Of a number in a comment: what a database and a sum of some of them can hold."""

_HEAD: Final = frozenset(("Round", "Generation", "Lease"))

OrderKind: TypeAlias = Literal["probe", "crawl", "refetch"]
"""What a unit is held for. refetch: some of its pages are fetched again, to be compared."""


@frozen
class ListHead:
    """Figures of a list about itself. None: not given (a plain manager, a list by hand)."""

    round: int | None = None
    generation: int | None = None
    lease_s: int | None = None


@frozen
class Order:
    """One unit or start page of a list, with the rules for it."""

    url: str
    referer: str | None = None
    max_transfer: int = 0  # pages; 0: all
    interval_ms: int | None = None
    excepted: tuple[str, ...] = ()  # paths that begin with `/`
    share: int = 0  # agents at once on the unit's host; 0: the host is not split
    starts: tuple[tuple[str, str | None], ...] = ()  # (path, referer) of start pages in it
    only: tuple[str, ...] = ()  # paths of pages to be fetched again, and nothing else
    round: int | None = None  # None: that of the list
    continues: int | None = None  # a job of this round or a later one continues; None: begins again
    probed: bool = False  # a crawl that begins where the agent's own probe in this round ended

    @property
    def kind(self) -> OrderKind:
        """Return what is to be done: a unit with a limit on its pages is there to be measured."""
        if self.only:
            return "refetch"
        return "probe" if self.max_transfer > 0 else "crawl"


def head_lines(head: ListHead) -> list[ListLine]:
    """Return the comments that begin a list."""
    named = (("Round", head.round), ("Generation", head.generation), ("Lease", head.lease_s))
    return [Comment(f"{name}={value}") for name, value in named if value is not None]


def order_lines(items: Iterable[Order]) -> Iterator[ListLine]:
    """Yield the lines of a list's units; a MaxTransfer line wherever the limit changes."""
    limit = 0
    for item in items:
        if item.max_transfer != limit:
            limit = item.max_transfer
            yield MaxTransfer(limit)
        yield UrlLine(item.url, item.referer)
        if item.interval_ms is not None:
            yield Comment(f"Interval={item.interval_ms}")
        if item.share:
            yield Comment(f"Share={item.share}")
        if item.round is not None:
            yield Comment(f"UnitRound={item.round}")
        if item.continues is not None:
            yield Comment(f"Continues={item.continues}")
        if item.probed:
            yield Comment("Probed=1")
        for path in item.excepted:
            yield Comment(f"Except={path}")
        for path in item.only:
            yield Comment(f"Only={path}")
        for path, referer in item.starts:
            yield Comment(f"Start={path}" if referer is None else f"Start={path}\t{referer}")


def orders(lines: Iterable[ListLine]) -> Iterator[ListHead | Order]:
    """Yield a list's head, once and first, then each order with what its comments add.

    Comments of the head that stand behind the first unit are not seen: a list describes itself
    before its orders. Raises FormatError for a number that is too large to count with.
    """
    head: dict[str, int] = {}
    current: _OrderParser | None = None
    head_sent = False
    limit = 0
    for line in lines:
        match line:
            case MaxTransfer(pages):
                limit = pages
            case UrlLine(url, referer):
                if not head_sent:
                    head_sent = True
                    yield _head(head)
                if current is not None:
                    yield current.order()
                current = _OrderParser(url, referer, limit)
            case Comment(text) if current is None:
                name, _, value = text.partition("=")
                if name in _HEAD and (number := _number(name, value)) is not None:
                    head[name] = number
            case Comment(text):
                current.comment(text)
    if not head_sent:
        yield _head(head)
    if current is not None:
        yield current.order()


def _number(name: str, value: str) -> int | None:
    """Return a comment's number; None: it is none, and the comment means nothing."""
    if not (value.isascii() and value.isdigit()):
        return None
    if len(value) > NUMBER_DIGITS:
        raise FormatError(
            "lists.long_number",
            name=name,
            value=value[:NUMBER_DIGITS],
            digits=len(value),
            most=NUMBER_DIGITS,
        )
    return int(value)


def _head(values: dict[str, int]) -> ListHead:
    return ListHead(values.get("Round"), values.get("Generation"), values.get("Lease"))


@dataclass(slots=True)
class _OrderParser:
    """An order whose comments are being read: there may be thousands."""

    url: str
    referer: str | None
    limit: int
    interval_ms: int | None = None
    share: int = 0
    round: int | None = None
    continues: int | None = None
    probed: bool = False
    excepted: list[str] = field(default_factory=list)
    starts: list[tuple[str, str | None]] = field(default_factory=list)
    only: list[str] = field(default_factory=list)

    def comment(self, text: str) -> None:
        """Take a comment; one that is not known means nothing."""
        name, _, value = text.partition("=")
        if name == "Interval":
            number = _number(name, value)
            self.interval_ms = self.interval_ms if number is None else number
        elif name == "Share":
            self.share = _number(name, value) or self.share
        elif name == "UnitRound":
            number = _number(name, value)
            self.round = self.round if number is None else number
        elif name == "Continues":
            number = _number(name, value)
            self.continues = self.continues if number is None else number
        elif name == "Probed":
            self.probed = bool(_number(name, value))
        elif name == "Except" and value.startswith("/"):
            self.excepted.append(value)
        elif name == "Only" and value.startswith("/"):
            self.only.append(value)
        elif name == "Start" and value.startswith("/"):
            path, tab, referer = value.partition("\t")
            self.starts.append((path, referer if tab else None))

    def order(self) -> Order:
        """Return the whole."""
        return Order(
            url=self.url,
            referer=self.referer,
            max_transfer=self.limit,
            interval_ms=self.interval_ms,
            excepted=tuple(self.excepted),
            share=self.share,
            starts=tuple(self.starts),
            only=tuple(self.only),
            round=self.round,
            continues=self.continues,
            probed=self.probed,
        )
