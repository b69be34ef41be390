"""Pins and bans through the API."""

from __future__ import annotations

from tests.manager.running import Running, fill


def test_a_unit_is_pinned_and_unpinned(prsm: Running) -> None:
    """A pin is listed, conflicts are 409 and unknown names 404, in words."""
    fill(prsm, "a.example", "b.example")
    for name in ("x.example", "y.example"):
        prsm.agent(name)
    asked = {"unit": "a.example", "agent": "x.example", "reason": "near"}
    done = prsm.local.post("/api/v1/hosts/pin", json=asked)
    assert done.status_code == 200
    assert done.json()["warning"] == "x.example has not called yet"
    listed = prsm.local.get("/api/v1/hosts/pins?agent=x.example").json()
    assert listed["total"] == 1
    assert listed["pins"][0]["unit"] == "http://a.example:80/"
    assert listed["pins"][0]["ignored"] == "x.example has not called yet"
    banned = prsm.local.post("/api/v1/hosts/ban", json={"host": "a.example", "agent": "x.example"})
    assert banned.status_code == 409
    assert "unpin" in banned.json()["detail"]
    units = {"units": ["a.example"]}
    assert prsm.local.post("/api/v1/hosts/unpin", json=units).json() == {"unpinned": 1}
    wrong = prsm.local.post("/api/v1/hosts/pin", json={**asked, "agent": "z.example"})
    assert wrong.status_code == 404
    assert prsm.local.get("/api/v1/hosts/pins?agent=z.example").status_code == 404


def test_many_units_are_pinned_in_one_call(prsm: Running) -> None:
    """What cannot be pinned is answered with its reason and keeps no other out."""
    fill(prsm, "a.example", "b.example")
    prsm.agent("x.example")
    asked = {"units": ["a.example", "b.example", "nowhere.example"], "agent": "x.example"}
    done = prsm.local.post("/api/v1/hosts/pin-many", json=asked).json()
    assert (done["pinned"], done["refused_count"]) == (2, 1)
    assert done["refused"][0][0] == "http://nowhere.example:80/"
    assert prsm.local.post("/api/v1/hosts/pin-many", json={**asked, "units": []}).status_code == 400


def test_a_host_is_banned_and_the_ban_lifted(prsm: Running) -> None:
    """A ban is listed and shown with the host; lifted, it is gone."""
    fill(prsm, "a.example")
    for name in ("x.example", "y.example"):
        prsm.agent(name)
    asked = {"host": "a.example", "agent": "x.example", "reason": "blocked there"}
    assert prsm.local.post("/api/v1/hosts/ban", json=asked).json() == {"moved": 0}
    (ban,) = prsm.local.get("/api/v1/hosts/bans").json()
    assert (ban["host"], ban["reason"]) == ("http://a.example:80/", "blocked there")
    assert prsm.local.get("/api/v1/hosts/detail?host=a.example").json()["bans"] == [ban]
    lift = {"host": "a.example", "agent": "x.example"}
    assert prsm.local.post("/api/v1/hosts/lift-ban", json=lift).json() == {"lifted": True}
    assert prsm.local.post("/api/v1/hosts/lift-ban", json=lift).json() == {"lifted": False}
