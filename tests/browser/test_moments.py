"""Times on a page are the viewer's, and so is what a viewer writes; the browser is in Tokyo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.manager_process import ManagerProcess
from tests.manager.console.filled import PASSWORD
from tools.browser.driven import DESK, Browser

UTC_MOMENT = re.compile(r"[0-9:][ \u00a0]UTC\b")

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def admin(filled: ManagerProcess) -> Iterator[Browser]:
    """Log in, and look for lines of logs."""
    with Browser(filled.url) as started:
        started.open(DESK)
        started.log_in("admin", PASSWORD)
        started.wait_for("h1:has-text('Overview')")
        started.go("/console/logs")
        yield started
        assert started.found() == []


def _asked(admin: Browser) -> dict[str, list[str]]:
    return parse_qs(urlsplit(admin.path).query)


def test_a_moment_is_asked_for_in_the_zone_of_who_writes_it(admin: Browser) -> None:
    """The labels name the zone; a day or a moment gets it, one that names a zone keeps its own."""
    assert admin.text("label:has(input[name=since]) .label") == "From, GMT+9"
    admin.fill("input[name=since]", "2026-11-20")
    admin.fill("input[name=until]", "2026-11-21T04:30")
    admin.click("form.filters button[type=submit]")
    admin.wait_for("#list a[href*='status=5xx'][href*='04%3A30%2B09%3A00']")
    assert _asked(admin)["since"] == ["2026-11-20+09:00"]
    assert _asked(admin)["until"] == ["2026-11-21T04:30+09:00"]
    admin.fill("input[name=until]", "2026-11-21T04:30Z")
    admin.click("form.filters button[type=submit]")
    admin.wait_for("#list a[href*='status=5xx'][href*='04%3A30Z']")
    assert _asked(admin)["since"] == ["2026-11-20+09:00"]


def test_what_is_no_moment_is_refused_as_it_was_written(admin: Browser) -> None:
    """Nothing is put behind it."""
    admin.fill("input[name=since]", "last week")
    admin.click("form.filters button[type=submit]")
    admin.wait_for(".flash-refused")
    assert "'last week'" in admin.text(".flash-refused")


def test_all_moments_of_a_page_are_in_one_zone(admin: Browser) -> None:
    """Those of charts, of sentences and of tables: none is left in UTC where it can be read."""
    for path in ("/console/", "/console/rounds", "/console/audit", "/console/agents"):
        admin.go(path)
        lines = admin.text("main").splitlines()
        assert [line for line in lines if UTC_MOMENT.search(line)] == [], path
    admin.go("/console/")
    marks = "[...document.querySelectorAll('svg.drawn text[data-at]')]"
    said = admin.script(f"{marks}.map((one) => [one.dataset.at, one.textContent])")
    for at, text in said:
        hour = (int(at[11:13]) + 9) % 24
        assert text == f"{hour:02}:{at[14:16]}"


def test_a_form_that_is_refused_stands_where_it_stood(admin: Browser) -> None:
    """What was typed is there, the wrong field has the focus, and its message is read with it."""
    admin.go("/console/rounds")
    admin.fill("#schedule [name=crontab]", "at noon")
    admin.fill("#schedule [name=zone]", "Asia/Tokyo")
    admin.click("#schedule button[type=submit]")
    admin.wait_for("#schedule [name=crontab][aria-invalid=true]:focus")
    assert admin.value("#schedule [name=crontab]") == "at noon"
    assert admin.value("#schedule [name=zone]") == "Asia/Tokyo"
    assert "five fields" in admin.text("#error-crontab")
    assert admin.axe() == []
    admin.fill("#schedule [name=crontab]", "0 12 * * *")
    admin.click("#schedule button[type=submit]")
    admin.wait_for(".flash-done")
    assert all("400" in complaint for complaint in admin.found()), "the answer was a refusal"
