"""Screens that no address brings: refusals, the end of a session, what is being counted.

Each at a desk and on a telephone, light or dark, before axe and the Nu HTML checker. Questions, and
what follows an act, are looked at by `test_ways_to_act`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from manager.console.requests import access
from manager.db.hosts import host_views
from tests.browser.checked import html_errors
from tests.browser.desk import NAMES
from tests.browser.screens import unsound
from tests.e2e.manager_process import ManagerProcess
from tests.manager.api.test_access import login
from tests.manager.console.browser import Browser as Visitor
from tests.manager.console.filled import HOSTS, PASSWORD, fill_world
from tests.manager.console.large_host import LARGE, grow_host
from tests.manager.console.markup import read
from tests.manager.running import running
from tools.browser.driven import DESK, PHONE, Browser
from tools.screenshots.pages import address

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

DARK = {DESK: replace(DESK, dark=True), PHONE: replace(PHONE, dark=True)}


@dataclass(frozen=True, slots=True)
class Refused:
    """A form that is refused. action: where it goes. status: of the answer. says: why."""

    page: str
    action: str
    says: str
    typed: Mapping[str, str] = field(default_factory=dict)
    status: int = 400
    by: str = "admin"


REFUSED = (
    Refused("add-hosts", "add-hosts", "1 line names no host", {"lines": "a.example\nhttp://["}),
    Refused("new-user", "new-user", "viewer", {"name": "viewer", "password": PASSWORD}, 409),
    Refused("own-password", "own-password", "password", {"old_password": "not the one",
            "password": f"new {PASSWORD}", "password_again": f"new {PASSWORD}"}),
    Refused("user-password", "user/password", "12", {"password": "short"}),
    Refused("tokens", "tokens", "400", {"name": "x", "days": "999"}),
    Refused("client", "client/token", "days", {"days": "999999"}),
    Refused("fleet-rules", "fleet-rules/block", "(", {"text": "(", "reason": "x"}),
    Refused("agent", "agent/position", "must be -90 to 90 degrees",
            {"latitude": "999", "longitude": "1"}),
    Refused("rounds", "rounds/schedules", "must have five fields", {"crontab": "at noon"}),
)  # fmt: skip


class Screens:
    """Looks at screens; keeps what was served of each, by its name."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.served: dict[str, str] = {}

    def log_in(self, role: str, number: int = 0) -> Browser:
        """Log in where the number of the test says: at a desk or a telephone, light or dark."""
        size = (DESK, PHONE)[number % 2]
        self.browser.open(DARK[size] if number // 2 % 2 else size)
        self.browser.log_in(role, PASSWORD)
        return self.browser

    def look(self, name: str, status: int = 200) -> list[str]:
        """Return what is wrong with the screen. status: what the browser may complain of."""
        self.served[name] = self.browser.served()
        found = [one for one in self.browser.found() if f" {status} " not in one]
        return [f"{name}: {one}" for one in found] + unsound(self.browser, name)

    def look_at(self, html: str, name: str, *, by: str, in_place_of: str) -> list[str]:
        """Return what is wrong with a page that was served elsewhere, light and dark.

        by: the role of who sees it. in_place_of: a page whose styles it has.
        """
        wrong = []
        for number in (0, 3):
            browser = self.log_in(by, number)
            browser.go(address(in_place_of, NAMES))
            browser.show(html)
            wrong += self.look(name)
        self.served[name] = html
        return wrong


@pytest.fixture(scope="module")
def screens(filled: ManagerProcess) -> Iterator[Screens]:
    """Start the browser."""
    with Browser(filled.url) as started:
        yield Screens(started)


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[one.action for one in REFUSED])
def test_a_form_that_is_refused_says_why(screens: Screens, number: int) -> None:
    """The screen names the reason; it is as sound as any other."""
    refused = REFUSED[number]
    browser = screens.log_in(refused.by, number)
    browser.go(address(refused.page, NAMES))
    form = f"main form[method=post][action='/console/{refused.action}']"
    browser.script(
        "document.querySelectorAll('main form').forEach(one => { one.noValidate = true; })"
    )
    for name, text in refused.typed.items():
        browser.fill(f"{form} [name={name!r}]", text)
    browser.click(f"{form} button[type=submit]")
    wrong = screens.look(f"refused {refused.action}", refused.status)
    assert refused.says in browser.text()
    assert not wrong, "\n".join(wrong)


