"""Rules of shared addresses that this agent heard of, kept in a file over restarts.

Invariant: the number that a sync says is that of rules in force: the file is written before they
are, so a process that dies in between begins with them. Without the file every address is one
clock, and the manager sends all rules again.
"""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Final

from agent.pipeline.shared_addresses import SharedRule
from agent.settings.home import write_whole
from shared.frozen import frozen
from shared.wire.sync import SharedAddress

__all__ = ["HeardRules", "read_rules", "rules_with", "write_rules"]

FILE: Final = "shared_addresses.json"


@frozen
class HeardRules:
    """number: of the newest change heard. rules: the addresses that are shared."""

    number: int = 0
    rules: dict[str, SharedRule] = field(default_factory=dict)


def read_rules(folder: Path) -> HeardRules:
    """Return the rules of the file; one that cannot be read counts as none."""
    try:
        found = json.loads((folder / FILE).read_bytes())
        rules = {
            str(address): SharedRule(max(1, int(domains)), max(1, int(shares)), float(least_s))
            for address, (domains, shares, least_s) in found["rules"].items()
        }
        return HeardRules(int(found["number"]), rules)
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return HeardRules()


def write_rules(folder: Path, heard: HeardRules) -> None:
    """Keep the rules. Raises DiskFullError."""
    rules = {
        address: (one.domains, one.shares, one.least_interval_s)
        for address, one in heard.rules.items()
    }
    folder.mkdir(mode=0o700, exist_ok=True)
    text = json.dumps({"number": heard.number, "rules": rules})
    write_whole(folder / FILE, [text.encode()])


def rules_with(
    heard: HeardRules, changes: tuple[SharedAddress, ...], start: int, number: int
) -> HeardRules:
    """Return the rules after some changes. start: 0: all that was heard before is void."""
    rules = dict(heard.rules) if start else {}
    for one in changes:
        rules.pop(one.address, None)
        if one.domains:
            least_s = one.least_interval_ms / 1000
            rules[one.address] = SharedRule(one.domains, one.shares, least_s)
    return HeardRules(number, rules)
