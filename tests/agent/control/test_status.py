"""The running agent's report is read back as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.control.status import (
    BackOff,
    KindRow,
    Rates,
    Status,
    Stopped,
    WaitRow,
    read_status,
    write_status,
)
from agent.errors import HomeError
from shared.messages import Message

STATUS = Status(
    name="prs1",
    manager="https://prsm.example.jp",
    version="1",
    pid=7,
    started_ms=1,
    written_ms=2,
    state="working",
    reason=Message("agent.no_permit", why=Message("agent.no_sync_yet")),
    reports_refused=(Message("agent.report_waits", name="a", why="400"),),
    backed_off=(BackOff("192.0.2.1", "http://a.jp:80/", "timeout", 2, 40.0),),
    waits=(WaitRow("http://a.jp:80/", "192.0.2.1", "crawl_delay", "90 s", 40.0),),
    wrong=(Message.of_text("disk full"),),
    not_fetched={"too deep": Stopped(3, ("http://a.jp/",))},
    links={"style": KindRow(9, 7, 2)},
)


def test_written_and_read(tmp_path: Path) -> None:
    """Every field comes back, and no half-written file is ever under the name."""
    path = tmp_path / "status.json"
    assert read_status(path) is None
    write_status(path, STATUS)
    assert read_status(path) == STATUS
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_of_the_version_before_is_read(tmp_path: Path) -> None:
    """It says nothing of hosts that wait, and of reasons the sentences only."""
    path = tmp_path / "status.json"
    write_status(path, STATUS)
    values = json.loads(path.read_text())
    assert values["reason"] == "no permit: no sync has been answered yet"
    assert values["reason_message"]["code"] == "agent.no_permit"
    values = {name: one for name, one in values.items() if not name.endswith("_message")}
    del values["waits"]
    path.write_text(json.dumps(values))
    found = read_status(path)
    assert found is not None
    assert found.waits == ()
    assert found.reason == Message.of_text("no permit: no sync has been answered yet")
    assert found.reports_refused == (Message.of_text("a: 400"),)


@pytest.mark.parametrize("text", ["", "[]", '{"name": "x"}', '{"not_fetched": 1, "remarks": 2}'])
def test_another_version_is_said(tmp_path: Path, text: str) -> None:
    """A file that this version cannot read is no traceback."""
    (tmp_path / "status.json").write_text(text)
    with pytest.raises(HomeError, match="was not written by this version"):
        read_status(tmp_path / "status.json")


def test_rates_are_of_the_last_minute() -> None:
    """What was before the last minute does not count."""
    rates = Rates()
    assert rates.note(0.0, 0, 0) == (0.0, 0.0)
    assert rates.note(10.0, 100, 1000) == (10.0, 100.0)
    for second in range(20, 130, 10):
        last = rates.note(float(second), 100, 1000)
    assert last == (0.0, 0.0)
