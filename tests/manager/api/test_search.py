"""Search through the API: one operation for all subjects, by role."""

from __future__ import annotations

from manager.operations.people.users import add_user
from tests.manager.archived import collected, hold, page, revisit_of
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, START_MS, Running

PASSWORD = "correct horse battery"
HOST = "http://www.example.jp:80/"
PAGE = "http://www.example.jp/news/a.html?q=1"


def _logged_in(prsm: Running, role: str) -> Caller:
    add_user(prsm.manager.db, f"anna-{role}", PASSWORD, role, LOCAL, prsm.clock())
    answer = prsm.anybody.post("/api/v1/login", json={"name": f"anna-{role}", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return Caller(prsm.public, headers={"Cookie": cookie})


def test_a_search_answers_by_kind(prsm: Running) -> None:
    """Hits, the best first, and what was typed exactly."""
    prsm.local.post("/api/v1/hosts/import", b"www.example.jp\nshop.example.jp:8080\n")
    found = prsm.local.get("/api/v1/search?q=example.jp").json()
    assert [group["kind"] for group in found["groups"]] == ["host"]
    assert {hit["match"] for hit in found["groups"][0]["hits"]} == {"domain"}
    assert found["leads_to"] is None
    named = prsm.local.get("/api/v1/search?q=shop.example.jp").json()
    assert named["leads_to"]["key"] == "http://shop.example.jp:8080/"
    only = prsm.local.get("/api/v1/search?q=server&kind=setting&kind=console&limit=2").json()
    assert [group["kind"] for group in only["groups"]] == ["setting"]
    assert len(only["groups"][0]["hits"]) == 2
    assert only["groups"][0]["has_more"]


def test_a_search_refuses_what_it_does_not_know(prsm: Running) -> None:
    """An empty text, another kind, a parameter that there is not."""
    for wrong, named in (
        ("q=", "q"),
        ("", "q"),
        ("q=x&kind=colour", "kind"),
        ("q=x&limit=101", "limit"),
        ("q=x&query=y", "query"),
    ):
        answer = prsm.local.get(f"/api/v1/search?{wrong}")
        assert answer.status_code == 400, wrong
        assert named in answer.json()["detail"]


def test_a_role_finds_what_it_may_see(prsm: Running) -> None:
    """Users are found by administrators only; nobody searches without a session."""
    viewer, admin = _logged_in(prsm, "viewer"), _logged_in(prsm, "admin")
    asked = "/api/v1/search?q=anna&kind=user"
    assert viewer.get(asked).json()["groups"] == []
    (group,) = admin.get(asked).json()["groups"]
    assert sorted(hit["key"] for hit in group["hits"]) == ["anna-admin", "anna-viewer"]
    assert prsm.anybody.get(asked).status_code == 401


def test_a_url_leads_to_its_collected_page(prsm: Running) -> None:
    """In any spelling, with or without its scheme; one that was never taken leads to its host."""
    agent = prsm.agent()
    hold(prsm, agent, HOST)
    first = page(PAGE, b"<html>news</html>")
    later = revisit_of(first, START_MS + 60_000)
    other = page("http://www.example.jp/other", at_ms=START_MS + 1)
    collected(prsm, agent, [first, later, other])
    for text in (PAGE, "HTTP://www.EXAMPLE.jp:80/news/a.html?q=1#x", PAGE.removeprefix("http://")):
        found = prsm.local.get("/api/v1/search", params={"q": text}).json()
        assert found["leads_to"]["kind"] == "page", text
        assert found["leads_to"]["key"] == PAGE
        hosts = next(group for group in found["groups"] if group["kind"] == "host")
        assert [(hit["key"], hit["match"]) for hit in hosts["hits"]] == [(HOST, "site")]
    unknown = prsm.local.get("/api/v1/search", params={"q": "http://www.example.jp/none"}).json()
    assert unknown["leads_to"]["key"] == HOST
    assert unknown["url"] == "http://www.example.jp/none"


def test_captures_of_a_page_are_listed(prsm: Running) -> None:
    """Newest first, with what came and where it lies; of an unknown URL none."""
    agent = prsm.agent()
    hold(prsm, agent, HOST)
    first = page(PAGE, b"<html>news</html>")
    collected(prsm, agent, [first, revisit_of(first, START_MS + 60_000)])
    found = prsm.local.get("/api/v1/archive/captures", params={"url": f"{PAGE}#top"}).json()
    assert (found["url"], found["host"], found["has_older"]) == (PAGE, HOST, False)
    assert [one["fetched_ms"] for one in found["captures"]] == [START_MS + 60_000, START_MS]
    assert [one["is_revisit"] for one in found["captures"]] == [True, False]
    assert found["captures"][1]["status"] == 200
    assert found["captures"][1]["body_bytes"] == len(b"<html>news</html>")
    none = prsm.local.get("/api/v1/archive/captures?url=http://nothing.example/x").json()
    assert none["captures"] == []
    for wrong in ("nothing at all", "ftp://x.example/"):
        answer = prsm.local.get("/api/v1/archive/captures", params={"url": wrong})
        assert answer.status_code == 400


def test_a_list_of_hosts_falls_back_to_any_part(prsm: Running) -> None:
    """`search` is a domain with all below it, else any part, and the answer says which."""
    prsm.local.post(
        "/api/v1/hosts/import", "a.example.jp\nb.example.jp\nhttp://日本語.jp/\n".encode()
    )

    def found(text: str) -> tuple[str, int]:
        answer = prsm.local.get("/api/v1/hosts", params={"search": text}).json()
        return answer["found_by"], answer["matching"]

    assert found("example.jp") == ("domain", 2)
    assert found("xample.j") == ("part", 2)
    assert found("日本語.jp") == ("domain", 1)
    assert found("本語") == ("part", 1)
    assert found("nothing") == ("part", 0)
    assert found("*") == ("part", 0)
    answer = prsm.local.get("/api/v1/hosts?search=a&text=b")
    assert answer.status_code == 400
    assert "search" in answer.json()["detail"]
    strict = prsm.local.get("/api/v1/hosts?domain=xample.jp").json()
    assert (strict["matching"], strict["found_by"]) == (0, "")
