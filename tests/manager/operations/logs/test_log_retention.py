"""Lines of logs go when a setting says so; what was made of them, and what is needed, stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.operations.actor import CLOCK
from manager.operations.logs.log_entry import known_report
from manager.operations.logs.log_filters import Wanted
from manager.operations.logs.log_lines import LogLines
from manager.operations.logs.log_retention import forget_logs
from manager.operations.logs.reports import list_reports
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from manager.store import Layout
from tests.manager.operations.logged import HOUR_MS, add_log
from tests.manager.operations.world import ADMIN, World

URL = "http://h1.jp:80/"
DAY_S = 86_400


def _logged(database: Database, tmp_path: Path) -> tuple[World, Layout]:
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    agent = world.agents["a"]
    layout = Layout(tmp_path / "data")
    layout.create()
    for hour in (1, 2, 30 * 24):
        add_log(database, layout, agent.identity, hour, [(URL, 200), (URL + "x", 404)])
    return world, layout


def _lines(database: Database, layout: Layout) -> tuple[int, int]:
    found = LogLines(layout).find(database, Wanted())
    return len(found.lines), found.gone


def test_old_lines_go_and_the_reports_stay(database: Database, tmp_path: Path) -> None:
    """Files and lines of old logs are gone, and no search counts them as lost; figures stay."""
    world, layout = _logged(database, tmp_path)
    now_ms = 31 * 24 * HOUR_MS
    assert forget_logs(database, layout, 0, CLOCK, now_ms) == 0
    assert _lines(database, layout) == (6, 0)
    assert forget_logs(database, layout, 20 * DAY_S, CLOCK, now_ms) == 2
    assert _lines(database, layout) == (2, 0)
    assert len(list(layout.logs.rglob("*.parquet"))) == 1
    rows = list_reports(database)
    assert [bool(row.path) for row in rows] == [True, False, False]
    assert [row.lines for row in rows] == [2, 2, 2]
    (told,) = audit_page(database, action="log.delete")
    assert '"logs": 2' in told.detail
    assert '"lines": 4' in told.detail
    # Whoever sends such a log again is told that it came.
    agent = world.agents["a"].identity
    again = known_report(database, agent, rows[-1].sha256, rows[-1].name)
    assert again is not None
    assert again.repeated
    assert forget_logs(database, layout, 20 * DAY_S, CLOCK, now_ms) == 0


def test_what_a_round_works_with_is_kept(database: Database, tmp_path: Path) -> None:
    """However old it is: nothing goes that came since the last round began."""
    _, layout = _logged(database, tmp_path)
    start_round(database, "random", ADMIN, 2 * HOUR_MS + 1, probe=False)
    assert forget_logs(database, layout, 1, CLOCK, 10_000 * HOUR_MS) == 1
    assert _lines(database, layout) == (4, 0)


def test_a_manager_that_died_between_file_and_row_goes_on(
    database: Database, tmp_path: Path
) -> None:
    """A file that is gone already is no error, and its row is written down the next time."""
    _, layout = _logged(database, tmp_path)
    oldest = list_reports(database)[-1]
    (layout.kept / oldest.path).unlink()
    assert _lines(database, layout) == (4, 1)
    assert forget_logs(database, layout, 20 * DAY_S, CLOCK, 31 * 24 * HOUR_MS) == 2
    assert _lines(database, layout) == (2, 0)


def test_a_file_that_stays_holds_up_nobody(database: Database, tmp_path: Path) -> None:
    """What is gone is written down before the error is told; the rest follows when it can."""
    _, layout = _logged(database, tmp_path)
    stubborn = layout.kept / list_reports(database)[1].path
    stubborn.rename(tmp_path / "away")
    stubborn.symlink_to(tmp_path / "away")
    folder = stubborn.parent
    real = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == stubborn:
            raise PermissionError(13, "Permission denied", str(path))
        real(path, missing_ok=missing_ok)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(PermissionError):
            forget_logs(database, layout, 20 * DAY_S, CLOCK, 31 * 24 * HOUR_MS)
    assert [bool(row.path) for row in list_reports(database)] == [True, True, False]
    assert len(list(folder.glob("*.parquet"))) == 2
    assert forget_logs(database, layout, 20 * DAY_S, CLOCK, 31 * 24 * HOUR_MS) == 1
