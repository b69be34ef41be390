"""Outcomes of requests: libcurl's error codes in the crawl's terms.

Pure. The received data decide: an answer whose header is whole is kept, cut or not; without
one the request failed, in one of the ways that the frontier treats differently.
"""

from __future__ import annotations

from typing import Final

import pycurl

from agent.pipeline.messages.requests import Outcome
from shared.archive.capture import Truncation

__all__ = ["classify"]

# Codes of libcurl that pycurl has no name for, or an old one.
_WEIRD_SERVER_REPLY: Final = 8
_HTTP2_STREAM: Final = 92
_PROXY: Final = 97
_TOO_LARGE: Final = 100  # a header of 300 KB

_TLS: Final = frozenset(
    (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_ENGINE_NOTFOUND,
        pycurl.E_SSL_ENGINE_SETFAILED,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_SHUTDOWN_FAILED,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_PINNEDPUBKEYNOTMATCH,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    )
)
_UNREACHABLE: Final = frozenset(
    (
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_INTERFACE_FAILED,
        _PROXY,
    )
)
_NO_HTTP: Final = frozenset(
    (
        pycurl.E_UNSUPPORTED_PROTOCOL,  # an answer without a status line: HTTP/0.9
        pycurl.E_URL_MALFORMAT,
        pycurl.E_BAD_CONTENT_ENCODING,  # a transfer encoding that was not requested
        _WEIRD_SERVER_REPLY,
        _TOO_LARGE,
    )
)


def classify(code: int, *, whole_header: bool) -> tuple[Outcome, Truncation | None]:
    """Return the outcome of a request, and why its body is cut where it is.

    code: CURLE_*, 0 for success. whole_header: of a final answer.
    """
    if whole_header:
        if code == pycurl.E_OK:
            return "answered", None
        return "truncated", _cut(code)
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return "timeout", None
    if code in _TLS:
        return "tls", None
    if code in _UNREACHABLE:
        return "refused", None
    if code in _NO_HTTP:
        return "malformed", None
    return "disconnected", None


def _cut(code: int) -> Truncation:
    if code == pycurl.E_WRITE_ERROR:  # our own: the body grew beyond its limit
        return "length"
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return "time"
    if code in (pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, _HTTP2_STREAM):
        return "disconnect"
    return "unspecified"
