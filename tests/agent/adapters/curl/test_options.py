"""What every request has in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.adapters.curl.options import FetchOptions, system_ca_file


def test_a_robot_says_who_it_is() -> None:
    """Name and mail address go with every request; a cache is told to ask the host."""
    fields = FetchOptions("prsm/1 (+http://c.example/)", "robot@c.example", "gzip, br").fields
    assert "User-Agent: prsm/1 (+http://c.example/)" in fields
    assert "From: robot@c.example" in fields
    assert "Accept-Encoding: gzip, br" in fields
    assert not any("Cache-Control" in field for field in fields)
    proxied = FetchOptions("p", "a@b", proxy="http://proxy.example:3128").fields
    assert "Cache-Control: no-cache" in proxied


def test_finds_the_certificates_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator's own certificates come before the system's."""
    own = tmp_path / "own.pem"
    own.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    assert system_ca_file() == own
