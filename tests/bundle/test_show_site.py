"""The story of a partner's site: from the archive to the first page, and through bad releases.

Real archives, a user without rights, Debian's cron, a manager and its signing process: whatever the
story says is checked by the story itself, which ends with code 1 where it goes otherwise.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tools.bundle.archive import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]


def tell(*options: str) -> tuple[str, dict[str, Any]]:
    """Have the story told; return what it said, and its result."""
    words = [sys.executable, "-m", "tools.show_site", *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(done.stdout.splitlines()[-1].removeprefix("RESULT "))


def test_it_can_be_told_without_root_or_cron() -> None:
    """As whoever one is, in a home of its own; what was started there is ended with it."""
    told, result = tell("--plain", "--part", "install")
    assert result["cron"] is False
    assert result["first_page_s"] > 0
    assert "the work was handed back, and all is reported" in told


def test_the_story_is_true() -> None:
    """Enrolled, started by cron, crawled, killed, updated, gone back, refused; and it said why."""
    told, result = tell()
    assert (result["updated"], result["went_back"]) == ("1.1.0", "1.2.0")
    assert result["runs"] == "1.1.0"
    for sentence in (
        "good: 1.1.0 has completed a sync",
        "back: current -> 1.1.0: `prs sync` of 1.2.0",
        "1.2.0 went back before",
        "the launcher of 1.3.0 ended with 1",
        "not signed by enough keys",
        "the file of 1.4.0: not genuine",
        "6.6.6 is offered, but not signed",
        "1.0.0 is older than 1.2.0, which was here; only the last good one (1.1.0) may follow it",
        "unreached",
        "the work was handed back, and all is reported",
    ):
        assert sentence in told, sentence
    if not result["cron"]:
        pytest.skip("all of it held but cron, which needs root: " + told.splitlines()[0])
    assert result["after_kill_by_cron"]
