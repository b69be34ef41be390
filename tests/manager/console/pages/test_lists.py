"""Lists sort, filter, page and export; all of it by their address."""

from __future__ import annotations

import csv
import io
import re

import pytest

from manager.console.routes import PAGES
from manager.operations.hosts.host_views import HostFilter, list_hosts
from manager.operations.hosts.hosts import exclude_host, import_hosts
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS, SCRIPT
from tests.manager.console.markup import Markup
from tests.manager.many_rounds import add_plans, add_rounds
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

OF_THEIR_OWN = {
    *("/captured", "/collection/orders", "/fleet-rules", "/search", "/tokens", "/trash"),
}
"""Lists that are empty at first; their own tests fill them and read their CSV."""
ON_OTHERS = {"/activity": "/"}
"""What is a part of another page; it draws its rows and has no headings."""
SHOWN = {page.path for page in PAGES if page.method == "GET"} | set(ON_OTHERS)
LISTS = [
    path
    for page in PAGES
    if page.path.endswith(".csv")
    and (path := page.path.removesuffix(".csv")) in SHOWN - OF_THEIR_OWN
]
"""Lists; tables inside of pages have tests of their own (`test_tables`)."""
EMPTY = {"/releases"}
"""What needs signatures of people: tests of its own fill it."""


def _address(path: str) -> str:
    return f"/console{ON_OTHERS.get(path, path).replace('{number:int}', '1')}"


def _hosts(page: Markup) -> list[str]:
    return [
        each.text
        for each in page.all("a")
        if each.attributes.get("href", "").startswith("/console/host?")
    ]


def _table(browser: Browser, address: str) -> list[dict[str, str]]:
    answer = browser.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="')
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


@pytest.mark.parametrize("path", LISTS)
def test_every_list_has_a_csv(onlooker: Visitor, path: str) -> None:
    """A list links to itself as CSV, and the file has its rows, none of them a formula."""
    browser = onlooker("admin")
    page = browser.page(_address(path))
    own = _address(path).partition("?")[0] if path not in ON_OTHERS else f"/console{path}"
    (link,) = {each for each in page.links() if each.partition("?")[0] == f"{own}.csv"}
    rows = _table(browser, link)
    assert rows or path in EMPTY
    for row in rows:
        assert all(not cell or cell[0] not in "=+@" for cell in row.values()), row


@pytest.mark.parametrize("path", LISTS)
def test_every_sort_of_a_list_works(onlooker: Visitor, path: str) -> None:
    """Each heading that is a link sorts, both ways, and says so."""
    browser = onlooker("admin")
    page = browser.page(_address(path))
    sorts = {each for each in page.links() if "sort=" in each}
    for address in sorts:
        sorted_page = browser.page(address)
        name = re.search(r"sort=(-?)", address)
        assert name
        order = "descending" if name[1] else "ascending"
        shown = [
            each
            for each in sorted_page.elements
            if each.attributes.get("aria-sort") == order
            or f"sorted-{order}" in each.attributes.get("class", "")
        ]
        assert len(shown) == 1, address


def test_agents_sort_filter_and_export(person: Visitor) -> None:
    """The table of agents shows what its address says, and its CSV the same rows in full."""
    browser = person("viewer")
    rows = _table(browser, "/console/agents.csv?sort=-units")
    units = [int(row["units owned"]) for row in rows]
    assert units == sorted(units, reverse=True)
    assert units[0] > 0
    assert {row["agent"] for row in _table(browser, "/console/agents.csv?kind=plain")} == {
        "plain.example.ac.jp"
    }
    assert [row["state"] for row in _table(browser, "/console/agents.csv?state=retired")] == [
        "retired"
    ]
    assert _table(browser, "/console/agents.csv?q=kyo")[0]["version"] == f"0.1{SCRIPT}"
    page = browser.page("/console/agents?q=nothing-like-that")
    assert "No matching agents" in page.text
    assert "/console/agents" in page.links()


def test_hosts_are_found_by_domain_or_by_any_part(person: Visitor) -> None:
    """A search finds a domain with all below it, or a part of the address anywhere."""
    browser = person("viewer")
    below = _hosts(browser.page("/console/hosts?q=example3.jp"))
    assert below == [name for name in HOSTS if name.endswith(".example3.jp")]
    part = _hosts(browser.page("/console/hosts?q=ample3.jp&in=address"))
    assert part == below


