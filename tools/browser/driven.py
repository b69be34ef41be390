"""A browser under control of a test: one page at a time, and a list of the errors on it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

__all__ = ["DESK", "PHONE", "Browser", "BrowserError", "Window", "checker", "missing"]

HERE: Final = Path(__file__).parent
PATIENCE_S: Final = 60
HIGHEST: Final = 16_000
"""CSS pixels; Chromium draws no higher picture."""


class BrowserError(Exception):
    """The browser could not do what it was told; the message is what it says."""


@dataclass(frozen=True, slots=True)
class Window:
    """Display of pages in the browser. Sizes in CSS pixels."""

    width: int
    height: int
    dark: bool = False
    language: str = "en"

    @property
    def name(self) -> str:
        """Return it as part of a file's name."""
        return f"{self.width}-{'dark' if self.dark else 'light'}-{self.language}"


DESK: Final = Window(1440, 900)
PHONE: Final = Window(390, 844)


def missing() -> str:
    """Return what of the browser is not on this machine; empty: nothing."""
    for tool in ("node", "chromium"):
        if shutil.which(tool) is None:
            return tool
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        return "playwright-core"
    return ""


def checker() -> Sequence[str]:
    """Return the command of the Nu HTML checker; empty: it is not on this machine."""
    jar = HERE / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
    java = shutil.which("java")
    return [java, "-jar", str(jar)] if java and jar.is_file() else []


