"""Mail by a real SMTP server, posts to a real receiver; hostile text stays text."""

from __future__ import annotations

import email
import email.policy
import http.server
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from manager.app.alerts.alert_delivery import (
    SendingError,
    mail_sender,
    signature,
    ways,
    webhook_sender,
)
from manager.app.alerts.alerts import Alerts
from manager.clock import Clock
from manager.db import Database
from manager.operations.health.alert_views import Way, send_test
from manager.operations.health.alerts import Notification
from manager.operations.health.system_figures import SystemFigures
from manager.operations.people.audit_log import audit_page
from manager.settings import AlertSettings, read_settings
from shared.errors import SettingError
from shared.messages import Message
from tests.manager.certificates import write_certificate, write_key
from tests.manager.running import LOCAL, Running, running

URL = "https://prsm.example.org/"
NOW_MS = 1_790_000_000_000
HOSTILE = 'agent a is late: it says "x\r\nBcc: victim@example.org\r\n\r\n<b>\u202e\x1b[2J"'


class Mailbox:
    """What an SMTP server was given."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802 - as aiosmtpd calls it
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.mails.append((envelope.rcpt_tos, mail))
        return "250 OK"


def _nobody(*_: object) -> AuthResult:
    return AuthResult(success=False)


@contextmanager
def smtp(*, login: bool = False) -> Iterator[tuple[Mailbox, int]]:
    """Give a mail server. login: it offers one."""
    mailbox = Mailbox()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    offered: dict[str, Any] = {"auth_require_tls": False, "authenticator": _nobody} if login else {}
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, ready_timeout=60, **offered)
    controller.start()
    try:
        yield mailbox, port
    finally:
        controller.stop()


class Receiver(http.server.BaseHTTPRequestHandler):
    """A webhook's receiver."""

    got: list[tuple[dict[str, str], bytes]]
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def receiving(status: int = 200) -> Iterator[tuple[list[tuple[dict[str, str], bytes]], str]]:
    got: list[tuple[dict[str, str], bytes]] = []
    kind = type("One", (Receiver,), {"got": got, "status": status})
    with http.server.HTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield got, f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            server.shutdown()
            thread.join()


def message(text: str | Message = HOSTILE, state: str = "begun") -> Notification:
    return Notification("agent:a", state, Message.of(text, {}), NOW_MS - 1000)


def test_a_mail_says_what_is_wrong_and_nothing_more() -> None:
    """What an agent says makes no header, no second mail, and no control character."""
    with smtp() as (mailbox, port):
        settings = AlertSettings(mail_to=("ops@example.org",), smtp_port=port)
        mail_sender(settings, URL, lambda: NOW_MS)([message(), message("disk", "over")])
    ((to, mail),) = mailbox.mails
    assert to == ["ops@example.org"]
    assert mail["Bcc"] is None
    assert mail["Subject"].startswith('PRSM: agent a is late: it says "x  Bcc: victim')
    assert mail["Subject"].endswith("(and 1 more)")
    assert mail.get_content_type() == "text/plain"
    lines = mail.get_content().splitlines()
    assert lines[1] == "resolved: disk"
    assert lines[3] == URL
    assert all(sign.isprintable() for line in lines for sign in line)


def test_a_webhook_is_signed_by_its_secret() -> None:
    """A receiver that knows the secret knows who wrote it, and when."""
    with receiving() as (got, url):
        settings = AlertSettings(webhook_url=url, webhook_secret="s3cret")
        event = Notification("event:agent.detect-clone", "event", Message("agent.stop_error"), 0)
        webhook_sender(settings, URL, lambda: NOW_MS)([message(), event])
    ((headers, body),) = got
    said = headers["x-prsm-signature"]
    seconds = int(said.removeprefix("t=").partition(",")[0])
    assert seconds == NOW_MS // 1000
    assert said == signature("s3cret", seconds, body)
    assert said != signature("other", seconds, body)
    told = json.loads(body)
    assert told["alerts"][0]["key"] == "agent:a"
    assert told["alerts"][0]["state"] == "begun"
    assert "\r" not in told["alerts"][0]["text"]
    assert told["alerts"][0]["code"] == "general.text"
    assert told["alerts"][0]["params"] == {"text": HOSTILE}
    assert told["alerts"][1]["key"] == "event:agent.clone", "the name that receivers know"