def test_a_list_of_hosts_says_that_it_fell_back(person: Visitor) -> None:
    """Where no domain is like that, any part of an address counts, and the page and file say so."""
    browser = person("viewer")
    said = "No host is named ample3.jp or lies below it."
    fallen = browser.page("/console/hosts?q=ample3.jp")
    assert _hosts(fallen) == [name for name in HOSTS if name.endswith(".example3.jp")]
    assert said in fallen.text
    assert said not in browser.page("/console/hosts?q=ample3.jp&in=address").text
    assert "or lies below it" not in browser.page("/console/hosts?q=example3.jp").text
    rows = _table(browser, "/console/hosts.csv?q=ample3.jp")
    assert len(rows) == len(_hosts(fallen))
    for nothing in ("*", "no%20such", "%E6%97%A5%E6%9C%AC"):
        page = browser.page(f"/console/hosts?q={nothing}")
        assert "No matching hosts" in page.text
        (everything,) = [each for each in page.links() if each.startswith("/console/search?")]
        assert browser.get(everything).status_code == 200


def test_hosts_are_filtered_by_owner_and_state(prsm: Running, person: Visitor) -> None:
    """Owner and state narrow the list, and stay chosen in the form."""
    browser = person("viewer")
    address = "/console/hosts?owner=osaka.example.ac.jp&state=placed&sort=-volume&size=25"
    page = browser.page(address)
    db = prsm.manager.db
    wanted = list_hosts(db, HostFilter(owner="osaka.example.ac.jp"), sort="-volume", limit=25)
    assert _hosts(page) == [line.key.removeprefix("http://")[:-4] for line in wanted.hosts]
    chosen = page.form("/console/hosts", "get").fields
    assert (chosen["owner"], chosen["state"]) == ("osaka.example.ac.jp", "placed")
    assert chosen["sort"] == "-volume"


def test_pages_of_hosts_follow_each_other(person: Visitor) -> None:
    """Going on from page to page shows every host once, in order."""
    browser = person("viewer")
    address = "/console/hosts?size=25"
    seen: list[str] = []
    while True:
        page = browser.page(address)
        seen += _hosts(page)
        onward = [each for each in page.all("a") if each.attributes.get("rel") == "next"]
        if not onward:
            break
        address = onward[0].attributes["href"]
    assert len(seen) == len(set(seen)) == 62
    assert [row["host"] for row in _table(browser, "/console/hosts.csv")] == [
        f"http://{name}:80/" for name in seen
    ]


def test_a_csv_of_many_hosts_has_them_all(prsm: Running, person: Visitor) -> None:
    """An export is read in parts, and none is left out or repeated."""
    names = [f"h{number}.many.example" for number in range(2100)]
    import_hosts(prsm.manager.db, enumerate(names, 1), ADMIN, prsm.clock())
    rows = _table(person("viewer"), "/console/hosts.csv?q=many.example")
    assert sorted(row["host"] for row in rows) == sorted(f"http://{name}:80/" for name in names)


def test_a_live_filter_keeps_the_address_right(person: Visitor) -> None:
    """A list that htmx asks for says which address shows the same; a page that is live does not."""
    address = "/console/agents?q=kyo&state=&kind=&sort=-cost"
    answer = person("viewer").get(address, hx_request="true", hx_target="list")
    assert answer.headers["hx-push-url"] == "/console/agents?q=kyo&sort=-cost"
    for others in ({"hx_request": "true", "hx_target": "more"}, {"prsm_live": "1"}):
        assert "hx-push-url" not in person("viewer").get(address, **others).headers


def test_withdrawn_hosts_are_found_by_their_names(prsm: Running, person: Visitor) -> None:
    """A part of a name in any case leaves its hosts, on the page and in its CSV."""
    browser = person("viewer")
    for name in (HOSTS[3], HOSTS[4]):
        exclude_host(prsm.manager.db, f"http://{name}/", "asked for", ADMIN, prsm.clock())
    address = f"/console/withdrawn?q={HOSTS[3].upper()}"
    assert _hosts(browser.page(address)) == [HOSTS[3]]
    (link,) = [each for each in browser.page(address).links() if ".csv" in each]
    assert [row["host"] for row in _table(browser, link)] == [f"http://{HOSTS[3]}:80/"]
    assert "No matching hosts" in browser.page("/console/withdrawn?q=100%25").text


def test_the_audit_pages_back_in_time(person: Visitor) -> None:
    """Older rows follow without a gap, and filters hold on."""
    browser = person("viewer")
    everything = _table(browser, "/console/audit.csv")
    address, seen = "/console/audit?size=25", 0
    while True:
        page = browser.page(address)
        seen += sum(1 for each in page.all("td") if each.attributes.get("data-label") == "Time")
        onward = [each for each in page.all("a") if each.attributes.get("rel") == "next"]
        if not onward:
            break
        address = onward[0].attributes["href"]
    assert len({row["id"] for row in everything}) == len(everything)
    assert seen == len(everything)
    hosts = _table(browser, "/console/audit.csv?action=host.")
    assert {row["action"] for row in hosts} == {"host.import", "host.discover", "host.exclude"}
    assert _table(browser, "/console/audit.csv?actor=kyoto.example.ac.jp")[0]["kind"] == "agent"


