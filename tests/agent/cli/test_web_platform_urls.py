"""`prs url` against the Web Platform Tests: docs/urls.md lists every difference, and no other.

    python -m tests.agent.cli.test_web_platform_urls

prints the blocks of that page anew.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from click.testing import CliRunner

from agent.cli import main
from shared.errors import Fault, UrlError
from shared.urls import canonical, split_host
from tests.fixtures_dir import fixture_folder
from tests.url_page import OF_THE_STANDARD, listed

CASES = (
    *("urltestdata.json", "urltestdata-javascript-only.json"),
    *("ada_extra_urltestdata.json", "ada_long_urltestdata.json"),
)
SCHEME = re.compile(r": scheme (.+), only http and https are crawled")
REASONS = (
    ("credentials", "has a user name or password"),
    ("length", "host name longer than"),
    ("label", "host name with a"),
    ("port", "must be 1 to 65535"),
    ("no_base", "not a URL"),
)
NOT_IN_DNS = (Fault.EMPTY_LABEL, Fault.LONG_LABEL, Fault.LONG_NAME)
SURROGATE = re.compile("[\ud800-\udfff]")
NO_BASE = (None, "about:blank")  # what a browser has where there is no page; a crawler always has


def printed(text: str, base: str | None) -> tuple[str | None, str]:
    """Return what `prs url` prints as the canonical form, None and the reason where it refuses."""
    words = ["url", *(() if base in NO_BASE else ("--base", str(base))), "--", text]
    result = CliRunner().invoke(main, words)
    return (result.stdout.split("\t")[0], "") if result.exit_code == 0 else (None, result.stderr)


def cases() -> list[tuple[str, str | None, str | None]]:
    """Return (input, base, the standard's URL or None for a failure) of all files, each once."""
    folder = fixture_folder("wpt-url")
    found = {
        (case["input"], case.get("base")): None if case.get("failure") else case["href"]
        for name in CASES
        for case in json.loads((folder / name).read_text())
        if not isinstance(case, str)  # a comment
    }
    return [(text, base, wanted) for (text, base), wanted in found.items()]


def differences() -> Iterator[tuple[str, str]]:
    """Yield (reason, line) for each case with another outcome."""
    for text, base, wanted in cases():
        ours, error = printed(text, base)
        if ours == wanted:
            continue
        scheme = SCHEME.search(error)
        if scheme is not None:
            yield "schemes", scheme[1]
            continue
        line = json.dumps([text, base, wanted, ours])
        if SURROGATE.search(text) and ours is None:
            yield "surrogate", line
        elif wanted is None:
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
    actual = blocks()
    assert "accepted" not in actual
    assert "other" not in actual
    assert actual == listed(OF_THE_STANDARD)


def test_names_of_hosts_differ_in_last_dot_and_limits_of_dns_only() -> None:
    """All IDNA cases give the standard's name, but for its last dot and names that DNS lacks."""
    checked = 0
    for name in ("toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json"):
        for row in json.loads((fixture_folder("wpt-url") / name).read_text()):
            if isinstance(row, str) or not row["input"]:
                continue
            try:
                ours = split_host(canonical(f"http://{row['input']}/x"))[1]
            except UrlError as error:
                assert row["output"] is None or error.code in NOT_IN_DNS, row
            else:
                assert row["output"] in (ours, f"{ours}."), row
            checked += 1
    assert checked > 2700


if __name__ == "__main__":
    for block, lines in blocks().items():
        print(f"```{block}", *lines, "```", sep="\n")
