"""Look for troubles by the clock, and hand messages to mail and webhook until they take them.

Invariant: one way that fails does not hold up the other; what it did not take is tried again with
the next look, bounded, while this manager leads.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from cryptography import x509

from manager.app.alert_sending import SendingError
from manager.db import Database
from manager.operations.alert_views import AlertDesk, Way
from manager.operations.alerting import Limits, Message, messages
from manager.operations.standing import Standing
from manager.settings import AlertSettings, Settings

__all__ = ["Alerts", "alert_desk", "certificate_ends_ms"]

WAITING: Final = 1_000

_log: Final = logging.getLogger(__name__)


class Alerts:
    """Tells administrators what is wrong; called by the clock, never twice at once.

    Where nobody is to be told, what begins and ends is written down all the same.
    """

    def __init__(self, db: Database, desk: AlertDesk, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._desk = desk
        self._waiting = [(way, deque[Message](maxlen=WAITING)) for way in desk.ways]
        self._now_ms = now_ms

    def look(self) -> int:
        """Tell what is due; return how much. Raises BusyError."""
        desk = self._desk
        made = messages(
            self._db,
            desk.standing(),
            desk.expiries(),
            desk.limits,
            desk.resend_s,
            self._now_ms(),
        )
        for way, waiting in self._waiting:
            waiting.extend(made)
            if not waiting:
                continue
            try:
                way.send(list(waiting))
            except SendingError as error:
                _log.warning("%s; %d messages wait for the next try", error, len(waiting))
            else:
                waiting.clear()
        return len(made)


def alert_desk(
    settings: Settings,
    standing: Callable[[], Standing],
    ways: Sequence[Way],
) -> AlertDesk:
    """Return what alerts are made from, as the settings have it."""
    path = settings.server.tls_certificate
    return AlertDesk(
        standing,
        lambda: [("the TLS certificate", certificate_ends_ms(Path(path)))] if path else [],
        _limits(settings.alerts),
        settings.alerts.resend_s,
        ways,
    )


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