def test_mails_and_webhooks_speak_the_language_of_the_setting() -> None:
    """Japanese where it is set; code and parameters are the same in each."""
    lost = Message("alerts.agent_disk", name="a", free_bytes=500_000_000)
    with smtp() as (mailbox, port), receiving() as (got, url):
        settings = AlertSettings(
            mail_to=("ops@example.org",), smtp_port=port, webhook_url=url, language="ja"
        )
        made = [message(lost, "still"), message(lost, "over")]
        mail_sender(settings, URL, lambda: NOW_MS)(made)
        webhook_sender(settings, URL, lambda: NOW_MS)(made)
    ((_, mail),) = mailbox.mails
    subject = str(mail["Subject"])
    assert subject.startswith("PRSM: 継続中: ロボット a のディスクの残りは 500 MB です")
    assert subject.endswith("(ほか 1 件)")
    assert mail.get_content().splitlines()[1].startswith("解消: ロボット a のディスク")
    alert = json.loads(got[0][1])["alerts"][0]
    assert alert["text"].startswith("ロボット a のディスク")
    assert alert["code"] == "alerts.agent_disk"
    assert alert["params"] == {"name": "a", "free_bytes": 500_000_000}


def test_a_language_without_a_catalogue_is_refused_at_the_start(tmp_path: Path) -> None:
    """The error names those that there are."""
    with pytest.raises(SettingError, match="must be en or ja"):
        read_settings(tmp_path, overrides=['alerts.language="fr"'])


def test_who_does_not_answer_is_an_error_in_words() -> None:
    """A closed port, an answer that is no success."""
    with pytest.raises(SendingError, match=r"alerts\.smtp_host = 127\.0\.0\.1:1"):
        mail_sender(AlertSettings(smtp_port=1), URL, lambda: 0)([message()])
    with receiving(500) as (_, url), pytest.raises(SendingError, match="answered 500"):
        webhook_sender(AlertSettings(webhook_url=url), URL, lambda: 0)([message()])


def looked(prsm: Running, settings: AlertSettings) -> Alerts:
    manager = prsm.manager
    desk = replace(manager.alerts, ways=ways(settings, URL, prsm.clock))
    return Alerts(manager.led, desk, prsm.clock)


def test_what_one_way_did_not_take_is_tried_again(tmp_path: Path) -> None:
    """A mail server that is down holds up no webhook, and gets its mail when it is back."""
    with receiving() as (got, url), running(tmp_path, "alerts.round_days=1") as prsm:
        agent = prsm.agent("a.example")
        agent.call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        with smtp() as (_, port):
            pass
        settings = AlertSettings(mail_to=("ops@example.org",), smtp_port=port, webhook_url=url)
        alerts = looked(prsm, settings)
        assert alerts.look() == 1
        assert len(got) == 1
        mailbox = Mailbox()
        controller = Controller(mailbox, hostname="127.0.0.1", port=port, ready_timeout=60)
        controller.start()
        try:
            assert alerts.look() == 0
        finally:
            controller.stop()
        assert "agent a.example is" in mailbox.mails[0][1]["Subject"]
        assert len(got) == 1, "it was told that once"
        assert prsm.local.get("/api/v1/alerts").json()["troubles"][0]["key"] == "agent:a.example"
        quiet = prsm.local.post("/api/v1/alerts/quiet", json={"seconds": 60})
        assert quiet.json()["quiet_until_ms"] == prsm.clock() + 60_000


def test_a_database_that_is_away_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No traceback; what waits for a way is tried all the same, and the next look is as ever."""
    said: list[list[Notification]] = []
    looks = threading.Semaphore(0)
    broken = True

    def odd(made: Sequence[Notification]) -> None:
        if broken:
            raise SendingError("no such place")
        said.append(list(made))

    with running(tmp_path) as prsm:
        stands = prsm.manager.alerts.standing

        def standing() -> SystemFigures:
            with database.read():
                return stands()

        def look() -> None:
            try:
                alerts.look()
            finally:
                looks.release()

        desk = replace(prsm.manager.alerts, standing=standing, ways=[Way("odd", "x", odd)])
        alerts = Alerts(prsm.manager.led, desk, prsm.clock)
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        database = prsm.manager.db
        assert alerts.look() == 1
        broken = False
        gone = database = Database("postgresql://nobody@/none?host=/no/such/folder")
        clock = Clock()
        clock.every(0.01, "alerts", look)
        caplog.clear()
        clock.start()
        for _ in range(3):
            assert looks.acquire(timeout=60)
        clock.stop()
        gone.close()
        database = prsm.manager.db
        assert alerts.look() == 0
    assert [[one.key for one in made] for made in said] == [["agent:a.example"]]
    # `app.log_setup` leaves out what the scheduler says of it besides.
    ours = [one for one in caplog.records if one.name.startswith("manager")]
    lines = [one for one in ours if "the database does not answer" in one.getMessage()]
    assert len(lines) >= 2
    for one in ours:
        assert one.exc_info is None
        assert "\n" not in one.getMessage()


def test_a_test_message_says_who_took_it(tmp_path: Path) -> None:
    """Each way by itself; what did not take it is said in words, and all of it is in the audit."""
    with smtp() as (_, port):
        pass
    with receiving() as (got, url):
        overrides = (
            f'alerts.webhook_url="{url}"',
            'alerts.mail_to=["ops@example.org"]',
            f"alerts.smtp_port={port}",
        )
        with running(tmp_path, *overrides) as prsm:
            mail, webhook = prsm.local.post("/api/v1/alerts/test").json()
            (row,) = audit_page(prsm.manager.db, limit=1)
    assert mail["to"] == "ops@example.org"
    assert f"127.0.0.1:{port}" in mail["error"]
    assert webhook == {
        "way": "webhook",
        "to": "http://127.0.0.1/...",
        "error": "",
        "error_message": None,
    }
    assert mail["error_message"]["code"] == "alerts.mail_not_sent"
    assert "nothing is wrong" in json.loads(got[0][1])["alerts"][0]["text"]
    assert (row.action, row.actor_name) == ("delivery.test", "local")


def test_a_certificate_that_cannot_be_read_silences_nobody(tmp_path: Path) -> None:
    """It is a trouble itself, in the alerts too, and the others are told as ever."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    write_key(key, write_certificate(certificate, "prsm", days=5000))
    paths = (f'server.tls_certificate="{certificate}"', f'server.tls_key="{key}"')
    with receiving() as (got, url), running(tmp_path / "data", *paths) as prsm:
        served = prsm.manager.certificate
        assert served is not None
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        alerts = looked(prsm, AlertSettings(webhook_url=url))
        certificate.write_bytes(b"")
        assert not served.refresh()
        assert alerts.look() == 2
        shown = prsm.local.get("/api/v1/alerts").json()["troubles"]
    told = {one["key"]: one["text"] for one in json.loads(got[0][1])["alerts"]}
    assert told == {one["key"]: one["text"] for one in shown}
    assert set(told) == {"agent:a.example", "expiry:the TLS certificate"}
    assert (
        "the files of the TLS certificate cannot be loaded again: "
        in told["expiry:the TLS certificate"]
    )


