"""Send what administrators must know, by mail and to a webhook.

What agents and hosts chose is in these texts: headers of a mail are one line and ASCII, its body is
plain text without control characters, a webhook's body is JSON. A webhook is signed:
`X-PRSM-Signature: t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` by the secret, so that its
receiver knows who wrote it, and when.
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

from manager.operations.health.alert_views import Way
from manager.operations.health.alerts import Message
from manager.settings import AlertSettings
from shared.errors import PrsmError

__all__ = ["SendingError", "mail_sender", "signature", "ways", "webhook_sender"]

TIMEOUT_S: Final = 30.0
LINES: Final = 100
SUBJECT: Final = 150


class SendingError(PrsmError):
    """A message could not be handed over."""


Sender = Callable[[Sequence[Message]], None]


def ways(settings: AlertSettings, url: str, now_ms: Callable[[], int]) -> list[Way]:
    """Return how people are told, as far as it is set. url: of the console, for the reader."""
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

    def send(made: Sequence[Message]) -> None:
        mail = EmailMessage()
        mail["From"] = settings.mail_from
        mail["To"] = ", ".join(settings.mail_to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(now_ms() / 1000, UTC))
        mail["Message-ID"] = make_msgid(domain=settings.mail_from.rpartition("@")[2] or None)
        mail["Auto-Submitted"] = "auto-generated"
        more = f" (and {len(made) - 1} more)" if len(made) > 1 else ""
        mail["Subject"] = f"PRSM: {_line(made[0])}"[:SUBJECT] + more
        lines = [_line(message) for message in made[:LINES]]
        if len(made) > LINES:
            lines.append(f"... and {len(made) - LINES} more")
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
                f"alerts.smtp_host = {settings.smtp_host}:{settings.smtp_port}: {error}"
            ) from error

    return send


def _log_in(server: smtplib.SMTP, settings: AlertSettings) -> None:
    try:
        server.login(settings.smtp_user, settings.smtp_password)
    except UnicodeError:
        # Its own words would hold a letter of the password.
        raise SendingError(
            "alerts.smtp_user, alerts.smtp_password: hold a letter that is not ASCII, which no "
            "login of a mail server takes; choose others"
        ) from None


def webhook_sender(settings: AlertSettings, url: str, now_ms: Callable[[], int]) -> Sender:
    """Return who posts messages as JSON. It raises SendingError."""

    def send(made: Sequence[Message]) -> None:
        alerts = [
            {
                "key": message.key,
                "state": message.state,
                "text": _printable(message.text),
                "since_ms": message.since_ms,
            }
            for message in made
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
            raise SendingError(f"alerts.webhook_url: {error}") from error
        if not answer.is_success:
            raise SendingError(f"alerts.webhook_url: answered {answer.status_code}")

    return send


def signature(secret: str, seconds: int, body: bytes) -> str:
    """Return the signature of a body that is sent at a second since 1970."""
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return f"t={seconds},v1={signed.hexdigest()}"


def _line(message: Message) -> str:
    state = {"begun": "", "event": "", "still": "still: ", "over": "over: "}[message.state]
    return state + _printable(message.text)


def _printable(text: str) -> str:
    """Return a text without line breaks and control characters, also those of writing direction."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
