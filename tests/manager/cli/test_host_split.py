"""`prsm hosts split` and `merge`: shown first, done, undone."""

from __future__ import annotations

import json

from manager.db.fleet import agents
from tests.manager.cli.conftest import Prsm
from tests.manager.operations.big_host import know_directories
from tests.manager.running import Running, fill

HOST = "http://big.example:80/"


def ready(manager: Running, *names: str) -> None:
    """Make a big host known, and agents that have called."""
    fill(manager, "big.example")
    joined = [manager.agent(name, "sync").identity for name in names]
    with manager.manager.db.write() as tx:
        for one in joined:
            agents.update(tx, one.id, last_contact_ms=manager.clock())
    know_directories(manager.manager.db, HOST, joined[0].id)


def test_a_host_is_split_and_merged(prsm: Prsm, manager: Running) -> None:
    """The preview changes nothing; then each agent has its directories; then one has all."""
    ready(manager, "a.example", "b.example")
    shown = prsm("hosts", "split", "big.example", "--dry-run", "--interval-s", "5").stdout
    assert "5 s between two requests, so 10 s at each agent" in shown
    assert "nothing was changed" in shown
    assert "/docs/" in shown
    assert "merged" not in prsm("hosts", "show", "big.example").stdout
    made = json.loads(prsm("hosts", "split", HOST, "--pieces", "2", "--json").stdout)
    assert made["applied"]
    assert [piece["agent"] for piece in made["pieces"]] == ["a.example", "b.example"]
    assert sum(piece["pages"] for piece in made["pieces"]) == 1200
    detail = json.loads(prsm("hosts", "show", HOST, "--json").stdout)
    units = {unit for piece in made["pieces"] for unit in piece["units"]}
    assert {unit["path"] for unit in detail["units"]} == units
    assert detail["host"]["shared_interval_ms"] == 20_000
    said = prsm("hosts", "merge", "big.example").stdout
    assert said == f"big.example is whole again: {len(units) - 1} directories were merged\n"
    assert "merged" in prsm("hosts", "show", "big.example").stdout


def test_what_cannot_be_split_is_said_with_the_reason(prsm: Prsm, manager: Running) -> None:
    """Nothing to split for, nothing to split by, nothing to merge."""
    ready(manager, "a.example")
    assert (
        "it needs at least 2 agents that sync and may have it, found 1"
        in prsm("hosts", "split", "big.example", code=1).stderr
    )
    assert "is not split" in prsm("hosts", "merge", "big.example", code=1).stderr
    assert (
        "pieces = 1: must be 2 to 64"
        in prsm("hosts", "split", "big.example", "--pieces", "1", code=1).stderr
    )
