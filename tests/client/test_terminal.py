"""Bars on a terminal, lines elsewhere, and for cron only what went wrong."""

from __future__ import annotations

import pytest

from client.cli.terminal import Terminal, bar, in_units
from client.run import Taken

TAKEN = Taken("warc/x.warc.gz", "taken", 2_000_000)
FAILED = Taken("warc/y\x1b[2J.warc.gz", "failed", 0, "no way")


def shown(*, quiet: bool, live: bool) -> str:
    written: list[str] = []
    clock = [0.0]
    terminal = Terminal(
        quiet=quiet, live=live, write=written.append, columns=lambda: 60, now_s=lambda: clock[0]
    )
    terminal.expect(2, 4_000_000)
    terminal.job_progress("www", 5, 10)
    terminal.received("x.warc.gz", 1_000_000)
    clock[0] = 1.0
    terminal.redraw()
    terminal.finished(TAKEN)
    terminal.finished(FAILED)
    terminal.clear()
    return "".join(written)


def test_on_a_terminal() -> None:
    """A bar for all and a row for each file, replaced in place, never wider than the window."""
    text = shown(quiet=False, live=True)
    assert "[######..................]  25 %" in text
    assert "\x1b[3F\x1b[J" in text
    assert text.endswith("failed: warc/y [2J.warc.gz: no way\n")
    assert all(len(line) < 60 for line in text.replace("\x1b[3F\x1b[J", "").splitlines())


def test_in_a_file() -> None:
    """Lines without control characters."""
    text = shown(quiet=False, live=False)
    assert text.splitlines() == [
        "www: the server makes it",
        "taken: warc/x.warc.gz (2.0 MB)",
        "failed: warc/y [2J.warc.gz: no way",
    ]


def test_from_cron() -> None:
    """Only what failed."""
    assert shown(quiet=True, live=True) == "failed: warc/y [2J.warc.gz: no way\n"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e12, "2.5 TB")]
)
def test_units(size: float, text: str) -> None:
    """As people read them."""
    assert in_units(size) == text


def test_bars() -> None:
    """Empty, full, and of nothing."""
    assert bar(0, 10).endswith("  0 %")
    assert bar(20, 10).count("#") == 24
    assert bar(0, 0).count("#") == 0
