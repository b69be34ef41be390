"""What agents say of the same pages, side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.store import Comparison, Contradiction, LogFile, compare_logs
from manager.store.logs.log_files import LogRow
from shared.errors import LimitError

MEMORY_BYTES = 64 * 1000**2
Said = tuple[str, int | None, int]


def row(said: Said, number: int = 1, held: bool = True) -> LogRow:
    path, status, size = said
    host = "http://a.example:80/"
    return (
        number, f"{host}{path}", host, f"/{path}", status, 1, size, 7, b"", number, "crawl",
        held, host if held else None,
    )  # fmt: skip


def compared(
    folder: Path,
    *agents: list[LogRow],
    examples: int = 5,
    share: float = 1.0,
    salt: str = "",
    memory_bytes: int = MEMORY_BYTES,
) -> Comparison:
    """Compare the first agent's log with those of the others."""
    logs = {}
    for number, rows in enumerate(agents, 1):
        logs[number] = [folder / f"{number}.parquet"]
        with LogFile(folder / "part", logs[number][0]) as file:
            for one in rows:
                file.add(one)
    return compare_logs(
        logs,
        1,
        share=share,
        salt=salt,
        examples=examples,
        memory_bytes=memory_bytes,
        spill=folder,
    )


def test_honest_agents_agree(tmp_path: Path) -> None:
    """Sizes may differ by a tenth and a little; pages of one agent alone are not compared."""
    mine = [row(("", 200, 10_000)), row(("x", 404, 300)), row(("y", None, 0)), row(("z", 200, 9))]
    theirs = [row(("", 200, 11_900)), row(("x", 404, 900)), row(("y", None, 0))]
    assert compared(tmp_path, mine, theirs) == Comparison(3, 0, [])


def test_each_lie_is_seen(tmp_path: Path) -> None:
    """Invented pages, invented errors, sizes from nowhere, silence where others are answered."""
    mine = [
        row(("invented", 200, 5_000)), row(("gone", 404, 300)), row(("short", 200, 10)),
        row(("silent", None, 0)), row(("true", 200, 777)),
    ]  # fmt: skip
    theirs = [
        row(("invented", 404, 200)), row(("gone", 200, 5_000)), row(("short", 200, 90_000)),
        row(("silent", 200, 4_000)), row(("true", 200, 777)),
    ]  # fmt: skip
    found = compared(tmp_path, mine, theirs)
    assert (found.compared, found.contradicted) == (5, 4)
    urls = [one.url.rpartition("/")[2] for one in found.examples]
    assert urls == ["gone", "invented", "short", "silent"]
    assert found.examples[2] == Contradiction(
        "http://a.example:80/short", 200, 10, 0, 1, 200, 90_000
    )
    fewer = compared(tmp_path, mine, theirs, examples=2)
    assert (fewer.contradicted, len(fewer.examples)) == (4, 2)


def test_the_majority_is_believed(tmp_path: Path) -> None:
    """One liar among three makes no honest agent a suspect."""
    honest = [row((f"p{number}", 200, 5_000)) for number in range(9)]
    liar = [row((f"p{number}", 200, 50)) for number in range(9)]
    assert compared(tmp_path, honest, honest, liar).contradicted == 0
    assert compared(tmp_path, liar, honest, honest).contradicted == 9


def test_what_changes_with_the_moment_is_left_out(tmp_path: Path) -> None:
    """Not modified, too busy, broken: no page of the host's; the newest line counts."""
    passing = (304, 429, 500, 503)
    mine = [row((f"p{status}", status, 10)) for status in passing]
    mine += [row(("", 404, 10), 1), row(("", 200, 5_000), 2)]
    theirs = [row((f"p{status}", 200, 5_000)) for status in passing] + [row(("", 200, 5_000), 1)]
    assert compared(tmp_path, mine, theirs) == Comparison(1, 0, [])


def test_what_was_not_held_is_no_witness(tmp_path: Path) -> None:
    """Quarantined lines say nothing, for or against."""
    assert compared(tmp_path, [row(("", 200, 1))], [row(("", 404, 1), held=False)]).compared == 0


def test_an_agent_without_logs_is_not_compared(tmp_path: Path) -> None:
    """There is nothing to say."""
    assert compared(tmp_path, [], [row(("", 200, 1))]) == Comparison(0, 0, [])
    found = compare_logs(
        {1: []}, 1, share=1, salt="", examples=5, memory_bytes=MEMORY_BYTES, spill=tmp_path
    )
    assert found == Comparison(0, 0, [])


def test_too_much_for_the_memory_is_said(tmp_path: Path) -> None:
    """With the remedy: a share of the pages."""
    mine = [row((f"p{number}", 200, 5_000)) for number in range(60_000)]
    with pytest.raises(LimitError, match="--share"):
        compared(tmp_path, mine, mine, memory_bytes=4_000_000)


def test_a_share_is_drawn_by_the_salt(tmp_path: Path) -> None:
    """About so many pages, others with another salt, and what they say is compared as ever."""
    liar = [row((f"p{number:04}", 200, 10)) for number in range(2_000)]
    honest = [row((f"p{number:04}", 200, 5_000)) for number in range(2_000)]
    found = compared(tmp_path, liar, honest, share=0.1, salt="one", examples=500)
    assert 120 < found.compared == found.contradicted < 290
    other = compared(tmp_path, liar, honest, share=0.1, salt="two", examples=500)
    assert {one.url for one in found.examples} != {one.url for one in other.examples}
