"""What `prs run` shows on a terminal, in a pipe, and to cron."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.cli.status import WAIT_WORDS, status_lines
from agent.cli.terminal import PATIENCE_MS, Terminal, live_line
from agent.control.status import BackOff, KindRow, Status, Stopped, WaitRow
from agent.modules.frontier import WaitReason
from shared.messages import Message

STATUS = Status(
    name="prs1",
    manager="https://prsm.example.jp",
    version="1",
    pid=7,
    started_ms=0,
    written_ms=0,
    state="working",
    pages=12_345,
    pages_per_s=3.14,
    bytes_per_s=1.5e6,
    queue=67_890,
    hosts=300,
    active_hosts=200,
    errors=12,
    units=400,
    units_finished=40,
    permit_remaining_s=3599.0,
)


class Screen:
    """What was written, and what a terminal would show of it."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def __call__(self, text: str) -> None:
        self.written.append(text)

    @property
    def lines(self) -> list[str]:
        lines = [""]
        for piece in "".join(self.written).split("\n"):
            lines[-1] = piece.rpartition("\r\x1b[2K")[2]
            lines.append("")
        return lines[:-1]


def terminal(screen: Screen, *, quiet: bool = False, live: bool = True) -> Terminal:
    return Terminal(quiet=quiet, live=live, write=screen, columns=lambda: 120)


def later(minutes: float, *wrong: str) -> Status:
    said = tuple(map(Message.of_text, wrong))
    return replace(STATUS, written_ms=round(minutes * 60_000), wrong=said)


def test_the_line_says_what_matters() -> None:
    """Pages a second, hosts, queue and errors come before everything that may be cut off."""
    line = live_line(STATUS, 200)
    for part in ("3.1 pages/s", "200 of 300 hosts", "queue 67,890", "12 errors", "40/400 units"):
        assert part in line
    short = live_line(STATUS, 70)
    assert len(short) < 70
    assert "3.1 pages/s | 200 of 300 hosts | queue 67,890 | 12 errors" in short
    waiting = replace(STATUS, reason=Message.of_text("no permit"), backing_off=3)
    assert "no permit" in live_line(waiting, 60)
    assert "3 backing off" in live_line(waiting, 200)


def test_a_hostile_reason_moves_no_cursor() -> None:
    """What comes from outside holds no command to the terminal."""
    assert "\x1b" not in live_line(replace(STATUS, reason=Message.of_text("\x1b[2Jno")), 200)


def test_sentences_stand_above_the_line() -> None:
    """The line is replaced each second, and a sentence does not tear it."""
    screen = Screen()
    it = terminal(screen)
    it.show_status(STATUS)
    it.show_status(replace(STATUS, pages=12_346))
    it.log_line("permit of 3599 s, epoch 1")
    it.show_status(STATUS)
    first, second = screen.lines
    assert first.endswith("permit of 3599 s, epoch 1")
    assert "12,345 pages" in second
    it.clear()
    assert screen.lines[-1] == ""


def test_no_terminal_no_line() -> None:
    """A pipe gets sentences, whole and without control characters."""
    screen = Screen()
    it = terminal(screen, live=False)
    it.show_status(STATUS)
    it.log_line("continuing with list 3 of round 1")
    it.end("stopped: SIGTERM")
    assert len(screen.written) == 2
    assert all(line.endswith("\n") and "\x1b" not in line for line in screen.written)


def test_quiet_says_nothing_of_a_night_that_went_well() -> None:
    """Cron sends mail for any output: troubles that mended themselves are none."""
    screen = Screen()
    it = terminal(screen, quiet=True)
    it.log_line("fetching")
    it.show_status(later(0))
    it.show_status(later(1, "manager: it does not answer"))
    it.show_status(later(10.9, "manager: it does not answer"))
    it.show_status(later(11))
    it.show_status(later(12, "manager: it does not answer"))
    it.show_status(later(13))
    it.end("stopped: all units are finished, and all is reported")
    assert screen.written == []