def test_a_password_that_no_server_takes_holds_up_no_webhook(tmp_path: Path) -> None:
    """The other way is told at once, and after ten minutes that nobody is told by this one."""
    with (
        smtp(login=True) as (mailbox, port),
        receiving() as (got, url),
        running(tmp_path) as prsm,
    ):
        settings = AlertSettings(
            mail_to=("ops@example.org",),
            smtp_port=port,
            smtp_user="ops",
            smtp_password="pässword",
            webhook_url=url,
        )
        alerts = looked(prsm, settings)
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        assert alerts.look() == 1
        assert len(got) == 1
        assert alerts.look() == 0
        prsm.clock.advance(601)
        assert alerts.look() == 1
        ((one,),) = [json.loads(body)["alerts"] for _, body in got[1:]]
        shown = prsm.local.get("/api/v1/alerts").json()["troubles"]
    assert (one["key"], one["state"]) == ("way:mail", "begun")
    assert "alerts.smtp_password" in one["text"]
    assert "ä" not in one["text"]
    assert one["text"] in [trouble["text"] for trouble in shown]
    assert mailbox.mails == []


def test_what_nobody_thought_of_is_one_ways_trouble(tmp_path: Path) -> None:
    """It is told by the others, it is over when the way takes something, and a test says it."""
    said: list[list[Notification]] = []
    broken = True

    def odd(made: Sequence[Notification]) -> None:
        if broken:
            raise LookupError("no such place")
        said.append(list(made))

    with receiving() as (got, url), running(tmp_path) as prsm:
        desk = replace(
            prsm.manager.alerts,
            ways=[Way("odd", "x", odd), *ways(AlertSettings(webhook_url=url), URL, prsm.clock)],
        )
        alerts = Alerts(prsm.manager.led, desk, prsm.clock)
        results = send_test(prsm.manager.db, desk, LOCAL, prsm.clock())
        assert [one.error for one in results] == [
            Message("alerts.unexpected_error", kind="LookupError", text="no such place"),
            None,
        ]
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        assert alerts.look() == 1
        prsm.clock.advance(601)
        assert alerts.look() == 1
        broken = False
        assert alerts.look() == 0
        assert alerts.look() == 1
    told = [one for _, body in got[1:] for one in json.loads(body)["alerts"]]
    assert [(one["key"], one["state"]) for one in told] == [
        ("agent:a.example", "begun"),
        ("way:odd", "begun"),
        ("way:odd", "over"),
    ]
    assert [[one.key for one in made] for made in said] == [
        ["agent:a.example", "way:odd"],
        ["way:odd"],
    ]


def test_addresses_are_checked_at_the_start(tmp_path: Path) -> None:
    """An address with a line break would be a header of its own."""
    with pytest.raises(SettingError, match="is not a mail address"):
        read_settings(tmp_path, overrides=['alerts.mail_to=["a@b\\nBcc: c@d"]'])
    with pytest.raises(SettingError, match=r"alerts\.webhook_url"):
        read_settings(tmp_path, overrides=['alerts.webhook_url="ftp://x"'])
