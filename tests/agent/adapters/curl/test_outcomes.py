"""libcurl's words and ours."""

from __future__ import annotations

import pycurl
import pytest

from agent.adapters.curl.answers import classify


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (pycurl.E_COULDNT_CONNECT, "refused"),
        (pycurl.E_OPERATION_TIMEDOUT, "timeout"),
        (pycurl.E_GOT_NOTHING, "disconnected"),
        (pycurl.E_RECV_ERROR, "disconnected"),
        (pycurl.E_OK, "disconnected"),
        (pycurl.E_PEER_FAILED_VERIFICATION, "tls"),
        (pycurl.E_SSL_CONNECT_ERROR, "tls"),
        (pycurl.E_UNSUPPORTED_PROTOCOL, "malformed"),
        (pycurl.E_BAD_CONTENT_ENCODING, "malformed"),
        (100, "malformed"),
        (9999, "disconnected"),
    ],
)
def test_without_a_header_a_request_failed(code: int, outcome: str) -> None:
    """Failures are told apart as the frontier treats them."""
    assert classify(code, whole_header=False) == (outcome, None)


@pytest.mark.parametrize(
    ("code", "cut"),
    [
        (pycurl.E_WRITE_ERROR, "length"),
        (pycurl.E_OPERATION_TIMEDOUT, "time"),
        (pycurl.E_PARTIAL_FILE, "disconnect"),
        (pycurl.E_RECV_ERROR, "disconnect"),
        (pycurl.E_BAD_CONTENT_ENCODING, "unspecified"),
    ],
)
def test_with_a_header_what_came_is_kept(code: int, cut: str) -> None:
    """The archive says why a body is short."""
    assert classify(code, whole_header=True) == ("truncated", cut)


def test_success_is_an_answer() -> None:
    """Whatever its status."""
    assert classify(pycurl.E_OK, whole_header=True) == ("answered", None)