def test_quiet_says_once_what_stays_wrong() -> None:
    """After ten minutes, however its numbers change."""
    screen = Screen()
    it = terminal(screen, quiet=True)
    for minute in range(60):
        it.show_status(later(minute, f"{1000 - minute} bytes are free on the disk"))
    assert PATIENCE_MS == 600_000
    (line,) = screen.lines[:-1]
    assert line.endswith("990 bytes are free on the disk")


def test_quiet_says_what_is_wrong_at_the_end() -> None:
    """A run that ends with a refused report says so, however short it was."""
    screen = Screen()
    it = terminal(screen, quiet=True)
    it.show_status(later(0, "report a.log was refused: 400"))
    it.end("stopped: the hours of this site are over")
    assert [line[20:] for line in screen.lines[:-1]] == ["report a.log was refused: 400"]


@pytest.mark.parametrize("running", [True, False])
def test_the_status_shows_stops_with_examples(running: bool) -> None:
    """Each reason with its count and some URLs, the most frequent first."""
    status = replace(
        STATUS,
        not_fetched={
            "depth": Stopped(3, ("http://a.jp/1",)),
            "trap: calendar": Stopped(70, ("http://a.jp/2", "http://b.jp/3")),
        },
    )
    text = "\n".join(status_lines(status, running=running))
    assert text.index("70 trap: calendar") < text.index("http://b.jp/3") < text.index("3 depth")


def test_the_status_shows_what_each_kind_of_links_brought() -> None:
    """So that a kind that brings errors is seen."""
    status = replace(STATUS, links={"anchor": KindRow(90, 80, 1), "string": KindRow(10, 2, 8)})
    rows = [line.split() for line in status_lines(status, running=True)]
    assert ["anchor", "90", "80", "1"] in rows
    assert ["string", "10", "2", "8"] in rows


def test_the_status_shows_who_is_left_alone() -> None:
    """Addresses that back off, why, and until when."""
    status = replace(
        STATUS,
        worst_pause_ms=12.0,
        held_bytes=34_500_000,
        backing_off=41,
        backed_off=(BackOff("192.0.2.1", "http://a.jp:80/", "status 503", 3, 150.2),),
    )
    text = "\n".join(status_lines(status, running=True))
    assert "41 addresses are left alone for longer" in text
    assert "http://a.jp:80/ at 192.0.2.1: status 503, 3 strikes, next in 150 s" in text
    assert "worst pause 12 ms" in text
    assert "0 requests, 34.5 MB of bodies" in text


def test_the_status_shows_when_waiting_hosts_are_asked_next_and_why() -> None:
    """At what time, in how long, for which reason; as many as are asked for."""
    rows = (
        WaitRow("http://a.jp:80/", "192.0.2.1", "back_off", "status 503, Retry-After 600 s", 599.4),
        WaitRow("http://b.jp:80/", "192.0.2.2", "crawl_delay", "90 s", 89.0),
        WaitRow("http://c.jp:80/", "192.0.2.3", "interval", "20 s", -0.2),
    )
    status = replace(STATUS, waits=rows, written_ms=1_790_000_000_000)
    shown = list(status_lines(status, running=True))
    first, second, third = (line for line in shown if "jp:80" in line)
    why = "it answered with errors or asked for time: status 503, Retry-After 600 s"
    assert first.endswith(f"(in 599 s), {why}")
    assert "http://b.jp:80/: 20" in second
    assert second.endswith("(in 89 s), Crawl-delay of its robots.txt: 90 s")
    assert "(in 0 s)" in third
    text = "\n".join(status_lines(status, running=True, waits=1))
    assert "b.jp" not in text
    assert "--waits 3 shows them" in text
    held_up = replace(status, reason=Message.of_text("outside the hours of this site"))
    text = "\n".join(status_lines(held_up, running=True))
    assert "none before the agent may fetch (outside the hours of this site)" in text


def test_every_reason_to_wait_has_words() -> None:
    """Codes are for programs (`prs status --json`)."""
    assert set(WAIT_WORDS) == set(WaitReason)
