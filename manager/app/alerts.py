"""Look for troubles by the clock, and hand messages to mail and webhook until they take them.

Invariant: one way that fails does not hold up the other; what it did not take is tried again with
the next look, bounded, while this manager leads.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography import x509

from manager.app.alert_sending import Sender, SendingError
from manager.db import Database
from manager.operations.alerting import Limits, Message, messages
from manager.operations.standing import Standing
from manager.settings import AlertSettings, Settings

__all__ = ["Alerts", "certificate_ends_ms"]

WAITING: Final = 1_000

_log: Final = logging.getLogger(__name__)


class Alerts:
    """Tells administrators what is wrong; called by the clock, never twice at once."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        standing: Callable[[], Standing],
        senders: list[Sender],
        now_ms: Callable[[], int],
    ) -> None:
        self._db = db
        self._settings = settings
        self._standing = standing
        self._ways = [(send, deque[Message](maxlen=WAITING)) for send in senders]
        self._now_ms = now_ms

    def look(self) -> int:
        """Tell what is due; return how much. Raises BusyError."""
        if not self._ways:
            return 0
        alerts = self._settings.alerts
        made = messages(
            self._db,
            self._standing(),
            self._expiries(),
            _limits(alerts),
            alerts.resend_s,
            self._now_ms(),
        )
        for send, waiting in self._ways:
            waiting.extend(made)
            if not waiting:
                continue
            try:
                send(list(waiting))
            except SendingError as error:
                _log.warning("%s; %d messages wait for the next try", error, len(waiting))
            else:
                waiting.clear()
        return len(made)

    def _expiries(self) -> list[tuple[str, int]]:
        path = self._settings.server.tls_certificate
        return [("the TLS certificate", certificate_ends_ms(Path(path)))] if path else []


def certificate_ends_ms(path: Path) -> int:
    """Return when the first certificate of a PEM file ends."""
    first = x509.load_pem_x509_certificates(path.read_bytes())[0]
    return round(first.not_valid_after_utc.timestamp() * 1000)


def _limits(settings: AlertSettings) -> Limits:
    return Limits(
        late_s=settings.late_s,
        moves_a_day=settings.moves_a_day,
        disk_bytes=settings.disk_bytes,
        expiry_days=settings.expiry_days,
        round_days=settings.round_days,
    )
