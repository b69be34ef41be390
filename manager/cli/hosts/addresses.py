"""`prsm hosts address`: how politeness counts at an address, and how `hosts show` says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["address", "rule_text"]

REASONS = {
    "few": "few registrable domains",
    "domains": "{domains} registrable domains",
    "published": "in the ranges of a CDN",
    "person": "decided by {decided_by}",
}
RULES = {
    "single": "one clock",
    "shared": "shared by many sites",
    "merging": "becomes one clock when one agent is left there",
}


@click.command()
@click.argument("address")
@click.argument("decision", type=click.Choice(["shared", "single", "auto"]))
@json_answer
def address(target: Target, address: str, decision: str) -> Iterator[Any]:
    """Decide how requests to ADDRESS are spaced: `shared` by registrable domain, `single` as one
    server, `auto` by the number of its domains."""
    rule = target.calls.post("/hosts/addresses/decide", {"address": address, "decision": decision})
    yield rule
    output.say(f"{rule['address']}: {rule_text(rule)}")


def rule_text(rule: Mapping[str, Any]) -> str:
    """Return the rule of an address, and why it holds."""
    reason = REASONS.get(rule["reason"], rule["reason"]).format(**rule)
    text = f"{RULES[rule['rule']]} ({reason})"
    if rule["rule"] == "single":
        return text
    agents = rule["shares"]
    return f"{text}, rate divided among {agents} agent{'s' if agents != 1 else ''}"
