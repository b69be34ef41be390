"""Logs of transfers, a file a week."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from shared.week_log import TransferLine, WeekLog

WEEK_S = 7 * 86_400


def line(day: str, file: str = "a.warc.gz", result: str = "accepted") -> TransferLine:
    ended_ms = round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    return TransferLine(ended_ms - 10_000, ended_ms, "a.example", file, 900, 1000, "push", result)


def test_each_week_has_its_file(tmp_path: Path) -> None:
    """Named by ISO week, also where its year is another; a head, and a line each."""
    log = WeekLog(tmp_path / "logs", 1000 * WEEK_S)
    names = [log.add(line(day)).name for day in ("2026-11-22", "2026-11-23", "2027-01-01")]
    assert names == [
        "transfers-2026-W47.tsv", "transfers-2026-W48.tsv", "transfers-2026-W53.tsv",
    ]  # fmt: skip
    log.add(line("2026-11-22"))
    lines = (tmp_path / "logs" / names[0]).read_text().splitlines()
    assert len(lines) == 3
    assert dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True)) == {
        "begun": "2026-11-21T23:59:50Z", "ended": "2026-11-22T00:00:00Z", "agent": "a.example",
        "file": "a.warc.gz", "bytes": "900", "sent": "1000", "bytes/s": "100", "way": "push",
        "result": "accepted",
    }  # fmt: skip


def test_old_weeks_go(tmp_path: Path) -> None:
    """When a new week begins; other files stay."""
    log = WeekLog(tmp_path, 2 * WEEK_S)
    for day in ("2026-10-01", "2026-11-10", "2026-11-20"):
        log.add(line(day))
    (tmp_path / "notes.txt").touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "notes.txt", "transfers-2026-W46.tsv", "transfers-2026-W47.tsv",
    ]  # fmt: skip


def test_a_result_cannot_forge_a_line(tmp_path: Path) -> None:
    """Line feeds and tabs from outside are blanks."""
    path = WeekLog(tmp_path, WEEK_S).add(line("2026-11-22", result="x\n\t2026 forged\x1b[31m"))
    assert len(path.read_text().splitlines()) == 2
    assert path.read_text().splitlines()[1].count("\t") == 8
