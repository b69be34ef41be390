"""Actions of people in a manager's first weeks: users, schedules, pins, third parties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tools.demo.system import Manager, command

__all__ = ["add_people", "add_third_party"]


def add_people(manager: Manager) -> None:
    """Add colleagues, and let everything that has a list have something in it."""
    for name, role in (("hana", "operator"), ("taro", "viewer")):
        manager.add_user(name, f"{name} of the stage", role)
    first, second, third = (
        one["key"] for one in manager.prsm("hosts", "list", "--limit", "3")["hosts"]
    )
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    # As long as people write: no table may grow as wide as that.
    asked = "its owner asked by mail: the machine is small, and is switched off on holidays"
    reason = ("--reason", asked)
    for words in (
        ("hosts", "exclude", third, *reason),
        ("hosts", "pin", first, "robot.region0.example", "--reason", "it is next door"),
        ("hosts", "ban", second, "robot.region1.example", *reason),
        ("fleet", "block", r"/calendar/\d{4}", "--reason", "never ends"),
        ("fleet", "limit", "--interval-s", "1"),
        ("rounds", "schedule", "add", "0 3 * * 1", "--zone", "Asia/Tokyo"),
        ("collect", "schedule", "set", "30 2 * * *", "--zone", "Asia/Tokyo"),
        ("collect", "limit", "robot.region1.example", "--bytes-per-s", "1000000",
         "--weekday", "22:00-07:00", "--zone", "Asia/Tokyo"),
        ("tokens", "add", "nightly", "--user", "hana"),
        ("probes", "order", "--host", second),
        ("alerts", "window", f"{day}T22:00", f"{day}T23:30", "--reason", "new disks"),
    ):  # fmt: skip
        command("prsm", *words, PRSM_DATA=str(manager.data))


def add_third_party(manager: Manager, folder: Path) -> None:
    """Register a library and a search engine; the library takes what there is."""
    folder.mkdir()
    data = {"PRSM_DATA": str(manager.data)}
    for name, contact in (("library", "archive@library.example"), ("search", "ops@search.example")):
        purpose = f"what a {name} does"
        command("prsm", "clients", "add", name, "--contact", contact, "--purpose", purpose, **data)
    token = manager.prsm("clients", "token", "library", "--daily-bytes", "2000000000")["token"]
    theirs = {"PRS_GET_HOME": str(folder / "login"), "HOME": str(folder)}
    command("prs-get", "login", manager.url, typed=token + "\n", **theirs)
    command("prs-get", "get", "-o", str(folder / "taken"), **theirs)
