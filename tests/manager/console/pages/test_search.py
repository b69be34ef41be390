"""The search field: what is typed leads to what it names, or to a page of what is like it."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from manager.operations.hosts.hosts import import_hosts
from tests.manager.archived import collected, hold, page
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS, SCRIPT
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running


def _leads(person: Visitor, text: str, role: str = "admin") -> str:
    answer = person(role).get(f"/console/search?q={quote(text)}")
    assert answer.status_code == 303, answer.text[-500:]
    return answer.headers["location"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (f"http://{HOSTS[1]}/some/page.html?q=1", "/console/host?host=http"),
        (HOSTS[1], "/console/host?host=http"),
        (f"{HOSTS[1].upper()}:80", "/console/host?host=http"),
        ("Kyoto.example.ac.jp", "/console/agent?name=kyoto.example.ac.jp"),
        ("round 2", "/console/rounds/2"),
        ("plan 1", "/console/plans/1"),
        ("viewer", "/console/user?name=viewer"),
        ("museum", "/console/client?name=museum"),
        ("server.stop_s", "/console/settings?q=server.stop_s"),
        ("Hosts", "/console/hosts"),
        ("Withdrawn hosts", "/console/withdrawn"),
        ("audit 3", "/console/audit?before=4"),
        ("http://unknown.example/", "/console/hosts?q=http"),
        ("unknown.example", "/console/hosts?q=unknown.example"),
        ("example1", "/console/hosts?q=example1"),
        ("kyo", "/console/search?q=kyo&show=all"),
        ("nothing-like-that", "/console/search?q=nothing-like-that&show=all"),
        ("", "/console/hosts"),
    ],
)
def test_a_text_leads_somewhere(person: Visitor, text: str, address: str) -> None:
    """One exact hit to its page, hosts alone to their list, all else to what was found."""
    location = _leads(person, text)
    assert location.startswith(address)
    assert person("admin").page(location)


def test_several_hits_are_listed_by_kind(person: Visitor) -> None:
    """Each with a link to its page; the list of each kind is one click away."""
    browser = person("admin")
    found = browser.page("/console/search?q=kyo&show=all")
    assert "/console/agent?name=kyoto.example.ac.jp" in found.links()
    headings = [each.text for each in found.all("h2")]
    assert "Agents" in headings
    for link in found.links():
        if link.startswith("/console/"):
            assert browser.get(link).status_code in (200, 303), link
    (file,) = [link for link in found.links() if "search.csv" in link and "kind=agent" in link]
    assert "agent,kyoto.example.ac.jp,part," in browser.get(file).text
    many = browser.page("/console/search?q=example&show=all")
    assert "/console/hosts?q=example" in many.links()


def test_a_viewer_finds_no_users(person: Visitor) -> None:
    """Neither they nor the pages about them are shown or led to."""
    assert _leads(person, "operator", "viewer").startswith("/console/search?")
    found = person("viewer").page("/console/search?q=operator&show=all")
    assert not [each for each in found.links() if "/console/user" in each]
    users = person("viewer").page("/console/search?q=Users&show=all")
    assert "/console/users" not in users.links()


def test_a_unicode_name_is_found_and_shown(prsm: Running, person: Visitor) -> None:
    """Whole, in part, and in full width; the readable name stands beside the one in ASCII."""
    import_hosts(prsm.manager.db, [(1, "http://www.日本語.jp/")], ADMIN, prsm.clock())
    for text in ("www.日本語.jp", "ｗｗｗ。日本語。ＪＰ", "http://www.日本語.jp/"):
        assert _leads(person, text).startswith("/console/host?host=http")
    assert _leads(person, "本語").startswith("/console/hosts?q=")
    shown = person("viewer").page("/console/search?q=%E6%9C%AC%E8%AA%9E&show=all")
    assert "www.日本語.jp" in shown.text
    assert "www.xn--wgv71a119e.jp" in shown.text


def test_a_collected_page_is_led_to(prsm: Running, person: Visitor) -> None:
    """Its page says when it was taken and what came, and its file says the same."""
    agent = prsm.agent("collector.example")
    hold(prsm, agent, "http://taken.example:80/")
    url = "http://taken.example/a%20b"
    collected(prsm, agent, [page(url, b"<html>x</html>", mime=f"text/{SCRIPT}")])
    location = _leads(person, "http://taken.example/a b")
    assert location == f"/console/captured?url={quote(url, safe='')}"
    browser = person("viewer")
    found = browser.page(location)
    assert "Collected page" in found.text
    (file,) = [each for each in found.links() if "captured.csv" in each]
    assert browser.get(file).text.count("\n") == 2
    none = browser.page("/console/captured?url=http://taken.example/none")
    assert "holds no capture" in none.text
    assert browser.get("/console/captured?url=nothing+at+all").status_code == 400


def test_what_was_typed_is_harmless_and_kept(person: Visitor) -> None:
    """It stands in the field again, and no part of it is alive."""
    text = f'{SCRIPT}"&\u202e'
    answer = person("viewer").get(f"/console/search?q={quote(text)}&show=all")
    assert answer.status_code == 200
    assert SCRIPT not in answer.text
    assert "No results for" in answer.text
    assert person("viewer").get("/console/search?q=%00").status_code == 400


def test_the_search_speaks_japanese(person: Visitor) -> None:
    """Kinds, matches and columns; a page of the console is found by its Japanese name."""
    browser = person("admin")
    browser.cookies["prsm-look"] = "ja"
    answer = browser.get("/console/search?q=kyo&show=all", accept_language="ja")
    assert "ロボット" in answer.text
    assert _leads(person, "監査記録") == "/console/audit"


@pytest.mark.parametrize("typed", ["front.example", "http://front.example", "front.example/",
                                   "http://front.example:80/"])  # fmt: skip
def test_a_host_is_led_to_where_its_front_page_was_collected(
    typed: str, prsm: Running, person: Visitor
) -> None:
    """An address without a path is that of a host; its front page is listed beside it."""
    agent = prsm.agent("collector.example")
    hold(prsm, agent, "http://front.example:80/")
    collected(prsm, agent, [page("http://front.example/", b"<html>x</html>")])
    assert _leads(person, typed) == "/console/host?host=http%3A%2F%2Ffront.example%3A80%2F"
    listed = person("viewer").page("/console/search?q=http://front.example/&show=all")
    assert "the top page of this host" in listed.text