def test_reports_of_one_agent(person: Visitor) -> None:
    """The reports of one agent are its own."""
    rows = _table(person("viewer"), "/console/reports.csv?agent=osaka.example.ac.jp")
    assert rows
    assert {row["agent"] for row in rows} == {"osaka.example.ac.jp"}


def test_rounds_and_plans_by_method(person: Visitor) -> None:
    """Rounds and plans are narrowed by method and state."""
    browser = person("viewer")
    assert [row["round"] for row in _table(browser, "/console/rounds.csv?method=tree")] == ["2"]
    assert [row["state"] for row in _table(browser, "/console/rounds.csv?state=probing")] == [
        "probing"
    ]
    assert [row["plan"] for row in _table(browser, "/console/plans.csv?applied=no")] == ["3"]
    moves = _table(browser, "/console/plans/2.csv")
    assert moves
    assert all(row["from"] != row["to"] for row in moves)


def test_a_year_of_rounds_is_listed_whole(prsm: Running, person: Visitor) -> None:
    """List, total and CSV know of all; a page beyond the last is the last; a filter counts all."""
    browser = person("viewer")
    add_rounds(prsm.manager.db, 1001, 3500)
    add_plans(prsm.manager.db, 1001, 3500)
    for kind, column in (("rounds", "round"), ("plans", "plan")):
        whole = _table(browser, f"/console/{kind}.csv?sort=number")
        numbers = [int(row[column]) for row in whole]
        assert numbers[-2500:] == list(range(1001, 3501))
        assert "1" in {row[column] for row in whole}
        shown = browser.page(f"/console/{kind}?size=200&sort=number&page=99")
        assert f"{len(whole):,} of {len(whole):,}" in shown.text
        tree = browser.page(f"/console/{kind}?method=tree&size=25")
        rows = _table(browser, f"/console/{kind}.csv?method=tree")
        assert len(rows) > 800
        assert f"1–25 of {len(rows):,}" in tree.text
    assert browser.get("/console/rounds?state=asleep").status_code == 400


def test_moves_of_one_agent(person: Visitor) -> None:
    """A plan's moves are narrowed to those of an agent, in the page, its pager and its CSV."""
    browser = person("viewer")
    everything = _table(browser, "/console/plans/2.csv")
    name = everything[0]["from"]
    wanted = [row for row in everything if name in (row["from"], row["to"])]
    assert 1 < len(wanted) < len(everything)
    page = browser.page(f"/console/plans/2?agent={name.upper()}")
    assert page.form("/console/plans/2", "get").fields["agent"] == name
    (fewer,) = [each for each in page.links() if "size=25" in each]
    for shown in (page, browser.page(fewer)):
        assert f"1–{len(wanted)} of {len(wanted)}" in shown.text
    (link,) = [each for each in page.links() if each.startswith("/console/plans/2.csv")]
    assert _table(browser, link) == wanted
    assert browser.get("/console/plans/2?agent=nobody.example").status_code == 404


def test_agents_of_a_round_sort_filter_and_export(person: Visitor) -> None:
    """The table of a round is a list like any other; its first rows are those that took longest."""
    browser = person("viewer")
    rows = browser.get("/console/rounds/1.csv").text.splitlines()[1:]
    names = [row.split(",")[0] for row in rows]
    took = [float(row.split(",")[5]) for row in rows]
    assert len(names) > 1
    assert took == sorted(took, reverse=True)
    by_name = browser.get("/console/rounds/1.csv?sort=name").text.splitlines()[1:]
    assert [row.split(",")[0] for row in by_name] == sorted(names)
    page = browser.get(f"/console/rounds/1?q={names[1]}").text
    table = page.split('<div id="list">')[1].split("</table>")[0]
    assert f">{names[1]}</a>" in table
    assert f">{names[0]}</a>" not in table
    assert browser.get("/console/rounds/1?sort=nothing").status_code == 400


def test_a_csv_of_a_japanese_page_says_that_it_is_utf_8(person: Visitor) -> None:
    """Excel in Japanese Windows would take it for Shift_JIS; who asks in English gets no mark."""
    browser = person("viewer")
    marked = browser.get("/console/hosts.csv", accept_language="ja").content
    plain = browser.get("/console/hosts.csv").content
    assert plain.startswith(b"host,")
    assert marked == b"\xef\xbb\xbf" + plain
