"""What an administrator does, by a real browser over a living system."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tools.browser.driven import DESK, Browser
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

SEND = "main form button[type=submit]"
YES = "main form button.btn-danger, main form .actions button.btn-primary"


@pytest.fixture
def admin(stage: Stage, browser: Browser) -> Browser:
    """Log in, at a desk."""
    browser.open(DESK)
    browser.log_in(stage.name, stage.password)
    browser.wait_for("h1:has-text('Overview')")
    return browser


def test_look_and_language_are_chosen(admin: Browser) -> None:
    """Dark, then Japanese; both hold on the next page."""
    admin.click(".menu summary")
    admin.click("button[name=theme][value=dark]")
    admin.click(".menu summary")
    admin.click("button[name=language][value=ja]")
    admin.go("/console/hosts")
    assert admin.script("document.documentElement.dataset.bsTheme") == "dark"
    assert admin.script("document.documentElement.lang") == "ja"
    assert admin.found() == []


def test_hosts_are_added_and_one_is_excluded(admin: Browser) -> None:
    """Typed in, found by the search field, excluded after a question."""
    admin.go("/console/add-hosts")
    admin.fill("textarea[name=lines]", "new.browser.example\nother.browser.example")
    admin.click(SEND)
    assert "2 hosts are new" in admin.text()
    admin.fill("input[name=q] >> nth=0", "new.browser.example")
    admin.press_in("input[name=q] >> nth=0", "Enter")
    admin.wait_for("h1:has-text('new.browser.example')")
    admin.fill("form[action='/console/host/exclude'] input[name=reason]", "its owner asked")
    admin.click("form[action='/console/host/exclude'] button")
    admin.click(YES)
    assert "its owner asked" in admin.text()
    assert admin.found() == []


def test_a_plan_is_previewed_applied_and_taken_back(admin: Browser) -> None:
    """Nothing moves before it is applied; taken back, all is as before."""
    admin.go("/console/balance")
    admin.choose("select[name=method]", "random")
    admin.click("main button:has-text('Preview a plan')")
    assert "preview" in admin.text(".title")
    path = admin.path
    admin.click(".title button:has-text('Apply')")
    admin.click(YES)
    admin.go(path)
    assert "applied" in admin.text(".title")
    admin.click(".title button:has-text('Undo')")
    admin.click(YES)
    admin.go(path)
    assert admin.count(".title button:has-text('Undo')") == 0
    assert admin.found() == []


def test_an_alert_is_silenced_and_told_again(admin: Browser) -> None:
    """Who knows of it says why and for how long; ended, it waits for somebody again."""
    admin.go("/console/alerts")
    row = "#list tr:has-text('update:robot.region1.example')"
    admin.click(f"{row} summary")
    admin.fill(f"{row} input[name=reason]", "its new disk is on the way")
    admin.fill(f"{row} input[name=hours]", "2")
    admin.click(f"{row} form[action='/console/alerts/silence'] button")
    assert admin.count(".flash-done") == 1
    assert "its new disk is on the way" in admin.text(row)
    admin.click(f"{row} form[action='/console/alerts/end'] button")
    assert "its new disk is on the way" not in admin.text(row)
    assert admin.found() == []


def test_a_release_is_widened_and_halted_and_goes_on(admin: Browser) -> None:
    """Each after a question; halted, nobody has to see to an update to it that failed."""

    def press(version: str, action: str) -> None:
        admin.go("/console/releases")
        row = f"#list tr:has(th:text-is('{version}'))"
        admin.click(f"{row} form[action='/console/releases/{action}'] button")
        admin.click(YES)
        admin.go("/console/releases")
        said.append(admin.text(row))

    said: list[str] = []
    trouble = "#list tr:has-text('update:robot.region1.example')"
    press("1.1.0", "rollout")
    assert "a tenth and the canaries" in said[-1]
    press("1.0.0", "halt")
    assert "halted" in said[-1]
    admin.go("/console/alerts")
    assert admin.count(trouble) == 0
    press("1.0.0", "rollout")
    assert "offered" in said[-1]
    admin.go("/console/alerts")
    assert admin.count(trouble) == 1
    assert admin.found() == []


def test_a_third_party_sees_its_token_once(admin: Browser) -> None:
    """Registered, a token issued and shown; loaded again, the page shows none."""
    admin.go("/console/new-client")
    admin.fill("input[name=name]", "university")
    admin.fill("input[name=contact]", "ops@university.example")
    admin.click(SEND)
    admin.click("form[action='/console/client/token'] button")
    token = admin.text("main pre.token")
    assert len(token.split()[0]) >= 40
    admin.go("/console/client?name=university")
    assert token.split()[0] not in admin.html()
    assert admin.found() == []


def test_a_colleague_may_look_and_not_act(stage: Stage, admin: Browser) -> None:
    """A viewer is made, logs in, and finds no button that acts."""
    admin.go("/console/new-user")
    admin.fill("input[name=name]", "yuki")
    admin.fill("input[type=password] >> nth=0", "a password of yuki")
    if admin.count("input[type=password]") > 1:
        admin.fill("input[type=password] >> nth=1", "a password of yuki")
    admin.click(SEND)
    admin.open(DESK)
    admin.log_in("yuki", "a password of yuki")
    admin.go("/console/balance")
    assert admin.count("main form[method=post]") == 0
    assert admin.count(".bar a[href='/console/users']") == 0
    assert admin.found() == []


def test_probes_are_ordered(admin: Browser, names: Mapping[str, str]) -> None:
    """From the page of the host."""
    admin.go(f"/console/host?host={names['host']}")
    admin.click("form[action='/console/probes/order'] button")
    assert admin.count(".flash-done") == 1
    assert admin.found() == []


def test_what_was_typed_survives_the_end_of_a_session(stage: Stage, admin: Browser) -> None:
    """The form goes through the login and comes back as it was, sent by nobody yet."""
    admin.go("/console/new-client")
    admin.fill("input[name=name]", "archive")
    admin.fill("input[name=contact]", "long words that nobody types twice")
    admin.forget()
    admin.click(SEND)
    admin.fill("input[name=name]", stage.name)
    admin.fill("input[name=password]", stage.password)
    admin.click(SEND)
    assert "Nothing was done yet" in admin.text()
    assert admin.value("input[name=contact]") == "long words that nobody types twice"
    assert "archive" not in {one["client"]["name"] for one in stage.manager.prsm("clients")}
    admin.click(SEND)
    admin.go("/console/client?name=archive")
    assert "long words" in admin.text()


def test_a_page_says_that_the_manager_is_away_and_goes_on(stage: Stage, admin: Browser) -> None:
    """The numbers are said to be old; when it is back, the page is new by itself."""
    admin.go("/console/")
    before = admin.text(".asof time")
    stage.manager.stop()
    try:
        admin.wait_for("#stale")
    finally:
        stage.manager.start()
    admin.wait_gone("#stale")
    assert admin.path == "/console/"
    assert admin.text(".asof time") != before
