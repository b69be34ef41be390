"""Every page of a manager that knows an administrator and nothing else, and what a viewer sees.

Pages are most often looked at full, by somebody who may do everything; these are the other ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.checked import html_errors
from tests.browser.desk import NAMES
from tests.browser.screens import unsound
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.manager.console.filled import PASSWORD
from tools.browser.driven import DESK, PHONE, Browser, Window
from tools.screenshots.pages import BEFORE_LOGIN, PAGES, address

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

WINDOWS = (DESK, replace(PHONE, dark=True))
NEEDS_MORE = {
    "new-agent", "join-token", "add-hosts", "new-client", "users", "user", "user-password",
    "new-user",
}  # fmt: skip
"""Pages that a viewer is refused."""


def _look(
    browser: Browser, window: Window, pages: Mapping[str, str], who: str, folder: Path
) -> tuple[list[str], set[str]]:
    """Return what is wrong with pages, and the ones that are refused with 403.

    pages: their addresses, by name. who: logs in. folder: for the HTML checker.
    """
    wrong: list[str] = []
    refused, served = set(), {}
    browser.open(window)
    browser.log_in(who, PASSWORD)
    for page, path in pages.items():
        browser.go(path)
        served[page] = browser.served()
        said = browser.found()
        if any(" 403 " in one for one in said):
            refused.add(page)
        meant = " 404 " if page == "nothing-there" else " 403 "
        wrong += [f"{page}: {one}" for one in said if meant not in one]
        wrong += unsound(browser, page, both=False)
    folder.mkdir()
    return wrong + html_errors(served, folder), refused


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window.name)
def test_every_page_is_sound_on_the_first_day(tmp_path: Path, window: Window) -> None:
    """Nothing to list yet: still a page that says so, of a width that fits."""
    pages = {page: path for page, path in PAGES.items() if "{" not in path}
    del pages[BEFORE_LOGIN]
    with running_manager(tmp_path / "data", first=True) as manager:
        users = ("users", "add", "admin", "--role", "admin", "--password-stdin")
        prsm(manager.data, *users, stdin=f"{PASSWORD}\n")
        with Browser(manager.url) as browser:
            wrong, refused = _look(browser, window, pages, "admin", tmp_path / "html")
    assert not refused
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window.name)
def test_every_page_is_sound_for_a_viewer(
    filled: ManagerProcess, tmp_path: Path, window: Window
) -> None:
    """Without what a viewer may not do; what may not even be seen is refused in words."""
    pages = {page: address(page, NAMES) for page in PAGES if page != BEFORE_LOGIN}
    with Browser(filled.url) as browser:
        wrong, refused = _look(browser, window, pages, "viewer", tmp_path / "html")
    assert refused == NEEDS_MORE
    assert not wrong, "\n".join(wrong)