class Browser:
    """Chromium over one console; a context manager.

    clicks: how often a person would have clicked since it was last set to 0. window: the one that
    is open.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.clicks = 0
        self.window = DESK
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Browser:
        """Start it."""
        chromium = shutil.which("chromium") or "chromium"
        self._process = subprocess.Popen(
            ["node", "bridge.mjs", chromium, self.origin, str(PATIENCE_S * 1000)],
            cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(PATIENCE_S)
            if self._process.stdout is not None:
                self._process.stdout.close()

    def open(self, window: Window) -> None:
        """Show pages in a new window without cookies."""
        self.window = window
        self._tell(
            do="open", width=window.width, height=window.height, dark=window.dark,
            language=window.language,
        )  # fmt: skip

    def resize(self, size: Window) -> None:
        """Make the window as large as another; the page stays, and so does how it looks."""
        self._page("setViewportSize", {"width": size.width, "height": size.height})

    def show(self, html: str) -> None:
        """Show a page that was served elsewhere, in the place of the one that is shown."""
        self._page("setContent", html, {"waitUntil": "load"})

    def log_in(self, name: str, password: str) -> None:
        """Log in, and stand on the overview."""
        self.go("/console/login")
        self.fill("input[name=name]", name)
        self.fill("input[name=password]", password)
        self.click("main button[type=submit]")

    def go(self, path: str) -> None:
        """Go to a page of the console and wait for all that it loads.

        Again, where the machine's network changed meanwhile: Chromium breaks loopback off, too.
        """
        self._tell(do="go", url=self.origin + path)

    def click(self, selector: str) -> None:
        """Click on what there is one of; waits for a page that comes of it."""
        self.clicks += 1
        self._at(selector, "click")
        self._page("waitForLoadState", "load")

    def press_in(self, selector: str, key: str) -> None:
        """Press a key in a field; waits for a page that comes of it."""
        self.clicks += 1
        self._at(selector, "press", key)
        self._page("waitForLoadState", "load")

    def press(self, key: str) -> None:
        """Press a key, wherever the page has its focus; waits for a page that comes of it."""
        self._tell(do="key", key=key)
        self._page("waitForLoadState", "load")

    def fill(self, selector: str, text: str) -> None:
        """Type into a field."""
        self._at(selector, "fill", text)

    def attach(self, selector: str, path: Path) -> None:
        """Choose a file of this machine in a field."""
        self._at(selector, "setInputFiles", str(path.absolute()))

    def choose(self, selector: str, value: str) -> None:
        """Choose of a list; one click."""
        self.clicks += 1
        self._at(selector, "selectOption", value)

    def wait_for(self, selector: str) -> None:
        """Wait until something is seen."""
        self._at(selector, "waitFor")

    def wait_gone(self, selector: str) -> None:
        """Wait until something is seen no more."""
        self._at(selector, "waitFor", {"state": "hidden"})

    def count(self, selector: str) -> int:
        """Return how many there are."""
        return int(self._at(selector, "count"))

    def text(self, selector: str = "main") -> str:
        """Return what can be read, where there is one of it."""
        return str(self._at(selector, "innerText"))

    def value(self, selector: str) -> str:
        """Return what a field holds."""
        return str(self._at(selector, "inputValue"))

    def script(self, expression: str) -> Any:
        """Return what an expression of JavaScript says on the page."""
        return self._page("evaluate", expression)

    @property
    def path(self) -> str:
        """Return which page is shown, with its query."""
        return str(self.script("location.pathname + location.search"))

    def html(self) -> str:
        """Return the page as the server sends it to this person."""
        return str(self.script("fetch(location.href).then(answer => answer.text())"))

    def served(self) -> str:
        """Return the page as the server sent it, also where it answered a form."""
        return str(self._tell(do="served"))

    def download(self, selector: str, path: Path) -> str:
        """Click on what brings a file, save it as `path`, and return how the page calls it."""
        return str(self._tell(do="download", selector=selector, path=str(path.absolute())))

    def overflow(self) -> int:
        """Return by how many pixels the document is wider than the window."""
        shape = "document.documentElement"
        return int(self.script(f"{shape}.scrollWidth - {shape}.clientWidth"))

    def cut_tables(self) -> list[str]:
        """Return which tables must be scrolled to the side: their number on the page, and by how
        many pixels."""
        found = self.script(
            "[...document.querySelectorAll('.table-box')]"
            ".map((box, number) => [number, box.scrollWidth - box.clientWidth])"
            ".filter(([, over]) => over > 0)"
        )
        return [f"{number}: {over} pixels wider than its box" for number, over in found]

    def stick_out(self) -> list[str]:
        """Return which buttons and fields reach out of their form, and drawings out of their box,
        with what they say."""
        found = self.script(
            "[...document.querySelectorAll('main form .btn, main form .form-control,"
            " main form .form-select, .drawn-chart .drawn, .drawn-bars .drawn')]"
            ".filter(one => one.getClientRects().length && !one.closest('.table-box'))"
            ".map(one => [one, one.closest('form, .drawn-box')])"
            ".filter(([one, box]) => one.getBoundingClientRect().right"
            " > box.getBoundingClientRect().right + 1)"
            ".map(([one]) => one.textContent.trim().slice(0, 60) || one.name)"
        )
        return [f"{name!r} reaches out of its box" for name in found]

    def picture(self, path: Path) -> None:
        """Take a picture of the whole page, also of parts outside the window, as PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # The window is as high as the page, so that the bar at the side is, too.
        width, least = self.window.width, self.window.height
        long = int(self.script("document.documentElement.scrollHeight"))
        self._page("setViewportSize", {"width": width, "height": max(least, min(long, HIGHEST))})
        self._page("screenshot", {"path": str(path.absolute()), "fullPage": True})
        self._page("setViewportSize", {"width": width, "height": least})

    def small_picture(self, path: Path) -> None:
        """Take a picture of the visible part, as WebP."""
        self._tell(do="webp", path=str(path.absolute()))

    def to_paper(self) -> None:
        """Show the page as it would be printed."""
        self._page("emulateMedia", {"media": "print"})

    def forget(self) -> None:
        """Lose all cookies, as when a session is over."""
        self._tell(do="context", method="clearCookies", **{"with": []})

    def cookies(self) -> list[dict[str, Any]]:
        """Return all cookies."""
        return list(self._tell(do="context", method="cookies", **{"with": []}))

    def remember(self, cookies: Sequence[dict[str, Any]]) -> None:
        """Set cookies again, as after a login in another tab."""
        self._tell(do="context", method="addCookies", **{"with": [list(cookies)]})

    def allow(self, *permissions: str) -> None:
        """Allow the pages of this window what a person would be asked for: `clipboard-read`."""
        self._tell(do="context", method="grantPermissions", **{"with": [list(permissions)]})

    def block(self, pattern: str) -> None:
        """Block requests whose address matches, in this window."""
        self._tell(do="block", pattern=pattern)

    def axe(self) -> Sequence[str]:
        """Return what axe finds that is serious or critical."""
        return list(self._tell(do="axe"))

    def found(self) -> Sequence[str]:
        """Return what went wrong since it was last asked, in the order in which it did."""
        return list(self._tell(do="found"))

    def _page(self, method: str, *words: Any) -> Any:
        return self._tell(do="page", method=method, **{"with": words})

    def _at(self, selector: str, method: str, *words: Any) -> Any:
        return self._tell(do="at", selector=selector, method=method, **{"with": words})

    def _tell(self, **asked: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise BrowserError("the browser was not started: use `with Browser(url) as browser`")
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise BrowserError(f"the browser ended (exit code {process.wait(PATIENCE_S)})")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise BrowserError(f"{asked}: {answer['error']}")
        return answer["value"]
