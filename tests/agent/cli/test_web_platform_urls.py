"""`prs url` against the Web Platform Tests: docs/urls.md lists every difference, and no other.

    python -m tests.agent.cli.test_web_platform_urls

prints the blocks of that page anew.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from agent.cli import main
from shared.errors import UrlError
from shared.urls import canonical, split_host
from tests.fixtures_dir import fixture_folder

PAGE = Path(__file__).resolve().parents[3] / "docs" / "urls.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SCHEME = re.compile(r": scheme (.+), only http and https are crawled")
REASONS = (
    ("credentials", "carries a user name or password"),
    ("length", "host name longer than"),
    ("no_base", "not a URL"),
)
NO_BASE = (None, "about:blank")  # what a browser has where there is no page; a crawler always has


def printed(text: str, base: str | None) -> tuple[str | None, str]:
    """Return what `prs url` prints as the canonical form, None and the reason where it refuses."""
    words = ["url", *(() if base in NO_BASE else ("--base", str(base))), "--", text]
    result = CliRunner().invoke(main, words)
    return (result.stdout.split("\t")[0], "") if result.exit_code == 0 else (None, result.stderr)


def differences() -> Iterator[tuple[str, str]]:
    """Yield (reason, line) for each case of urltestdata.json with another outcome."""
    for case in json.loads((fixture_folder("wpt-url") / "urltestdata.json").read_text()):
        if isinstance(case, str):
            continue
        wanted = None if case.get("failure") else case["href"]
        ours, error = printed(case["input"], case["base"])
        if ours == wanted:
            continue
        scheme = SCHEME.search(error)
        if scheme is not None:
            yield "schemes", scheme[1]
            continue
        line = json.dumps([case["input"], case["base"], wanted, ours])
        if wanted is None:
            yield "accepted", line
        elif ours is not None:
            yield ("fragment" if ours == wanted.partition("#")[0] else "escapes"), line
        else:
            yield next((name for name, part in REASONS if part in error), "other"), line


def blocks() -> dict[str, list[str]]:
    """Return the blocks of docs/urls.md as they must be, by name."""
    found: dict[str, list[str]] = {}
    for reason, line in differences():
        found.setdefault(reason, []).append(line)
    schemes = Counter(found.pop("schemes"))
    found["schemes"] = [f"{count} {scheme}" for scheme, count in sorted(schemes.items())]
    return found


def test_every_difference_is_listed_with_its_reason() -> None:
    """docs/urls.md and `prs url` agree, row by row; nothing that the standard refuses is taken."""
    listed = {name: text.splitlines() for name, text in BLOCK.findall(PAGE.read_text())}
    actual = blocks()
    assert "accepted" not in actual
    assert "other" not in actual
    assert actual == listed


def test_names_of_hosts_differ_in_their_length_only() -> None:
    """All IDNA cases give the standard's name, but for names that DNS could not hold."""
    checked = 0
    for name in ("toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json"):
        for row in json.loads((fixture_folder("wpt-url") / name).read_text()):
            if isinstance(row, str) or not row["input"]:
                continue
            try:
                ours = split_host(canonical(f"http://{row['input']}/x"))[1]
            except UrlError as error:
                assert row["output"] is None or "longer than 253" in str(error), row
            else:
                assert ours == row["output"], row
            checked += 1
    assert checked > 2700


if __name__ == "__main__":
    for block, lines in blocks().items():
        print(f"```{block}", *lines, "```", sep="\n")
