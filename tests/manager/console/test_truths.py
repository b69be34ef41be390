"""Truth of pages: bars, moments, numbers, and a way to act beside each command."""

from __future__ import annotations

import html
import re

import pytest

from manager.console.messages.command_links import page_of
from manager.console.pages.rounds.round_progress import progress_of
from manager.console.pages.rounds.rounds import HERE as ROUNDS
from manager.db.rounds.rounds import RoundRow
from manager.operations.hosts.hosts import exclude_host
from manager.operations.people.users import add_user
from manager.operations.rounds.rounds import RoundDetail, cancel_round
from shared.plurals import NOUNS
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS, PASSWORD
from tests.manager.console.markup import Markup, read
from tests.manager.console.pages.test_pages import ADDRESSES
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running

BARE = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ \u00a0T][0-9]{2}:[0-9]{2}")
MARKED = re.compile(
    r"<time\b[^>]*>.*?</time>|<textarea\b.*?</textarea>|<option\b.*?</option>|<pre\b.*?</pre>"
    r"|<[^>]*>",
    re.DOTALL,
)
ONE_OF_MANY = re.compile(rf"(?<![\w.,:/+%-])1 (?:{'|'.join(NOUNS)})\b")
CODE = re.compile(r"<code>(prsm [^<]+)</code>(.{0,80})", re.DOTALL)
OFFLINE = (
    *(f"prsm release {act}" for act in ("key", "root", "sign", "cosign", "signer")),
    "prsm settings",
    "prsm users add",
)
"""The console cannot do it: keys are elsewhere, the file is the manager's, nobody is there yet."""


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_moment_of_a_page_is_in_one_zone(onlooker: Visitor, address: str) -> None:
    """All are marked for the browser, which shows them in the viewer's zone: no other stays UTC."""
    text = onlooker("admin").get(address).text
    bare = BARE.findall(MARKED.sub(" ", text))
    assert bare == []
    assert not ONE_OF_MANY.findall(html.unescape(MARKED.sub(" ", text)))
    assert "U+000D" not in text


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("role", ["viewer", "admin"])
def test_a_command_is_never_the_only_way(onlooker: Visitor, address: str, role: str) -> None:
    """The page that does the same is linked, or its form is there."""
    answer = onlooker(role).get(address)
    if answer.status_code == 403:
        return
    page = read(answer.text)
    for command, _behind in CODE.findall(answer.text):
        said = html.unescape(command)
        if said.startswith(OFFLINE):
            continue
        found = page_of(said)
        assert found is not None, said
        path = found[0].partition("#")[0].partition("?")[0]
        here = address.partition("?")[0]
        links = [link.partition("#")[0].partition("?")[0] for link in page.links()]
        assert path in links or path == here or page.has_form(path), said


def _progress(orders: dict[str, int], units: dict[str, int], agent: dict[str, int]) -> object:
    row = RoundRow(
        number=2, method="tree", state="crawling", probe=True, seed=1, started_by="x",
        started_ms=10_000, verified_ms=None, crawling_ms=20_000, finished_ms=None, reason=None,
        plan_id=None, makespan_ms=None, makespan_agent="", elapsed_ms=None, refetch_ms=None,
        plan_moves=None,
    )  # fmt: skip
    one = {"name": "a", "units": agent, "pages": 0, "bytes": 0, "measured_ms": 0}
    return progress_of(RoundDetail(row, orders, units, [one], None, None, None), 40_000)


@pytest.mark.parametrize(
    ("orders", "units", "filled"),
    [
        ({"granted": 37, "waiting": 3}, {"granted": 4}, (0, 0)),
        ({"waiting": 5}, {"waiting": 9, "granted": 1}, (0, 0)),
        ({"done": 1, "granted": 3}, {"finished": 1, "granted": 1, "waiting": 2}, (250, 250)),
        ({"done": 3, "failed": 1}, {"finished": 3, "cancelled": 1}, (1000, 1000)),
    ],
)
def test_a_bar_is_filled_with_what_is_over(
    orders: dict[str, int], units: dict[str, int], filled: tuple[int, int]
) -> None:
    """Granted and waiting work fills nothing, of probes, of units, of an agent's units."""
    seen = _progress(orders, units, units)
    parts = (seen.orders.parts, seen.units.parts)  # type: ignore[attr-defined]
    assert tuple(round(sum(part.width for part in one)) for one in parts) == filled
    [agent] = seen.agents  # type: ignore[attr-defined]
    assert round(sum(part.width for part in agent["work"].parts)) == filled[1]


