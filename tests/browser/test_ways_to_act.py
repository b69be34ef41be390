"""Everything that a person can do in the console, each by its button, over a living system.

Acts take turns at a desk and on a telephone, light and dark. After each the page says what was
done, the audit has it, and every screen on the way is sound.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from manager.console.routes import PAGES
from manager.db import Database
from shared.wire.names import hash_of_key, new_key
from tests.browser.acts import ACTS, NOT_PRESSED, PASSWORD, Act
from tests.browser.checked import html_errors
from tests.browser.screens import unsound
from tests.manager.app.alerts.test_alert_delivery import smtp
from tests.manager.operations.big_host import know_directories
from tools.browser.driven import DESK, PHONE, Browser
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

WINDOWS = (DESK, replace(PHONE, dark=True), replace(DESK, dark=True), PHONE)
QUIET, ALIVE = "robot.quiet.example", "robot.region2.example"
YES = "main form button.btn-danger, main form .actions button.btn-primary"
ALERTS = '\n[alerts]\nmail_to = ["ops@example.org"]\nsmtp_port = {port}\n'


class Hands:
    """Somebody who presses buttons, and who looks afterwards whether it took.

    names: of what there is, by kind. screens: what was seen on the way, by name, as HTML.
    """

    def __init__(self, stage: Stage, browser: Browser, names: dict[str, str]) -> None:
        self.stage, self.browser, self.names = stage, browser, names
        self.screens: dict[str, str] = {}
        self.wrong: list[str] = []
        self._path = "/console/"
        self._cookies: Any = None
        token = stage.manager.prsm(
            "tokens", "add", "looking", "--user", "admin", "--role", "operator"
        )["token"]
        self._calls = httpx.Client(  # a connection a call: the manager closes those that are idle
            base_url=f"{stage.manager.url}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def close(self) -> None:
        """Look no more."""
        self._calls.close()

    def begin_schedules(self) -> None:
        """Have a schedule of each kind that can be edited, far from now."""
        for kind, path, more in (
            ("ordering", "/collection/schedules", {"agent": QUIET}),
            ("rounding", "/rounds/schedules", {"method": "default"}),
        ):
            asked = {"crontab": "13 5 * * 6", "zone": "UTC", **more}
            made = self._calls.post(path, json=asked).raise_for_status().json()
            self.names[kind] = str(made["schedule"]["id"])

    def audited(self, act: Act) -> int:
        """Return the number of the newest row of the audit that is of such an act; 0: none."""
        asked = {"action": act.does, "actor": act.by, "limit": "1"}
        rows = self._calls.get("/audit", params=asked).raise_for_status().json()
        return int(rows[0]["id"]) if rows else 0

    def stand(self, act: Act, number: int) -> None:
        """Open the page of an act, as the person who does it, in the window whose turn it is."""
        browser = self.browser
        browser.open(WINDOWS[number % len(WINDOWS)])
        if act.by != "admin":
            browser.log_in(act.by, PASSWORD)
        elif self._cookies:
            browser.remember(self._cookies)
        else:
            browser.log_in(self.stage.name, self.stage.password)
            self._cookies = browser.cookies()
        browser.go(self._named(act.page) or self._path)

    def press(self, act: Act, folder: Path) -> str:
        """Fill the form, press its button, answer a question; returns what the page says then."""
        form = self._form(act)
        if act.folded:
            self.browser.click(f"main tr:has-text({self._named(act.row)!r}) summary")
        for field, text in act.typed.items():
            self.browser.fill(f"{form} [name={field!r}]", self._named(text))
        for field, choice in act.chosen.items():
            self.browser.choose(f"{form} [name={self._named(field)!r}]", self._named(choice))
        for box in act.ticked:
            self.browser.click(f"{form} {box}")
        button = f"{form} button[type=submit]"
        if act.file:
            return self.browser.download(button, folder / "file")
        self.browser.click(button)
        if act.asks:
            self.look(f"{act.name} asks")
            self.browser.click(YES)
        self._path = self.browser.path
        if act.learns:
            self.names[act.learns] = self._path.rpartition("/")[2]
        return self.browser.text()

    def look(self, name: str) -> None:
        """Note what is wrong with the screen; with one that has no address, in both widths."""
        self.screens[name] = self.browser.served()
        self.wrong += [f"{name}: {one}" for one in self.browser.found()]
        self.wrong += unsound(self.browser, name, both=self.browser.count(".flash-done") == 0)

    def says(self, act: Act) -> str:
        """Return what is to be read after an act."""
        return self._named(act.says)

    def _form(self, act: Act) -> str:
        action = self._named(act.route.replace("{number:int}", "{plan}"))
        form = f"main form[method=post][action='/console{action}']"
        if act.about:
            form += f":has({act.about})"
        return f"main tr:has-text({self._named(act.row)!r}) {form[5:]}" if act.row else form

    def _named(self, text: str) -> str:
        return text.format(**self.names)


@pytest.fixture(scope="module")
def hands(stage: Stage, browser: Browser) -> Iterator[Hands]:
    """Bring about what there must be before everything can be done."""
    names = _names(stage)
    with ExitStack() as stack:
        _mailbox, port = stack.enter_context(smtp())
        stage.manager.stop()
        with (stage.manager.data / "prsm.toml").open("a") as file:
            file.write(ALERTS.format(port=port))
        _grow(stage, names["large"])
        stage.manager.start()
        _join_and_upload(stage)
        _submit_job(stage)
        hands = stack.enter_context(closing(Hands(stage, browser, names)))
        hands.begin_schedules()
        yield hands


def _names(stage: Stage) -> dict[str, str]:
    """Return what the acts are about: hosts that nobody decided on, agents, a day."""
    prsm = stage.manager.prsm
    decided = [one["unit"] for one in prsm("hosts", "pins")["pins"]]
    keys = [str(one["key"]) for one in prsm("hosts", "list", "--state", "placed")["hosts"]]
    free = [key for key in reversed(keys) if not any(one.startswith(key) for one in decided)]
    tomorrow = str((datetime.now(UTC) + timedelta(days=1)).date())
    return {
        **stage.names, **dict(zip(("large", "host", "other", "third"), free, strict=False)),
        "quiet": QUIET, "alive": ALIVE, "tomorrow": tomorrow,
    }  # fmt: skip


def _grow(stage: Stage, host: str) -> None:
    """Let the logs of a crawl have said that a host is large, as no host of the stage is."""
    db = Database(f"sqlite:///{stage.manager.data / 'prsm.sqlite'}")
    know_directories(db, host, 1)
    db.close()


def _join_and_upload(stage: Stage) -> None:
    """Let an agent join that does nothing after that but begin to send a segment."""
    key, token = new_key(), stage.manager.prsm("agents", "token", QUIET)["token"]
    bearer = {"Authorization": f"Bearer {key}", "Tus-Resumable": "1.0.0", "Upload-Length": "1000"}
    about = {"filename": b"pressed.warc.gz", "sha256": hashlib.sha256().hexdigest().encode()}
    bearer["Upload-Metadata"] = ",".join(
        f"{name} {base64.b64encode(value).decode()}" for name, value in about.items()
    )
    with httpx.Client(base_url=stage.manager.url, timeout=60) as client:
        body = {"agent": QUIET, "token": token, "key_hash": hash_of_key(key)}
        client.post("/api/v1/enrol", json=body).raise_for_status()
        client.post("/api/v1/uploads", headers=bearer).raise_for_status()


def _submit_job(stage: Stage) -> None:
    """Let the third party ask for a selection."""
    token = stage.manager.prsm("clients", "token", stage.names["client"])["token"]
    asked = {"function": "extract-zip", "query": "host=pressed.example"}
    bearer = {"Authorization": f"Bearer {token}"}
    url = f"{stage.manager.url}/wasapi/v1/jobs"
    httpx.post(url, json=asked, headers=bearer, timeout=60).raise_for_status()


def test_every_way_to_act_is_pressed_or_excused() -> None:
    """An act that the console learns needs a row in the table, or a reason."""
    acting = {page.path for page in PAGES if page.method == "POST" and page.role is not None}
    pressed = {act.route for act in ACTS}
    assert pressed | set(NOT_PRESSED) == acting
    assert not pressed & set(NOT_PRESSED)


@pytest.mark.parametrize("number", range(len(ACTS)), ids=[act.name for act in ACTS])
def test_an_act_takes_and_is_said(hands: Hands, tmp_path: Path, number: int) -> None:
    """Its button is there, the page says what was done, the audit has it; nothing is unsound."""
    act = ACTS[number]
    hands.stand(act, number)
    before = hands.audited(act)
    hands.wrong.clear()
    said = hands.press(act, tmp_path)
    if act.file:
        assert said.endswith(act.file)
        assert (tmp_path / "file").stat().st_size > 0
    else:
        assert hands.says(act) in said
        hands.look(act.name)
    assert hands.audited(act) > before
    assert not hands.wrong, "\n".join(hands.wrong)


def test_every_screen_on_the_way_is_valid_html(hands: Hands, tmp_path: Path) -> None:
    """Questions, and what is shown once, are pages as well: the Nu HTML checker finds no error."""
    wrong = html_errors(hands.screens, tmp_path)
    assert not wrong, "\n".join(wrong)
