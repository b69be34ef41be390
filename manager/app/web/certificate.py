"""The manager's own TLS certificate: loaded at the start, and again when its files change.

Invariant: a certificate that does not match its key, or cannot be read, is never served; the
previous one stays in service, and the error is reported. Each connection gets the newest one by the
callback of its greeting, so that no context that other connections use is changed.
"""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import Final

from cryptography import x509

from manager.operations.health.alert_rules import Expiry
from manager.settings import ServerSettings
from shared.errors import SettingError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Certificate", "certificate_of"]

NAME: Final = "the TLS certificate"

_log: Final = logging.getLogger(__name__)

Stamp = tuple[tuple[int, int, int], ...]


@frozen
class _Loaded:
    """The certificate in use. until_ms: when it ends."""

    stamp: Stamp
    context: ssl.SSLContext
    until_ms: int


class Certificate:
    """The certificate that is served, and how it stands with its files."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Load it; raises SettingError."""
        self._paths = (certificate, key)
        self._wrong = ""
        try:
            self._served = self._load()
        except (OSError, ValueError, x509.InvalidVersion) as error:
            raise SettingError(
                "app.certificate_unusable",
                certificate=str(certificate),
                key=str(key),
                problem=str(error),
            ) from error
        self.context: Final = self._served.context
        """What the listener is given; a connection takes the newest one itself."""
        self.context.sni_callback = self._give_newest

    def refresh(self) -> bool:
        """Load renewed files; return whether they are served now. Called by the clock."""
        try:
            if self._stamp() == self._served.stamp:
                self._wrong = ""
                return False
            self._served = self._load()
        except (OSError, ValueError, x509.InvalidVersion) as error:
            if self._wrong != str(error):
                _log.warning("%s: %s; the one before is served on", NAME, error)
            self._wrong = str(error)
            return False
        self._wrong = ""
        _log.info("%s was renewed and is served now", NAME)
        return True

    def expiry(self) -> Expiry:
        """Return when the certificate ends that is served, and what is wrong with its files."""
        problem = None
        if self._wrong:
            problem = Message("alerts.certificate_not_loaded", problem=self._wrong)
        return Expiry(NAME, Message("alerts.certificate"), self._served.until_ms, problem)

    def _give_newest(
        self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        connection.context = self._served.context

    def _load(self) -> _Loaded:
        # Looked at before it is read: what changes meanwhile is seen by the next look.
        stamp = self._stamp()
        certificate, key = self._paths
        first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # With a password OpenSSL does not prompt for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
        return _Loaded(stamp, context, round(first.not_valid_after_utc.timestamp() * 1000))

    def _stamp(self) -> Stamp:
        found = [path.stat() for path in self._paths]
        return tuple((one.st_mtime_ns, one.st_size, one.st_ino) for one in found)


def certificate_of(server: ServerSettings) -> Certificate | None:
    """Return the certificate of the settings, loaded; None: there is none. Raises SettingError."""
    if not server.tls_certificate:
        return None
    return Certificate(Path(server.tls_certificate), Path(server.tls_key))
