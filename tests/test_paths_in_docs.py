"""Files of code that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ("CHANGELOG.md", "docs/history/")
PROGRAMS = "agent|manager|shared|client|launcher|simweb|tools|benchmarks|tests|deploy"
NAMED = re.compile(rf"`((?:{PROGRAMS})/[\w/-]+\.(?:py|sh|zig|conf|service))`")
DOCS = sorted(
    path
    for folder, pattern in ((ROOT, "*.md"), (ROOT / "docs", "**/*.md"))
    for path in folder.glob(pattern)
    if not str(path.relative_to(ROOT)).startswith(HISTORY)
)


@pytest.mark.parametrize("doc", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_is_there(doc: Path) -> None:
    """A path in backquotes to code is a file of this tree."""
    named = set(NAMED.findall(doc.read_text()))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
