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


async def check_dates(url: str, proxy: str, why: str, now: datetime) -> Check:
    """Return the fault and its place. proxy: on the way to the manager; why: the error's text."""
    clock = f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC"
    try:
        certificate = await _certificate(url, proxy)
    except (httpx.HTTPError, OSError, ValueError, KeyError):
        return Check("manager", f"{why}; {clock}", "if that is wrong, set the clock (NTP)")
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    said = f"{why}; {clock}, the certificate is valid from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    if first <= now <= last:
        return Check(
            "manager",
            said,
            "so that of an authority is over: update this machine's authorities (ca-certificates), "
            "or the file of manager.ca_file",
        )
    return Check(
        "manager",
        said,
        "if the clock is wrong, set it (NTP); if it is right, the certificate must be renewed, by "
        "the administrator of the crawl, or of the firewall that opens TLS",
    )


async def _certificate(url: str, proxy: str) -> x509.Certificate:
    transport = httpx.AsyncHTTPTransport(verify=False, proxy=proxy or None)
    async with (
        httpx.AsyncClient(transport=transport, timeout=WAIT_S, trust_env=False) as client,
        client.stream("HEAD", url) as answer,
    ):
        tls = answer.extensions["network_stream"].get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True))
