"""Secrets that must not stand in a command line are refused, without being repeated."""

from __future__ import annotations

import pytest

from manager.settings import FORM
from shared.errors import SettingError


@pytest.mark.parametrize(
    "override",
    [
        "alerts.smtp_password=s3cret",
        'alerts.webhook_secret="s3cret"',
        "alerts.webhook_url=https://hooks.example.org/s3cret",
        "database.url=postgresql://prsm:s3cret@db/prsm",
        'database.url="postgresql+psycopg://prsm:s3cret@db/prsm"',
        "database.url=postgresql://db/prsm?user=prsm&password=s3cret",
        "server.public_url=https://me:s3cret@prsm.example.org/",
    ],
)
def test_a_secret_belongs_into_the_file(override: str) -> None:
    """Every user of the machine reads command lines, as long as the manager runs."""
    with pytest.raises(SettingError, match=r"in prsm\.toml$") as found:
        FORM.refuse_secrets(["server.listen_port=0", override], "prsm.toml")
    assert override.partition("=")[0] in str(found.value)
    assert "s3cret" not in str(found.value)


@pytest.mark.parametrize(
    "override",
    [
        "database.url=postgresql://prsm@db/prsm",
        "database.url=postgresql://prsm@/x?host=/tmp/run",
        "database.url=sqlite:////srv/prsm.sqlite",
        "alerts.smtp_password=",
        "server.public_url=https://prsm.example.org/",
        "limits.log_bytes=1000000",
        "nothing.known=1",
        "server.stop_s=5",
    ],
)
def test_what_is_no_secret_passes(override: str) -> None:
    """Also what is refused for another reason later."""
    FORM.refuse_secrets([override], "prsm.toml")
