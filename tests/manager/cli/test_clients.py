"""`prsm clients`: the administrator registers third parties and issues tokens."""

from __future__ import annotations

import json

from tests.manager.asgi import Caller
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running


def test_a_life_of_a_client(manager: Running, prsm: Prsm) -> None:
    """Registered, given a token that opens, listed, revoked, disabled."""
    assert "No third party yet" in prsm("clients").output
    prsm("clients", "add", "library", "--contact", "a@library.example")
    made = json.loads(prsm("clients", "token", "library", "--days", "7", "--json").output)
    mine = Caller(manager.public, headers={"Authorization": f"Bearer {made['token']}"})
    assert mine.get("/wasapi/v1/webdata").status_code == 200
    listed = prsm("clients").output
    assert "library" in listed
    assert made["token"] not in prsm("clients", "--json").output
    prsm("clients", "revoke", "library", str(made["id"]))
    assert mine.get("/wasapi/v1/webdata").status_code == 403
    prsm("clients", "disable", "library")
    prsm("clients", "disable", "library", "--again")


def test_refusals(prsm: Prsm) -> None:
    """Names twice, hostile names, unknown clients and numbers are sentences."""
    prsm("clients", "add", "library", "--contact", "x")
    assert (
        "registered already" in prsm("clients", "add", "library", "--contact", "x", code=1).output
    )
    assert "client name" in prsm("clients", "add", "../x", "--contact", "x", code=1).output
    assert "not registered" in prsm("clients", "token", "nobody", code=1).output
    assert "has none of this" in prsm("clients", "revoke", "library", "9", code=1).output
    assert "days = 0" in prsm("clients", "token", "library", "--days", "0", code=1).output
