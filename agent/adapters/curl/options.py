"""libcurl options common to all requests of one agent: identity and limits."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from agent.adapters.body_memory import DEFAULT_BODY_MEMORY_BYTES

__all__ = ["MAX_HEADER_BYTES", "FetchOptions", "system_ca_file"]

MAX_HEADER_BYTES: Final = 64 * 1024
"""Of an answer: as much as an archive record takes."""

_CA_FILES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


@dataclass(frozen=True)
class FetchOptions:
    """The settings of the fetch port. Durations are seconds, sizes bytes.

    accept_encoding  what the page work can take off
    max_header_bytes of an answer; at most what an archive record takes
    connect_s        until the connection stands, TLS included
    first_byte_s     from the start to the first byte of the answer, connecting included
    deadline_s       for a request from start to end, pauses for `rate` and memory left out
    rate             bytes a second of all answers together; 0: no limit
    held_bytes       of bodies that come in or wait to be read, together; beyond it all wait but one
    min_rate         bytes a second; an answer slower than it for `min_rate_s` is cut
    max_idle         connections kept open between requests, of all addresses together
    idle_s           after which a kept connection is not used again
    source_address   address of ours that requests leave from; "": the system chooses
    proxy            URL of an HTTP proxy through which everything goes; "": none
    ca_file          certificates to trust; None: the system's
    """

    user_agent: str
    from_address: str
    accept_encoding: str = "gzip, deflate"
    max_header_bytes: int = MAX_HEADER_BYTES
    connect_s: float = 15.0
    first_byte_s: float = 30.0
    deadline_s: float = 600.0
    rate: int = 0
    held_bytes: int = DEFAULT_BODY_MEMORY_BYTES
    min_rate: int = 100
    min_rate_s: int = 30
    max_idle: int = 400
    idle_s: int = 60
    verify_tls: bool = True
    ca_file: Path | None = None
    source_address: str = ""
    proxy: str = ""

    @cached_property
    def most_header_bytes(self) -> int:
        """Return how long the header of an answer may be, for us and for the archive."""
        return min(self.max_header_bytes, MAX_HEADER_BYTES)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Return the header fields of a request behind Host, in the order they are sent."""
        fields = [
            f"User-Agent: {self.user_agent}",
            f"From: {self.from_address}",
            "Accept: */*",
            f"Accept-Encoding: {self.accept_encoding}",
        ]
        if self.proxy:
            # A cache between us and the host would answer for it, and its distance be measured.
            fields.append("Cache-Control: no-cache")
        return tuple(fields)


def system_ca_file() -> Path | None:
    """Return the file of the certificates that this machine trusts, None where none is found.

    libcurl's wheel was built elsewhere and does not know where they lie.
    """
    defaults = ssl.get_default_verify_paths()
    of_python = (os.environ.get("SSL_CERT_FILE"), defaults.cafile, defaults.openssl_cafile)
    paths = (Path(text) for text in (*of_python, *_CA_FILES) if text)
    return next((path for path in paths if path.is_file()), None)
