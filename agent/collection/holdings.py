"""The sealed segments of this agent, and what the centre said of each.

Beside the segments nothing is written: `collection/NAME.json` says how far one is, and a missing
file means that nothing is known, which costs one question and loses nothing.
"""

from __future__ import annotations

import json
from calendar import timegm
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import strptime
from typing import Final

from agent.collection.orders import Order
from agent.settings.home import write_whole
from shared.frozen import frozen

__all__ = ["LINKS", "SEGMENT", "Held", "Holdings"]

SEGMENT: Final = ".warc.gz"
LINKS: Final = ".links.gz"
BESIDE: Final = (".cdxj", ".sha256", LINKS)
KEPT_THERE: Final = frozenset({"accepted", "quarantined"})
SETTLED: Final = KEPT_THERE | {"refused", "damaged"}
STAMP_CHARS: Final = 14


@frozen
class Held:
    """State of a segment: new, sent (complete there, not judged yet), or settled."""

    name: str
    sha256: str
    state: str = "new"
    where: str = ""  # the upload's path at the manager
    sent_bytes: int = 0
    begun_ms: int = 0
    ended_ms: int = 0
    result: str = ""
    doomed: bool = False  # it holds a withdrawn host: it goes as soon as the centre has judged it

    @property
    def is_kept_there(self) -> bool:
        """Return whether the centre keeps it: then it may be deleted here."""
        return self.state in KEPT_THERE

    @property
    def is_settled(self) -> bool:
        """Return whether the centre has judged it, or never can."""
        return self.state in SETTLED


class Holdings:
    """The segments of a home."""

    def __init__(self, segments: Path, folder: Path) -> None:
        self.segments = segments
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of sealed segments, oldest first."""
        if not self.segments.is_dir():
            return []
        return sorted(path.name for path in self.segments.iterdir() if path.name.endswith(SEGMENT))

    def held(self, name: str) -> Held:
        """Return what is known of a segment; its SHA-256 is the one it was sealed with."""
        sha256 = self._sum(name)
        try:
            values = json.loads(self._note(name).read_bytes())
            held = Held(**values)
        except (OSError, ValueError, TypeError):
            return Held(name, sha256)
        # Another file of that name, as after a ledger was moved away.
        return held if held.sha256 == sha256 and held.name == name else Held(name, sha256)

    @property
    def uncommitted(self) -> str:
        """Return the name of a sealed segment that the crawl's last commit still calls open.

        It must stay until the next one. Empty: nearly always. Where the ledger does not say, it
        is the newest: that alone can be.
        """
        from agent.adapters.ledger.open_segment_name import named_segment  # noqa: PLC0415  # few ask

        named = named_segment(self.segments.parent)
        return named if named is not None else max(self.names(), default="")

    def keep(self, held: Held) -> None:
        """Write down what is known of a segment. Raises DiskFullError."""
        write_whole(self._note(held.name), [json.dumps(asdict(held)).encode()])

    def select(self, order: Order) -> Iterator[Held]:
        """Yield the segments that an order asks for, oldest first."""
        for name in self.names():
            held = self.held(name)
            if order.condition == "full":
                if held.state != "damaged":
                    yield held
            elif not held.is_settled and self._overlaps(name, order):
                yield held

    def remove(self, name: str) -> int:
        """Delete a segment and its companion files; return its bytes."""
        path = self.segments / name
        size_bytes = path.stat().st_size
        path.unlink()
        for ending in BESIDE:
            path.with_name(name + ending).unlink(missing_ok=True)
        self._note(name).unlink(missing_ok=True)
        return size_bytes

    def forget_strangers(self) -> None:
        """Remove notes on segments that are no longer here."""
        here = {self._note(name).name for name in self.names()}
        for path in self._folder.glob(f"*{SEGMENT}.json"):
            if path.name not in here:
                path.unlink(missing_ok=True)

    def _overlaps(self, name: str, order: Order) -> bool:
        if order.from_ms is None and order.until_ms is None:
            return True
        times = self._times(name)
        if times is None:
            return True  # its index is gone: rather sent than lost
        first_ms, last_ms = times
        return (order.from_ms is None or last_ms >= order.from_ms) and (
            order.until_ms is None or first_ms < order.until_ms
        )

    def _times(self, name: str) -> tuple[int, int] | None:
        """Return when the first and the last capture were fetched, to the second."""
        stamps: list[str] = []
        try:
            with (self.segments / (name + ".cdxj")).open("rb") as index:
                for line in index:
                    stamp = line.split(b" ", 2)[1][:STAMP_CHARS].decode("ascii")
                    stamps = [min([stamp, *stamps]), max([stamp, *stamps])]
            first, last = (timegm(strptime(stamp, "%Y%m%d%H%M%S")) for stamp in stamps)
        except (OSError, ValueError, IndexError):
            return None
        return first * 1000, last * 1000 + 999

    def _sum(self, name: str) -> str:
        try:
            return (self.segments / (name + ".sha256")).read_text("ascii").split()[0]
        except (OSError, ValueError, IndexError):
            return ""

    def _note(self, name: str) -> Path:
        return self._folder / f"{name}.json"
