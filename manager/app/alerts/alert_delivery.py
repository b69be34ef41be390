"""Send what administrators must know, by mail and to a webhook.

Texts are in the language of `alerts.language`. They hold what agents and hosts chose: headers of a
mail are one line and ASCII, its body is plain text without control characters, a webhook's body is
JSON. A webhook is signed: `X-PRSM-Signature: t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY`
by the secret, so that its receiver knows who wrote it, and when.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import smtplib
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from typing import Final
from urllib.parse import urlsplit

import httpx

from manager.operations.health.alert_events import first_key
from manager.operations.health.alert_views import Way
from manager.operations.health.alerts import Notification
from manager.settings import AlertSettings
from shared.errors import PrsmError
from shared.messages import Message, render

__all__ = ["SendingError", "mail_sender", "signature", "ways", "webhook_sender"]

TIMEOUT_S: Final = 30.0
LINES: Final = 100
SUBJECT: Final = 150
PROBLEM: Final = 500


class SendingError(PrsmError):
    """A message could not be handed over."""


Sender = Callable[[Sequence[Notification]], None]


def ways(settings: AlertSettings, url: str, now_ms: Callable[[], int]) -> list[Way]:
    """Return the configured delivery channels of alerts. url: of the console, for the reader."""
    made: list[Way] = []
    if settings.mail_to:
        made.append(Way("mail", ", ".join(settings.mail_to), mail_sender(settings, url, now_ms)))
    if settings.webhook_url:
        # The path of a webhook often is its secret.
        parts = urlsplit(settings.webhook_url)
        to = f"{parts.scheme}://{parts.hostname}/..."
        made.append(Way("webhook", to, webhook_sender(settings, url, now_ms)))
    return made


def mail_sender(settings: AlertSettings, url: str, now_ms: Callable[[], int]) -> Sender:
    """Return who sends one mail for all messages of a moment. It raises SendingError."""
    language = settings.language

    def send(made: Sequence[Notification]) -> None:
        mail = EmailMessage()
        mail["From"] = settings.mail_from
        mail["To"] = ", ".join(settings.mail_to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(now_ms() / 1000, UTC))
        mail["Message-ID"] = make_msgid(domain=settings.mail_from.rpartition("@")[2] or None)
        mail["Auto-Submitted"] = "auto-generated"
        mail["Subject"] = _subject(made, language)
        lines = [_line(one, language) for one in made[:LINES]]
        if len(made) > LINES:
            more = Message("general.and_more", number=len(made) - LINES)
            lines.append(f"... {render(more, language)}")
        mail.set_content("\n".join([*lines, "", url, ""]), cte="quoted-printable")
        try:
            with smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=TIMEOUT_S) as server:
                if settings.smtp_tls:
                    server.starttls(context=ssl.create_default_context())
                if settings.smtp_user:
                    _log_in(server, settings)
                server.send_message(mail)
        except (OSError, smtplib.SMTPException) as error:
            raise SendingError(
                "alerts.mail_not_sent",
                host=settings.smtp_host,
                port=settings.smtp_port,
                problem=str(error)[:PROBLEM],
            ) from error

    return send


def _log_in(server: smtplib.SMTP, settings: AlertSettings) -> None:
    try:
        server.login(settings.smtp_user, settings.smtp_password)
    except UnicodeError:
        # Its own words would hold a letter of the password.
        raise SendingError("alerts.smtp_login_not_ascii") from None


def webhook_sender(settings: AlertSettings, url: str, now_ms: Callable[[], int]) -> Sender:
    """Return who posts messages as JSON. It raises SendingError."""

    def send(made: Sequence[Notification]) -> None:
        alerts = [
            {
                "key": first_key(one.key),
                "state": one.state,
                "text": _printable(render(one.message, settings.language)),
                **one.message.as_json(),
                "since_ms": one.since_ms,
            }
            for one in made
        ]
        body = json.dumps({"sent_ms": now_ms(), "console": url, "alerts": alerts}).encode()
        headers = {"Content-Type": "application/json"}
        if settings.webhook_secret:
            seconds = now_ms() // 1000
            headers["X-PRSM-Signature"] = signature(settings.webhook_secret, seconds, body)
        try:
            answer = httpx.post(
                settings.webhook_url, content=body, headers=headers, timeout=TIMEOUT_S
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SendingError("alerts.webhook_not_sent", problem=str(error)[:PROBLEM]) from error
        if not answer.is_success:
            raise SendingError("alerts.webhook_refused", status=answer.status_code)

    return send


def signature(secret: str, seconds: int, body: bytes) -> str:
    """Return the signature of a body that is sent at a second since 1970."""
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return f"t={seconds},v1={signed.hexdigest()}"


def _subject(made: Sequence[Notification], language: str) -> str:
    subject = f"PRSM: {_line(made[0], language)}"[:SUBJECT]
    if len(made) == 1:
        return subject
    more = Message("general.and_more", number=len(made) - 1)
    return f"{subject} ({render(more, language)})"


def _line(one: Notification, language: str) -> str:
    message = one.message
    if one.state == "still":
        message = Message("alerts.mail_still", text=message)
    elif one.state == "over":
        message = Message("alerts.mail_over", text=message)
    return _printable(render(message, language))


def _printable(text: str) -> str:
    """Return a text without line breaks and control characters, also those of writing direction."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
