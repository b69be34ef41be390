"""Tasks of a new administrator, begun on the overview: how many clicks each takes.

What is counted is held against the table of docs/console.md: a page that makes a task longer, or
shorter, fails here until the table says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest

from tools.browser.driven import DESK, Browser
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

DOCS = Path(__file__).parents[2] / "docs" / "console.md"
ROW = re.compile(r"^\| (?P<task>[^|]+) \| (?P<clicks>\d+) \|", re.MULTILINE)
WRITTEN = {found["task"]: int(found["clicks"]) for found in ROW.finditer(DOCS.read_text())}
YES = "main form button.btn-danger, main form .actions button.btn-primary"


class Task:
    """Somebody at a desk who does a task of the table."""

    def __init__(self, browser: Browser, name: str) -> None:
        self.browser = browser
        self._clicks = WRITTEN[name]

    def done(self) -> None:
        """Hold the clicks against what is written."""
        assert self.browser.clicks == self._clicks
        assert self.browser.found() == []


@pytest.fixture
def task(stage: Stage, browser: Browser, request: pytest.FixtureRequest) -> Task:
    """Stand on the overview, with a task by its name in the table."""
    browser.open(DESK)
    browser.log_in(stage.name, stage.password)
    browser.wait_for("h1:has-text('Overview')")
    browser.clicks = 0
    return Task(browser, request.param)


def _task(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("task", [name], indirect=True)


def _search(browser: Browser, text: str) -> None:
    browser.fill(".search input", text)
    browser.press_in(".search input", "Enter")


def _host(stage: Stage, place: int) -> str:
    """Return a host that an agent owns and nobody decided on."""
    hosts = stage.manager.prsm("hosts", "list", "--state", "placed", "--limit", "20")["hosts"]
    return str(hosts[place]["key"])


def test_ten_tasks_are_written() -> None:
    """The table has a figure for each."""
    assert len(WRITTEN) == 10


@_task("why is agent X late?")
def test_why_an_agent_is_as_it_is(task: Task, names: Mapping[str, str]) -> None:
    """The overview names each agent with its reason, and leads to it."""
    task.browser.click(f"main .reasons a:has-text('{names['agent']}')")
    task.browser.wait_for(f"h1:has-text('{names['agent']}')")
    task.done()


@_task("who owns host Y, and why?")
def test_who_owns_a_host_and_why(task: Task, names: Mapping[str, str]) -> None:
    """By the search field; the reason is in the table of owners."""
    _search(task.browser, names["host"])
    task.browser.wait_for("h2:has-text('Owners')")
    task.done()


@_task("move it")
def test_a_host_is_moved(task: Task, stage: Stage) -> None:
    """The agent that is nearest, of those that do not own it, is chosen already."""
    host = _host(stage, 5)
    _search(task.browser, host)
    taker = task.browser.value("form[action='/console/host/move'] select[name=agent]")
    task.browser.click("form[action='/console/host/move'] button")
    task.browser.click(YES)
    assert f"goes to {taker}" in task.browser.text(".flash-done")
    task.done()


@_task("exclude a host")
def test_a_host_is_excluded(task: Task, stage: Stage) -> None:
    """With the reason, which is typed before."""
    _search(task.browser, _host(stage, 7))
    task.browser.fill("form[action='/console/host/exclude'] input[name=reason]", "its owner asked")
    task.browser.click("form[action='/console/host/exclude'] button")
    task.browser.click(YES)
    assert "is excluded" in task.browser.text(".flash-done")
    task.done()


@_task("apply a plan and undo it")
def test_a_plan_is_applied_and_taken_back(task: Task) -> None:
    """By the method that is chosen already."""
    task.browser.click(".bar a[href='/console/balance']")
    task.browser.click("main button:has-text('Preview a plan')")
    task.browser.wait_for("h1:has-text('preview')")
    task.browser.click(".title button:has-text('Apply')")
    task.browser.click(YES)
    assert "is applied" in task.browser.text(".flash-done")
    task.browser.click(".title button:has-text('Undo')")
    task.browser.click(YES)
    assert "is undone" in task.browser.text(".flash-done")
    task.done()


@_task("register a third party")
def test_a_third_party_gets_a_token(task: Task) -> None:
    """Registered, and its token shown."""
    task.browser.click(".bar a[href='/console/data']")
    task.browser.click("a[href='/console/new-client']")
    task.browser.fill("input[name=name]", "museum-of-tasks")
    task.browser.fill("input[name=contact]", "ops@museum.example")
    task.browser.click("main form button[type=submit]")
    task.browser.click("form[action='/console/client/token'] button")
    task.browser.wait_for("main pre.token")
    task.done()


@_task("see that its download finished")
def test_that_a_download_has_finished(task: Task) -> None:
    """The third party's page has its downloads."""
    task.browser.click(".bar a[href='/console/data']")
    task.browser.click("#list a:has-text('library')")
    task.browser.wait_for("h2:has-text('Downloads')")
    assert task.browser.count(".state-done") > 0
    task.done()


@_task("roll out a release")
def test_a_release_is_rolled_out(task: Task) -> None:
    """To the next ring."""
    task.browser.click(".bar a[href='/console/releases']")
    row = "#list tr:has(th:text-is('1.1.0'))"
    task.browser.click(f"{row} form[action='/console/releases/rollout'] button")
    task.browser.click(YES)
    assert "1.1.0 is offered to" in task.browser.text(".flash-done")
    task.done()


@_task("find all 500s of yesterday")
def test_all_500s_of_yesterday(task: Task) -> None:
    """The bar, then two links. The day is the administrator's, as the times of the page are."""
    task.browser.click(".bar a[href='/console/logs']")
    task.browser.click(".tally a:has-text('Yesterday')")
    task.browser.click(".tally a:has-text('5xx')")
    asked = parse_qs(urlsplit(task.browser.path).query)
    assert asked["status"] == ["5xx"]
    yesterday = datetime.now(ZoneInfo("Asia/Tokyo")).date() - timedelta(days=1)
    assert asked["since"] == asked["until"] == [f"{yesterday}+09:00"]
    task.done()


@_task("add a colleague as viewer")
def test_a_colleague_is_added(task: Task) -> None:
    """Viewer is chosen already."""
    task.browser.click(".bar a[href='/console/users']")
    task.browser.click("a[href='/console/new-user']")
    task.browser.fill("input[name=name]", "yuki-of-tasks")
    task.browser.fill("input[type=password]", "a password of yuki")
    task.browser.click("main form button[type=submit]")
    assert "may log in now, as viewer" in task.browser.text(".flash-done")
    task.done()
