"""`prsm hosts pin` and its kin."""

from __future__ import annotations

import json

from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running, fill


def test_pins_and_bans(prsm: Prsm, manager: Running) -> None:
    """What is decided is said, listed and shown with the host; conflicts are refused in words."""
    assert "Nothing is pinned" in prsm("hosts", "pins").stdout
    assert "No agent is banned" in prsm("hosts", "bans").stdout
    fill(manager, "a.example", "b.example")
    for name in ("x.example", "y.example"):
        manager.agent(name).call.get(f"/servlets/subscribe?host={name}")
    pinned = prsm("hosts", "pin", "a.example", "x.example", "--reason", "near")
    assert "pinned to x.example; 0 units" in pinned.stdout
    assert pinned.stderr == ""
    assert "near" in prsm("hosts", "pins").stdout
    assert "to x.example" in prsm("hosts", "show", "a.example").stdout
    assert "unpin" in prsm("hosts", "ban", "a.example", "x.example", code=1).stderr
    prsm("hosts", "ban", "b.example", "y.example")
    assert "y.example" in prsm("hosts", "bans", "--agent", "y.example").stdout
    assert "y.example" in prsm("hosts", "show", "b.example").stdout
    prsm("plan", "--method", "random", "--apply")
    listed = json.loads(prsm("hosts", "list", "--json").stdout)["hosts"]
    assert {host["owner"] for host in listed} == {"x.example"}
    assert (
        "x.example owns b.example already" in prsm("hosts", "move", "b.example", "x.example").stdout
    )
    assert "unpin it first" in prsm("hosts", "move", "a.example", "y.example", code=1).stderr
    assert "may get b.example again" in prsm("hosts", "lift-ban", "b.example", "y.example").stdout
    assert "no such ban" in prsm("hosts", "lift-ban", "b.example", "y.example").stdout
    moved = prsm("hosts", "move", "b.example", "y.example", "--reason", "near")
    assert "b.example goes to y.example; 1 unit moved" in moved.stdout
    assert "unpinned" in prsm("hosts", "unpin", "a.example").stdout
    assert "was not pinned" in prsm("hosts", "unpin", "a.example").stdout
    assert "import the host first" in prsm("hosts", "pin", "z.jp", "x.example", code=1).stderr
