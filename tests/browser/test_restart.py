"""Choices on the page of restarts outlive filters and sorting; acts on a host fit a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.desk import sit_down
from tests.e2e.manager_process import ManagerProcess
from tests.manager.console.filled import HOSTS, PASSWORD
from tools.browser.driven import PHONE, Browser

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

KYOTO = "kyoto.example.ac.jp"
RESTART = f"select[name='restart {KYOTO}']"


@pytest.fixture(scope="module")
def operator(filled: ManagerProcess) -> Iterator[Browser]:
    """Log in; nothing may have gone wrong in the browser at the end."""
    with Browser(filled.url) as browser:
        yield sit_down(browser, "operator")
        assert browser.found() == []


def test_choices_outlive_a_filter_and_a_sort(operator: Browser) -> None:
    """What is not shown any more is named, saved with the rest, and shown again as chosen."""
    operator.go("/console/restart")
    operator.choose(RESTART, "yes")
    operator.fill("form.filters input[name=q]", "osaka")
    operator.wait_gone(RESTART)
    assert KYOTO in operator.text("#elsewhere")
    operator.fill("form.filters input[name=q]", "")
    operator.wait_for(RESTART)
    assert operator.value(RESTART) == "yes"
    operator.click("th a[href*='sort=-name']")
    operator.wait_for("th[aria-sort='descending']")
    assert operator.value(RESTART) == "yes"
    assert "sort=-name" in operator.path
    operator.click("#choices button[type=submit]")
    operator.wait_for(f"h1:has-text('Restart {KYOTO}?')")
    operator.click("a:text-is('Cancel')")
    operator.wait_for("h1:has-text('Restart')")
    assert "sort=-name" in operator.path


def test_choices_are_in_a_list_as_soon_as_it_is_shown(operator: Browser) -> None:
    """Also while htmx still works on it, as long as it may take on a busy machine."""
    operator.go("/console/restart")
    operator.script("htmx.config.defaultSettleDelay = 600_000")
    operator.choose(RESTART, "yes")
    operator.click("th a[href*='sort=-name']")
    operator.wait_for("th[aria-sort='descending']")
    assert operator.value(RESTART) == "yes"
    operator.fill("form.filters input[name=q]", "osaka")
    operator.wait_gone(RESTART)
    operator.click("#choices button[type=submit]")
    operator.wait_for(f"h1:has-text('Restart {KYOTO}?')")


def test_all_that_is_shown_is_set_at_once(operator: Browser) -> None:
    """Each row that can take it; the others stay."""
    operator.go("/console/restart")
    operator.click("button[data-value='50']")
    chosen = operator.script(
        "[...document.querySelectorAll('#choices select[name^=\"pages \"]')].map(s => s.value)"
    )
    assert len(chosen) > 3
    assert set(chosen) == {"50"}
    operator.click("button[data-value=all]")
    operator.click("#choices button[type=submit]")
    operator.wait_for(".flash-done")


def test_acts_on_a_host_fit_a_phone(operator: Browser) -> None:
    """They are reached from the title, and nothing sticks out."""
    operator.open(PHONE)
    operator.log_in("operator", PASSWORD)
    operator.wait_for("h1:has-text('Overview')")
    operator.go(f"/console/host?host={HOSTS[5]}")
    assert operator.overflow() <= 0
    assert operator.stick_out() == []
    operator.click("a[href='#acts']")
    top = operator.script("document.getElementById('acts').getBoundingClientRect().top")
    assert -1 <= top < PHONE.height  # parts of a pixel
