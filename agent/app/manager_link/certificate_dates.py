"""Messages on manager certificates outside their dates: mostly a wrong clock.

The certificate is fetched once more without being believed, to say its dates; no key goes with it.
"""

from __future__ import annotations

import ssl
from datetime import datetime
from typing import Final

import httpx
from cryptography import x509

from agent.control.doctor import Check
from shared.messages import Message

__all__ = ["check_dates", "is_about_dates"]

WAIT_S: Final = 20.0
_NOT_YET_OR_OVER: Final = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED


def is_about_dates(error: BaseException | None) -> bool:
    """Return whether a certificate was refused for its dates, however the error is wrapped."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_code in _NOT_YET_OR_OVER
        error = error.__cause__ or error.__context__
    return False


async def check_dates(url: str, proxy: str, why: Message, now: datetime) -> Check:
    """Return the fault and its place. proxy: on the way to the manager; why: the error."""
    clock = f"{now:%Y-%m-%d %H:%M} UTC"
    try:
        certificate = await _certificate(url, proxy)
    except (httpx.HTTPError, OSError, ValueError, KeyError):
        said = Message("doctor.manager_clock", problem=why, now=clock)
        return Check("manager", said, Message("doctor.set_clock_if_wrong"))
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    said = Message(
        "doctor.manager_certificate",
        problem=why,
        now=clock,
        first=f"{first:%Y-%m-%d}",
        last=f"{last:%Y-%m-%d}",
    )
    if first <= now <= last:
        return Check("manager", said, Message("doctor.update_authorities"))
    return Check("manager", said, Message("doctor.set_clock_or_renew"))


async def _certificate(url: str, proxy: str) -> x509.Certificate:
    transport = httpx.AsyncHTTPTransport(verify=False, proxy=proxy or None)
    async with (
        httpx.AsyncClient(transport=transport, timeout=WAIT_S, trust_env=False) as client,
        client.stream("HEAD", url) as answer,
    ):
        tls = answer.extensions["network_stream"].get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True))