def _disabled(page: Markup, action: str) -> bool:
    about = f"unable{action.replace('/', '-')}"
    reasons = [one for one in page.elements if one.attributes.get("id") == about]
    buttons = [one for one in page.all("button") if "disabled" in one.attributes]
    named = [one for one in buttons if one.attributes.get("aria-describedby") == about]
    assert bool(named) == bool(reasons), action
    assert all(one.text.strip() for one in reasons)
    return bool(named)


def test_an_excluded_host_offers_to_include_it_again(prsm: Running, person: Visitor) -> None:
    """What would be refused is disabled; each of these is refused indeed."""
    browser, key = person("operator"), f"http://{HOSTS[5]}:80/"
    here = f"/console/host?host={key}"
    free = browser.page(here)
    assert not _disabled(free, "/console/host/move")
    exclude_host(prsm.manager.db, key, "asked by its owner", ADMIN, prsm.manager.now_ms())
    page = browser.page(here)
    for action in ("/console/host/move", "/console/host/ban", "/console/probes/order"):
        assert _disabled(page, action), action
    assert page.has_form("/console/host/include")
    assert "include it again" in page.text
    probe = page.form("/console/probes/order")
    assert browser.submit(probe).status_code == 409


def test_a_first_day_says_what_comes_first(fresh: Running) -> None:
    """Rounds, plans, probes and orders wait for agents and hosts: the next step is a link."""
    from tests.manager.console.browser import Browser  # noqa: PLC0415

    browser = Browser(fresh.public)
    browser.log_in("admin")
    for address, action, step in (
        (ROUNDS, f"{ROUNDS}/start", "/console/new-agent"),
        ("/console/balance", "/console/plans", "/console/new-agent"),
        ("/console/collection", "/console/collection/orders", "/console/agents"),
        ("/console/user?name=admin", "/console/user/disable", "/console/new-user"),
        ("/console/user?name=admin", "/console/user/role", "/console/new-user"),
    ):
        page = browser.page(address)
        assert _disabled(page, action), action
        assert step in page.links()
        sent = browser.submit(page.form(action), role="viewer")
        assert sent.status_code in (200, 409), "refused, or asked about first"
    add_user(fresh.manager.db, "second", PASSWORD, "admin", ADMIN, START_MS)
    assert not _disabled(browser.page("/console/user?name=admin"), "/console/user/disable")


def test_a_round_can_begin_when_the_other_is_over(prsm: Running, person: Visitor) -> None:
    """Then its button is not disabled any more, and begins one."""
    browser = person("operator")
    cancel_round(prsm.manager.db, ADMIN, prsm.manager.now_ms(), "")
    page = browser.page(ROUNDS)
    assert not _disabled(page, f"{ROUNDS}/start")
    assert browser.submit(page.form(f"{ROUNDS}/start")).status_code == 303


def test_an_agent_with_waiting_probes_is_not_without_work(prsm: Running, person: Visitor) -> None:
    """Its state counts the probes that it waits for."""
    db = prsm.manager.db
    from manager.operations.fleet.agent_summaries import agent_overviews  # noqa: PLC0415

    said = {one.row.name: one.liveness.reason for one in agent_overviews(db, prsm.manager.now_ms())}
    assert not any(
        reason.code == "fleet.idle_no_units" and waiting
        for name, reason in said.items()
        if (waiting := _waiting(prsm, name))
    )


def _waiting(prsm: Running, name: str) -> int:
    from manager.operations.fleet.agents import agent_detail  # noqa: PLC0415

    return agent_detail(prsm.manager.db, name, prsm.manager.now_ms()).orders.get("waiting", 0)
