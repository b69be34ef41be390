"""The settings of the file, as people look at them."""

from __future__ import annotations

from pathlib import Path

from tests.manager.running import running

FILE = """
[limits]
request_bytes = 2000000
[alerts]
smtp_password = "hunter2 hunter2"
webhook_url = "https://hooks.example/secret-path"
mail_to = ["ops@example.org"]
"""


def test_settings_are_shown_with_their_source_and_without_secrets(tmp_path: Path) -> None:
    """Value, default, meaning, where it was said; a secret only that it is set."""
    (tmp_path / "prsm.toml").write_text(FILE)
    with running(tmp_path, "limits.connections=100") as prsm:
        answer = prsm.local.get("/api/v1/settings")
        lines = {one["name"]: one for one in answer.json()}
        changed = lines["limits.request_bytes"]
        assert (changed["value"], changed["default"]) == ("2000000", "1000000")
        assert changed["source"] == "prsm.toml"
        assert changed["reason"].startswith("largest body of a request")
        assert lines["limits.connections"]["source"] == "the command line"
        assert lines["limits.log_bytes"]["source"] == ""
        assert lines["alerts.mail_to"]["value"] == '["ops@example.org"]'
        assert lines["alerts.smtp_password"]["value"] == "set, not shown"
        assert lines["alerts.webhook_secret"]["value"] == '""'
        assert "hunter2" not in answer.text
        assert "secret-path" not in answer.text
        alerts = prsm.local.get("/api/v1/alerts").json()
        assert alerts["told_to"] == ["mail: ops@example.org", "webhook: https://hooks.example/..."]
