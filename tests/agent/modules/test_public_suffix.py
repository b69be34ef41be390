"""Which hosts could have been registered."""

from __future__ import annotations

import pytest

from agent.modules.public_suffix import is_registrable


@pytest.mark.parametrize(
    ("host", "registrable"),
    [
        ("http://www.waseda.ac.jp:80/", True),
        ("https://example.com:443/", True),
        ("http://xn--wgv71a119e.jp:80/", True),
        ("http://user.github.io:80/", True),
        ("http://example.com.:80/", True),
        ("http://192.0.2.1:8080/", True),
        ("http://[2001:db8::1]:80/", True),
        ("http://localhost:80/", False),
        ("http://intranet:80/", False),
        ("http://www.example.invalid:80/", False),
        ("http://index.html:80/", False),
    ],
)
def test_public_suffix(host: str, registrable: bool) -> None:
    """Names under a public suffix and IP literals pass, other names do not."""
    assert is_registrable(host) is registrable