def test_an_expression_and_a_login_that_cannot_be_say_so(screens: Screens) -> None:
    """What is tried is refused as what is sent is."""
    browser = screens.log_in("admin", 1)
    browser.go("/console/fleet-rules?url=a.example&pattern=(")
    assert browser.count("#try .said-bad") == 1
    wrong = screens.look("refused expression")
    browser.open(DARK[DESK])
    browser.go("/console/login")
    browser.fill("input[name=name]", "admin")
    browser.fill("input[name=password]", "not the password")
    browser.click("main button[type=submit]")
    wrong += screens.look("refused login", 401)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", [0, 3])
def test_the_end_of_a_session_is_a_sound_screen(screens: Screens, number: int) -> None:
    """In a list that is filtered, at the login that keeps a form, and before it is sent again."""
    browser = screens.log_in("admin", number)
    browser.go("/console/hosts")
    browser.forget()
    browser.fill("main form.filters input[name=q]", "www")
    browser.wait_for("#over")
    wrong = screens.look("session over in a list", 401)
    browser = screens.log_in("admin", number)
    browser.go("/console/new-client")
    browser.fill("input[name=name]", "never")
    browser.fill("input[name=contact]", "a@never.example")
    browser.forget()
    browser.click("main form button[type=submit]")
    wrong += screens.look("login that keeps a form", 401)
    browser.fill("input[name=name]", "admin")
    browser.fill("input[name=password]", PASSWORD)
    browser.click("main button[type=submit]")
    assert "Nothing was done yet" in browser.text()
    wrong += screens.look("form that was kept")
    assert not wrong, "\n".join(wrong)


def test_what_is_being_counted_is_a_sound_screen(
    screens: Screens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there for seconds only, of millions of rows: so it is held, and shown."""
    go, count = threading.Event(), host_views.count_by_state
    monkeypatch.setattr(host_views, "count_by_state", lambda tx: go.wait(60) and count(tx))
    monkeypatch.setattr(access, "FIRST_FIGURE_S", 0.05)
    with running(tmp_path) as manager:
        html = login(manager, "viewer").call.get("/console/").text
        go.set()
    assert "being counted for the first time" in html
    wrong = screens.look_at(html, "being counted", by="viewer", in_place_of="reports")
    assert not wrong, "\n".join(wrong)


def test_a_plan_that_does_not_fit_any_more_is_a_sound_screen(
    screens: Screens, tmp_path: Path
) -> None:
    """It is refused in words and figures, with the way to a new one."""
    sessions = fill_world(tmp_path)
    with running(tmp_path) as manager:
        visitor = Visitor(manager.public, cookies={"prsm": sessions["operator"]})
        first, second = (
            visitor.act("/console/balance", "/console/plans", {"method": method}).headers[
                "location"
            ]
            for method in ("random", "prices")
        )
        visitor.submit(read(visitor.act(first, f"{first}/apply").text).form(f"{first}/apply"))
        html = visitor.act(second, f"{second}/apply").text
    assert "is outdated" in html
    wrong = screens.look_at(html, "stale plan", by="operator", in_place_of="plans")
    assert not wrong, "\n".join(wrong)


def test_slow_hosts_and_proposals_are_sound_screens(
    screens: Screens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage of other pages has no host that is large enough to be split."""
    # A busy machine counts for longer than a page waits.
    monkeypatch.setattr(access, "FIRST_FIGURE_S", 600.0)
    sessions = fill_world(tmp_path)
    wrong = []
    with running(tmp_path, "policy.split_interval_s=5", "policy.slow_host_s=10000") as manager:
        grow_host(manager)
        visitor = Visitor(manager.public, cookies={"prsm": sessions["operator"]})
        for path, page in (
            ("/console/balance/splits", "splits"),
            (f"/console/host?host={LARGE}", "host"),
        ):
            html = visitor.get(path).text
            assert HOSTS[5] in read(html).text
            wrong += screens.look_at(html, f"{page} to split", by="operator", in_place_of=page)
    assert not wrong, "\n".join(wrong)


def test_every_such_screen_is_valid_html(screens: Screens, tmp_path: Path) -> None:
    """The Nu HTML checker finds no error in what was served to the tests before."""
    wrong = html_errors(screens.served, tmp_path)
    assert not wrong, "\n".join(wrong)
