"""What the agent said stays readable and bounded."""

from __future__ import annotations

from pathlib import Path

from agent.control.robot_log import RobotLog


def test_two_files_and_never_more_than_the_bound(tmp_path: Path) -> None:
    """The newest sentences are there; the oldest go; each is one line."""
    log = RobotLog(tmp_path / "robot.log", most_bytes=2000)
    for number in range(500):
        log.append(f"sentence {number}\nof two lines \x1b[2K")
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000
    assert {path.name for path in tmp_path.iterdir()} == {"robot.log", "robot.log.1"}
    last = (tmp_path / "robot.log").read_text().splitlines()[-1]
    assert last.endswith("sentence 499 of two lines  [2K")


def test_a_folder_that_cannot_be_written_to_costs_lines_only(tmp_path: Path) -> None:
    """Whoever speaks is not told."""
    RobotLog(tmp_path / "none" / "robot.log").append("not kept")
    assert not (tmp_path / "none").exists()
