"""An open page that changes by itself: what a person does on it stays."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tests.browser.desk import sit_down
from tests.e2e.manager_process import ManagerProcess, prsm
from tests.manager.console.filled import HOSTS
from tools.browser.driven import Browser

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

AGENT = "kyoto.example.ac.jp"


@pytest.fixture
def admin(opened: Browser) -> Iterator[Browser]:
    """Log in, at a desk; nothing may have gone wrong in the browser at the end."""
    yield sit_down(opened)
    lost = (
        "ERR_CONNECTION_REFUSED",
        "ERR_INCOMPLETE_CHUNKED_ENCODING",
        "401",
        "ERR_EMPTY_RESPONSE",
    )
    assert [one for one in opened.found() if not any(name in one for name in lost)] == []


def test_a_change_appears_while_somebody_types(admin: Browser, filled: ManagerProcess) -> None:
    """On the page of an agent the order of another person appears; the form keeps what is typed."""
    admin.go(f"/console/agent?name={AGENT}")
    admin.fill("input[name=rate]", "77")
    admin.script("document.querySelector('input[name=rate]').setSelectionRange(1, 2)")
    admin.script("scrollTo(0, 200)")
    prsm(filled.data, "agents", "pause", AGENT)
    admin.wait_for("#live dd:has-text('pause, ordered')")
    assert admin.value("input[name=rate]") == "77"
    assert admin.script("document.activeElement.name") == "rate"
    assert admin.script("document.activeElement.selectionStart") == 1
    assert admin.script("scrollY") == 200
    prsm(filled.data, "agents", "resume", AGENT)


def test_a_filtered_list_stays_filtered(admin: Browser, filled: ManagerProcess) -> None:
    """The filter that was typed holds when the list changes by itself."""
    admin.go("/console/agents")
    admin.fill("input[name=q] >> nth=1", "osaka")
    admin.wait_gone("#list a:has-text('sendai')")
    assert "q=osaka" in admin.path
    prsm(filled.data, "agents", "restart", "osaka.example.ac.jp")
    admin.wait_for("#list .state-ordered")
    assert admin.count("#list a:has-text('sendai')") == 0
    assert admin.value("input[name=q] >> nth=1") == "osaka"


def test_without_a_stream_the_page_asks(admin: Browser, filled: ManagerProcess) -> None:
    """Where something between holds streams back, changes come all the same."""
    admin.script("sessionStorage.setItem('x', '1')")
    admin.block("**/console/events")
    admin.go(f"/console/host?host={HOSTS[9]}")
    prsm(filled.data, "hosts", "exclude", HOSTS[9], "--reason", "asked while nobody streams")
    admin.wait_for("#live :text('asked while nobody streams') >> nth=0")
    admin.found()


def test_the_manager_restarts_under_a_form(admin: Browser, filled: ManagerProcess) -> None:
    """It is said; what is sent meanwhile is not lost; then the page goes on, and the form works."""
    admin.go("/console/collection")
    admin.fill("input[name=crontab]", "7 4 * * 1")
    filled.stop()
    try:
        admin.wait_for("#stale")
        assert "Connection lost" in admin.text("#stale")
        admin.click("form[action='/console/collection/schedules'] button")
        assert admin.path == "/console/collection"
        assert admin.value("input[name=crontab]") == "7 4 * * 1"
    finally:
        filled.start_again()
    admin.wait_gone("#stale")
    assert admin.value("input[name=crontab]") == "7 4 * * 1"
    admin.click("form[action='/console/collection/schedules'] button")
    admin.wait_for("#live :text('7 4 * * 1') >> nth=0")


def test_the_end_of_a_login_is_said_and_loses_nothing(admin: Browser) -> None:
    """The page says so and keeps what is typed; logged in again in another tab, it goes on."""
    admin.go("/console/collection")
    admin.fill("input[name=crontab]", "9 9 * * *")
    kept = admin.cookies()
    admin.forget()
    admin.wait_for("#stale a[target]")
    assert "Log in in another tab" in admin.text("#stale")
    # axe asks for it only where a link is shorter than the words beside it.
    line = "getComputedStyle(document.querySelector('#stale a[target]')).textDecorationLine"
    assert admin.script(line) == "underline"
    assert admin.value("input[name=crontab]") == "9 9 * * *"
    admin.remember(kept)
    admin.wait_gone("#stale")
    assert admin.value("input[name=crontab]") == "9 9 * * *"


def test_a_search_of_logs_goes_on_after_a_break(admin: Browser, filled: ManagerProcess) -> None:
    """Lines that were found stay while the page is live; a new log is told of."""
    admin.go("/console/logs?host=evil.example.com")
    lines = admin.count("#lines tr")
    assert lines == 4
    admin.click("#lines summary >> nth=0")
    filled.stop()
    try:
        admin.wait_for("#stale")
    finally:
        filled.start_again()
    admin.wait_gone("#stale")
    assert admin.count("#lines tr") == lines
    assert admin.count("#lines details[open]") == 1


SEND_TWICE = """(() => {
  const form = document.querySelector("form[action='/console/plans']");
  new MutationObserver(() => {
    const said = form.querySelectorAll("output");
    if (said.length) sessionStorage.said = said.length + " " + said[0].textContent;
  }).observe(form, {childList: true, subtree: true});
  for (const after of [500, 2500]) setTimeout(() => form.requestSubmit(), after);
})()"""
STOPPED_S = 8.0


def test_a_plan_that_takes_long_is_waited_for(admin: Browser, filled: ManagerProcess) -> None:
    """The form says since when the plan is being made, and is sent once; then the plan is there."""
    admin.go("/console/balance")
    before = json.loads(prsm(filled.data, "plans", "--json"))["total"]
    admin.script(SEND_TWICE)
    filled.process.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED_S)  # nothing can be asked of a page that is being left
    filled.process.send_signal(signal.SIGCONT)
    admin.wait_for("h1:has-text('Plan')")
    assert admin.path.startswith("/console/plans/")
    assert re.match(r"1 The plan is being made \(\d+ s\)", admin.script("sessionStorage.said"))
    assert json.loads(prsm(filled.data, "plans", "--json"))["total"] == before + 1


LIVE = ("", "agents", "balance", "probes", "data", "releases", "alerts", "rounds", "collection")
MERGED_WITH_ITSELF = """(async () => {
  const part = document.getElementById("live");
  const all = of => [...of.querySelectorAll("*")];
  const news = of => all(of).map(one => one.closest(".asof") ? "" : [one.tagName,
    one.getAttribute("href"), one.getAttribute("datetime")].join(" ")).join();
  for (let turn = 0; turn < 10; turn++) {
    const answer = await fetch(location.href, {headers: {"Prsm-Live": "1"}});
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("live");
    document.dispatchEvent(new CustomEvent("part:new", {detail: {elt: fresh}}));
    const [before, is_news] = [all(part), news(part) !== news(fresh)];
    merge(part, fresh);
    const lost = before.filter(one => !one.isConnected).map(one => one.outerHTML);
    if (!is_news) return [all(part).length - before.length, ...lost];
  }
  return "the page never was as it had been a moment before";
})()"""


def test_every_live_page_merges_into_itself(admin: Browser) -> None:
    """Asked for again, a page goes on with the very same elements, whatever time has passed; where
    something happened between, it is asked for once more."""
    for page in (*LIVE, f"agent?name={AGENT}"):
        admin.go(f"/console/{page}")
        assert admin.script(MERGED_WITH_ITSELF) == [0], page
