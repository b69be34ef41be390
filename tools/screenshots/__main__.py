"""`make screenshots`: pictures of every page of the console, into build/screenshots.

Each page in English, light and dark, at 1440 and at 390 pixels; and in Japanese, light. What the
browser complains of is printed; the exit code is then 1. `--shown docs/pictures` takes the four of
README again, too.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from tools.browser.driven import DESK, PHONE, Browser, missing
from tools.screenshots.pages import BEFORE_LOGIN, PAGES, address
from tools.screenshots.round_states import round_states
from tools.screenshots.stage import Stage, set_stage

WINDOWS: Final = (
    DESK,
    replace(DESK, dark=True),
    PHONE,
    replace(PHONE, dark=True),
    replace(DESK, language="ja"),
    replace(PHONE, language="ja"),
)
SHOWN: Final = (("overview", False), ("host", False), ("balance", True), ("agents-map", True))
"""What README shows, and whether dark."""


def main() -> int:
    """Set the stage, look at every page, take its picture. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/screenshots"))
    parser.add_argument("--only", choices=("rounds",), help="pictures of rounds in each state")
    parser.add_argument("--shown", type=Path, help="a folder for the pictures of README")
    asked = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"{lacking} is not on this machine: `make test-packages ARGS=all` installs it")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        tempfile.TemporaryDirectory(prefix="prsm-stage-") as name,
        ExitStack() as stack,
        ExitStack() as shown,
    ):
        stage = set_stage(stack, Path(name))
        browser = shown.enter_context(Browser(stage.manager.url))
        complaints = 0 if asked.only == "rounds" else take(browser, stage, asked.output)
        complaints += take_rounds(browser, stage, asked.output)
        if asked.shown:
            show(browser, stage, asked.shown)
    print(f"pictures in {asked.output}, {complaints} complaints")
    return 1 if complaints else 0


def take(browser: Browser, stage: Stage, output: Path) -> int:
    """Take a picture of every page in every window. Returns of how many pages was complained."""
    complaints = 0
    for window in WINDOWS:
        browser.open(window)
        for page in PAGES:
            browser.go(address(page, stage.names))
            complaints += look(browser, page, output)
            if page == BEFORE_LOGIN:
                browser.log_in(stage.name, stage.password)
        print(f"{window.name}: {len(PAGES)} pages", flush=True)
    return complaints


def take_rounds(browser: Browser, stage: Stage, output: Path) -> int:
    """Take pictures of rounds in each state, in every window. Returns the number of complaints."""
    complaints = 0
    for page, path in round_states(stage):
        for window in WINDOWS:
            browser.open(window)
            browser.log_in(stage.name, stage.password)
            browser.go(path)
            complaints += look(browser, page, output)
        print(f"{page}: {len(WINDOWS)} windows", flush=True)
    return complaints


def look(browser: Browser, page: str, output: Path) -> int:
    """Take a picture of the page that is shown. Returns how much is complained of."""
    window = browser.window
    browser.picture(output / f"{page}-{window.name}.png")
    wide = browser.overflow()
    said = [f"{wide} pixels wider than the window"] if wide > 0 else []
    said += browser.stick_out()
    found = browser.found()
    if page != "nothing-there":  # the browser says that it was a 404
        said += found
    for complaint in said:
        print(f"{page} ({window.name}): {complaint}")
    return len(said)


def show(browser: Browser, stage: Stage, folder: Path) -> None:
    """Take what README shows."""
    for page, dark in SHOWN:
        browser.open(replace(DESK, dark=dark))
        browser.log_in(stage.name, stage.password)
        browser.go(address(page, stage.names))
        browser.small_picture(folder / f"console-{page}.webp")


if __name__ == "__main__":
    sys.exit(main())
