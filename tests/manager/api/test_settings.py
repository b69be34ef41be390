"""The settings of the file, as people look at them."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from manager.cli import main
from shared.messages.catalogue import SETTINGS, read_subject
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


def test_meanings_are_in_the_language_of_the_request(tmp_path: Path) -> None:
    """As problems are; English where a reader wants none of ours, and in `prsm settings`."""
    with running(tmp_path) as prsm:
        said = {
            wanted: prsm.local.get("/api/v1/settings", headers={"Accept-Language": wanted})
            for wanted in ("ja, en;q=0.5", "en", "fr")
        }
        reasons = {
            wanted: {one["name"]: one["reason"] for one in answer.json()}
            for wanted, answer in said.items()
        }
        languages = [answer.headers["Content-Language"] for answer in said.values()]
        assert languages == ["ja", "en", "en"]
        assert {answer.headers["Vary"] for answer in said.values()} == {"Accept-Language"}
        assert reasons["ja, en;q=0.5"] == read_subject("ja", SETTINGS)
        assert reasons["fr"] == reasons["en"]
        others = [{key: one[key] for key in one.keys() - {"reason"}} for one in said["en"].json()]
        assert others == [
            {key: one[key] for key in one.keys() - {"reason"}}
            for one in said["ja, en;q=0.5"].json()
        ]
    printed = CliRunner().invoke(main, ["settings"], env={"LANG": "ja_JP.UTF-8"}).output
    kana = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
    assert not any(map(kana.search, (printed, *reasons["en"].values())))
    assert all(f" {reason} (" in printed for reason in reasons["en"].values())
