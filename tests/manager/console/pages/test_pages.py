"""Every page: well-formed, nothing inline, nothing from elsewhere, hostile text disarmed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import manager.console as package
from manager.console.routes import PAGES
from manager.db.fleet import agents
from manager.db.people import users
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import BIDI, HOSTS, SCRIPT
from tests.manager.console.markup import Markup, read
from tests.manager.running import Running

ADDRESSES = [
    "/console/",
    "/console/agents",
    "/console/agents?state=retired",
    "/console/agent?name=kyoto.example.ac.jp",
    "/console/agent?name=hiroshima.example.ac.jp",
    "/console/agent?name=plain.example.ac.jp",
    "/console/agent?name=sapporo.example.ac.jp",
    "/console/new-agent",
    "/console/join-token?name=nagoya.example.ac.jp&token=0",
    "/console/restart",
    "/console/hosts",
    "/console/hosts?q=not+a+domain!",
    "/console/hosts?q=kyoto.example.ac.jp",
    "/console/add-hosts",
    "/console/host?host=http://www001.example1.jp/",
    "/console/host?host=http://www000.example0.jp/",
    "/console/host?host=http://evil.example.com/",
    "/console/host?host=http://also-evil.example.com/",
    "/console/search?q=example&show=all",
    "/console/search?q=1&show=all",
    "/console/captured?url=http://www001.example1.jp/",
    "/console/rounds",
    "/console/rounds/1",
    "/console/rounds/3",
    "/console/rounds/3?q=kyoto&sort=-units",
    "/console/balance",
    "/console/balance?edges=moved",
    "/console/balance/splits",
    "/console/plans/1/tree",
    "/console/plans/3/tree?edges=all&sort=-give&agent=kyoto.example.ac.jp",
    "/console/probes",
    "/console/probes?show=suspect&sort=-fresh",
    "/console/probes/matrix",
    "/console/probes/matrix?domain=example1.jp&sort=-host",
    "/console/probes/distances",
    "/console/probes/distances?agent=kyoto.example.ac.jp&older=0&sort=-distance",
    "/console/plans",
    "/console/plans/1",
    "/console/plans/3",
    "/console/reports",
    "/console/logs",
    "/console/logs?host=nothing.example&status=404",
    "/console/collection",
    "/console/collection?state=accepted",
    "/console/collection/orders",
    "/console/collection/orders?agent=kyoto.example.ac.jp&state=open",
    "/console/data",
    "/console/data?q=nobody",
    "/console/new-client",
    "/console/client?name=library",
    "/console/client?name=museum",
    "/console/downloads",
    "/console/downloads?state=cut",
    "/console/archive-jobs",
    "/console/archive-jobs?client=museum",
    "/console/withdrawn",
    "/console/trash",
    "/console/audit",
    "/console/agents-map",
    "/console/alerts",
    "/console/releases",
    "/console/release-agents",
    "/console/settings",
    "/console/settings?show=changed",
    "/console/fleet-rules",
    "/console/scope",
    "/console/scope?url=www.example.jp",
    "/console/scope?url=http://",
    "/console/scope?url=www.example.jp&language=ja",
    "/console/scope?url=www.example.jp&language=%3Cscript%3E",
    "/console/fleet-rules?url=www.example.jp&pattern=(",
    "/console/tokens",
    "/console/users",
    "/console/user?name=viewer",
    "/console/user/password?name=viewer",
    "/console/own-password",
    "/console/robot",
    "/console/new-user",
]
REFUSED = [
    ("/console/nothing", 404),
    ("/console/agent?name=nobody", 404),
    ("/console/join-token?name=%3Cscript%3E", 400),
    ("/console/agent?name=%3Cscript%3Ealert(1)%3C/script%3E", 404),
    ("/console/host?host=ftp://%E2%80%AE/", 404),
    ("/console/host?host=", 400),
    ("/console/agents?sort=%3Cscript%3Ealert(1)%3C/script%3E", 400),
    ("/console/rounds/999", 404),
    ("/console/plans/999", 404),
    ("/console/plans/999/tree", 404),
    ("/console/probes?show=nothing", 400),
    ("/console/probes/matrix?columns=-1", 400),
    ("/console/probes/matrix?agent=nobody", 404),
    ("/console/probes/distances?older=soon", 400),
    ("/console/probes/distances?sort=distance", 400),
    ("/console/probes/distances?reached=perhaps", 400),
    ("/console/probes/distances?host=nowhere.example", 404),
    ("/console/activity/colours.svg", 404),
    ("/console/hosts?page=x", 400),
    ("/console/audit?before=-1", 400),
    ("/console/user?name=nobody", 404),
    ("/console/alerts?sort=x", 400),
    ("/console/releases?sort=x", 400),
    ("/console/release-agents?page=x", 400),
    ("/console/tokens?size=1", 400),
    ("/console/client?name=nobody", 404),
    ("/console/downloads?state=nothing", 400),
    ("/console/archive-jobs?state=nothing", 400),
    ("/console/rounds/99999999999999999999999", 404),
]


def _check(page: Markup, text: str) -> None:
    """Hold one page against what all pages must be."""
    for element in page.elements:
        inline = [name for name in element.attributes if name == "style" or name.startswith("on")]
        assert not inline, f"<{element.tag}> has {inline}"
        assert element.tag != "style"
        if element.tag == "script":
            assert element.attributes["src"].startswith("/console/static/")
            assert not element.text.strip()
        if element.tag in ("link", "img"):
            source = element.attributes.get("href") or element.attributes["src"]
            assert source.startswith("/console/static/")
        if element.tag == "a":
            target = element.attributes["href"]
            if not target.startswith(("/console/", "#")) and target != "/api/v1/openapi.json":
                assert target.startswith(("http://", "https://")), target
                assert "noreferrer" in element.attributes["rel"]
        if element.tag == "form" and element.attributes.get("method") != "dialog":
            assert element.attributes["action"].startswith("/console/")
    for form in page.forms:
        if form.method == "post":
            assert len(form.fields["csrf"]) == 64, form.action
    assert len(page.all("h1")) == 1
    primary = [
        each
        for each in page.elements
        if "btn-primary" in each.attributes.get("class", "") and each.tag in ("a", "button")
    ]
    assert len(primary) <= 1, "at most one primary action a page"
    assert SCRIPT not in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_is_sound(onlooker: Visitor, address: str) -> None:
    """A page is well-formed, has one heading and no inline code, and nothing hostile is alive."""
    browser = onlooker("admin")
    answer = browser.get(address)
    assert answer.status_code == 200, answer.text[-500:]
    _check(read(answer.text), answer.text)


def test_every_page_is_looked_at_here() -> None:
    """No page is forgotten in the list above."""
    seen = {address.partition("?")[0].removeprefix("/console") for address in ADDRESSES}
    seen = {re.sub(r"/\d+(?=/|$)", "/{number:int}", path) for path in seen}
    files = (".csv", ".json", ".svg")
    pages = {page.path for page in PAGES if page.method == "GET" and not page.path.endswith(files)}
    assert pages - seen == {"/login", "/logs/more", "/events"}


@pytest.mark.parametrize(("address", "status"), REFUSED)
def test_refusals_are_pages_too(onlooker: Visitor, address: str, status: int) -> None:
    """What does not exist or cannot be is said in a page of the same making."""
    browser = onlooker("admin")
    answer = browser.get(address)
    assert answer.status_code == status, answer.text[-500:]
    _check(read(answer.text), answer.text)


@pytest.mark.parametrize(
    ("address", "listed"),
    [
        ("/console/agent?name=nobody", "/console/agents"),
        ("/console/plans/999", "/console/plans"),
        ("/console/rounds/999", "/console/rounds"),
        ("/console/user?name=nobody", "/console/users"),
    ],
)
def test_what_is_not_there_leads_to_what_is(onlooker: Visitor, address: str, listed: str) -> None:
    """A page names no command to list what there is: a button leads to it."""
    browser = onlooker("admin")
    page = browser.get(address).text
    main = page[page.index("<main") : page.index("</main>")]
    assert f'<a class="btn btn-primary" href="{listed}">' in main
    assert "prsm " not in main
    assert browser.get(listed).status_code == 200


def test_the_first_day_says_what_to_do(fresh: Running) -> None:
    """Without agents, hosts and rounds every page says what to do first, with the commands."""
    browser = Browser(fresh.public)
    browser.log_in("admin")
    expected = {
        "/console/": "Add an agent.",
        "/console/agents": "prs enrol http://127.0.0.1 --name",
        "/console/restart": "No agents yet.",
        "/console/hosts": "prsm hosts import",
        "/console/rounds": "No round has started yet",
        "/console/plans": "No plan was made yet",
        "/console/reports": "No logs yet",
        "/console/data": "prsm clients add library",
        "/console/downloads": "No downloads yet",
        "/console/archive-jobs": "No jobs yet",
        "/console/withdrawn": "No hosts are withdrawn",
        "/console/audit": "user.login",
    }
    for address, words in expected.items():
        answer = browser.get(address)
        page = read(answer.text)
        _check(page, answer.text)
        assert words in page.text, address


def test_hostile_texts_are_shown_disarmed(person: Visitor) -> None:
    """What agents, pages and people wrote is shown as it is, and does nothing."""
    browser = person("viewer")
    agent = browser.page("/console/agent?name=kyoto.example.ac.jp")
    assert f"0.1{SCRIPT}" in agent.text
    assert f"calendar without end {SCRIPT}" in agent.text
    assert "⟨U+202E⟩gnp.exe⟨U+001B⟩[31m'\"&" in agent.text
    host = browser.page("/console/host?host=http://evil.example.com/")
    assert f"javascript:{SCRIPT}" in host.text
    assert not any(link.startswith("javascript:") for link in host.links())
    assert "http://from.example.com/⟨U+202E⟩gnp.exe" in host.text
    assert BIDI not in host.text
    excluded = browser.page(f"/console/hosts?q={HOSTS[0]}")
    assert f"=cmd {SCRIPT}⟨U+202E⟩" in excluded.text


def test_crawled_links_do_not_say_where_one_came_from(person: Visitor) -> None:
    """A link to a crawled page is http or https and carries no referer."""
    page = person("viewer").page("/console/host?host=http://evil.example.com/")
    outward = [each for each in page.all("a") if "outward" in each.attributes.get("class", "")]
    assert outward
    assert all("noreferrer" in each.attributes["rel"] for each in outward)


def test_no_secret_is_on_any_page(prsm: Running, person: Visitor) -> None:
    """Neither keys nor their hashes nor session tokens stand anywhere."""
    browser = person("admin")
    with prsm.manager.db.read() as tx:
        secrets = [row.key_hash for row in agents.all_agents(tx) if row.key_hash]
        people = [users.by_name(tx, one.name) for one in users.all_users(tx)]
        secrets += [row.password_hash for row in people if row is not None]
    secrets.append(browser.cookies["prsm"])
    for address in ADDRESSES:
        text = browser.get(address).text
        assert not [each for each in secrets if each in text], address


def test_every_answer_has_the_headers(person: Visitor) -> None:
    """Pages, lists, files, redirects and refusals all come with the strict headers."""
    browser = person("admin")
    asked = ["/console/", "/console/agents.csv", "/console/nothing", "/console/search?q=x"]
    asked += ["/console/static/css/frame.css", "/console/static/nothing.css", "/console/login"]
    answers = [browser.get(path) for path in asked]
    answers.append(browser.post("/console/agents", {}))
    answers.append(browser.post("/console/rounds/cancel", {}))
    assert [answer.status_code for answer in answers] == [
        200,
        200,
        404,
        303,
        200,
        404,
        303,
        405,
        403,
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"


def test_pages_are_not_stored_and_files_are(person: Visitor) -> None:
    """A page is asked for each time; a file has its content's digest in its address."""
    browser = person("viewer")
    answer = browser.get("/console/agents")
    assert answer.headers["cache-control"] == "no-store"
    page = read(answer.text)
    sheets = [each.attributes["href"] for each in page.all("link")]
    for address in sheets + [each.attributes["src"] for each in page.all("script")]:
        assert re.search(r"\?v=[0-9a-f]{16}$", address)
        file = browser.get(address)
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        same = browser.get(address, if_none_match=file.headers["etag"])
        assert same.status_code == 304


