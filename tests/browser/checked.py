"""Pages before the Nu HTML checker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.programs import NOT_INSTALLED
from tools.browser.driven import checker

__all__ = ["html_errors"]


def html_errors(pages: Mapping[str, str], folder: Path) -> list[str]:
    """Return what the checker finds wrong on pages, by their names; skips where it is not here.

    folder: a new one, for the files.
    """
    words = checker()
    if not words:
        pytest.skip(
            f"{NOT_INSTALLED}java or vnu-jar; to run this test: make test-packages ARGS=all"
        )
    names = dict(enumerate(pages))
    for number, name in names.items():
        (folder / f"{number}.html").write_text(pages[name], encoding="utf-8")
    done = subprocess.run(
        [*words, "--format", "json", "--exit-zero-always", str(folder)],
        capture_output=True, text=True, timeout=900, check=True,
    )  # fmt: skip
    return [
        f"{names[int(Path(one['url']).stem)]}:{one.get('lastLine')}: {one['message']}"
        for one in json.loads(done.stderr)["messages"]
        if one["type"] != "info"
    ]
