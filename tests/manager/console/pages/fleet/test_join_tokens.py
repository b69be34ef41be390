"""Who made a join token and leaves its page open reads when the agent has joined."""

from __future__ import annotations

from manager.console.pages.fleet import join_tokens
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.markup import Markup, read
from tests.manager.running import START_MS, Running

NAME = "nara.example.jp"


def _make(browser: Browser) -> tuple[Markup, str]:
    answer = browser.act("/console/new-agent", "/console/new-agent", {"name": NAME})
    assert answer.status_code == 201
    page = read(answer.text)
    assert f"prs enrol http://127.0.0.1 --name {NAME}" in " ".join(page.text.split())
    return page, shown_token(page)


def shown_token(page: Markup) -> str:
    """Return the token of a page, which stands in no line that is typed into a shell."""
    (token,) = (each for each in page.text.split() if len(each) == 43)
    return token


def _live(page: Markup) -> str:
    """Return where the part of the page is that asks for itself; it is the first, as live.js."""
    part = next(one for one in page.elements if "data-topics" in one.attributes)
    assert part.attributes["id"] == "joining"
    assert part.attributes["data-topics"] == "agents"
    return part.attributes["data-from"]


def _enrol(prsm: Running, token: str) -> None:
    body = {"agent": NAME, "token": token, "key_hash": "0" * 64, "kind": "plain"}
    assert prsm.anybody.post("/api/v1/enrol", json=body).status_code == 200


def _said(browser: Browser, address: str) -> str:
    """Return what the live part says, as live.js asks for it."""
    page = browser.page(address, prsm_live="1")
    part = next(one for one in page.elements if one.attributes.get("id") == "joining")
    return " ".join(part.text.split())


def test_a_token_is_good_for_whole_days_or_less(prsm: Running, person: Visitor) -> None:
    """Written out, as a sentence has it."""
    assert "It is valid for 3 days." in person("admin").page("/console/new-agent").text
    assert [join_tokens._valid(length_s) for length_s in (86_400, 172_800, 5400)] == [
        "1 day",
        "2 days",
        "1\u00a0h\u00a030\u00a0min",
    ]


def test_the_page_of_a_token_says_that_the_agent_joined(prsm: Running, person: Visitor) -> None:
    """Its live part, which never holds the token, waits; then it says when, and leads there."""
    browser = person("admin")
    page, token = _make(browser)
    live = _live(page)
    assert token not in live
    assert f"{NAME} has not joined yet" in _said(browser, live)
    prsm.clock.advance(60)
    _enrol(prsm, token)
    joined = browser.page(live, prsm_live="1")
    assert token not in joined.text
    assert f"{NAME} joined at" in _said(browser, live)
    assert "It has not contacted the manager yet." in _said(browser, live)
    assert f"/console/agent?name={NAME}" in joined.links()
    assert [one.attributes["datetime"] for one in joined.all("time")] == ["2026-09-21T14:14:20Z"]
    assert person("viewer").get(live).status_code == 403


def test_a_token_that_is_of_no_use_is_said_to_be(prsm: Running, person: Visitor) -> None:
    """Over, or replaced by another one; both lead to a new one."""
    browser = person("admin")
    first, second = _live(_make(browser)[0]), _live(_make(browser)[0])
    assert f"another one was made for {NAME}" in _said(browser, first)
    assert f"/console/new-agent?name={NAME}" in browser.page(first).links()
    prsm.clock.now_ms = START_MS + 73 * 3_600_000
    browser.log_in("admin")
    assert "This token was not used until" in _said(browser, second)
    assert browser.get("/console/join-token?name=a%20b").status_code == 400


def test_a_token_that_waits_is_revoked(prsm: Running, person: Visitor) -> None:
    """From the list of those that wait, after a question; its page says that it is over."""
    browser = person("admin")
    page, token = _make(browser)
    asked = browser.act("/console/agents", "/console/join-token/revoke", {"name": NAME})
    assert f"Revoke the join token of {NAME}?" in read(asked.text).text
    done = browser.submit(read(asked.text).form("/console/join-token/revoke"))
    assert done.headers["location"] == "/console/agents"
    agents = browser.page("/console/agents")
    assert f"The join token of {NAME} is revoked." in agents.text
    assert not any(f"/join-token?name={NAME}" in one for one in agents.links())
    assert "This token was not used until" in _said(browser, _live(page))
    body = {"agent": NAME, "token": token, "key_hash": "0" * 64, "kind": "plain"}
    assert prsm.anybody.post("/api/v1/enrol", json=body).status_code == 403


def test_the_guide_says_that_the_first_agent_joined(fresh: Running) -> None:
    """A token that was made elsewhere is listed; when its agent has joined, both pages that lead a
    beginner say so, and both are live."""
    browser = Browser(fresh.public)
    browser.log_in("admin")
    guide, first = browser.page("/console/agents"), browser.page("/console/")
    for page in (guide, first):
        assert any("agents" in one.attributes.get("data-topics", "") for one in page.elements)
    assert "This page updates by itself when an agent has joined" in guide.text
    _, token = _make(browser)
    waiting = [one for one in browser.page("/console/agents").links() if "/join-token?" in one]
    assert f"{NAME} has not joined yet" in _said(browser, *waiting)
    _enrol(fresh, token)
    for address in ("/console/agents", "/console/"):
        page = browser.page(address, prsm_live="1")
        assert f"{NAME} joined at" in " ".join(page.text.split())
        assert f"/console/agent?name={NAME}" in page.links()
    fresh.clock.advance(3601)
    assert "joined at" not in browser.page("/console/agents").text