def test_files_have_no_other_way_in(person: Visitor) -> None:
    """Only files that lay there at the start have an address: no path leads out."""
    browser = person("viewer")
    for name in ("../routes.py", "..%2Froutes.py", "vendor/MANIFEST.json", "/etc/passwd", ""):
        assert browser.get(f"/console/static/{name}").status_code == 404, name


def test_nothing_is_loaded_from_elsewhere() -> None:
    """Neither templates nor style nor script name another host, but for those in comments."""
    folder = Path(package.__file__).parent
    own = [*(folder / "templates").glob("*.html"), *(folder / "static").glob("[!v]*/*.*")]
    assert own
    for path in own:
        text = path.read_text()
        text = text.replace("http://www.w3.org/2000/svg", "")
        found = re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text)
        assert not found, (path, found)
    vendored = (folder / "static/vendor/tabler.min.css").read_text()
    sources = re.findall(r"url\(([^)]{0,6})", vendored)
    assert all(source.startswith(('"data:', "data:")) for source in sources), set(sources)
    assert "@import" not in vendored


def test_the_times_are_utc_and_marked_for_the_browser(person: Visitor) -> None:
    """Without a script times are UTC in words; the script finds the moment in the element."""
    page = person("viewer").page("/console/rounds/1")
    moments = [each for each in page.all("time") if "data-moment" in each.attributes]
    assert moments
    for each in moments:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each.attributes["datetime"])
        assert each.text.endswith("UTC")


def test_states_are_words(person: Visitor) -> None:
    """No state is told by its colour alone."""
    for address in ("/console/agents", "/console/rounds", "/console/"):
        page = person("viewer").page(address)
        states = [each for each in page.all("span") if "state-" in each.attributes.get("class", "")]
        assert states
        assert all(each.text.strip() for each in states)


def test_every_column_has_a_label_on_a_telephone(person: Visitor) -> None:
    """In tables that become cards every cell says what it is."""
    for address in ("/console/agents", "/console/hosts", "/console/audit", "/console/rounds"):
        text = person("viewer").get(address).text
        (table,) = re.findall(r'<table class="table table-dense cards">.*?</table>', text, re.S)[:1]
        body = table.partition("<tbody>")[2]
        cells = re.findall(r"<t[dh]\b[^>]*>", body)
        assert cells
        assert all("data-label=" in cell for cell in cells), address
